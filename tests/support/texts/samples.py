"""A few questions and sentences in the formats in which data sets are published."""

import json

from tests.support.texts import cloze

VECTORS = "the 0.1 0.2 0.3\ntook 1 1 1\nword1 -1 -1 -1\n"
SIZES = {"training": 24, "validation": 4, "test": 6}


def write_vectors(folder):
    """Writes word vectors, three numbers each."""
    (folder / "glove").mkdir(parents=True, exist_ok=True)
    (folder / "glove/glove.tiny.txt").write_text(VECTORS)


def write_cnn(folder):
    """Writes the three parts of CNN."""
    for part, count in SIZES.items():
        (folder / "questions" / part).mkdir(parents=True)
        for number, example in enumerate(cloze.simulate(count, seed=count)):
            names = [f"{marker}:Name {marker[7:]}" for marker in example.candidates]
            texts = "http://cnn.com", example.passage, example.question, example.answer
            content = "\n\n".join([*texts, "\n".join(names)])
            (folder / "questions" / part / f"{number:04}.question").write_text(content)


def write_hops(folder, name):
    """Writes WikiHop or MedHop, whose development questions are annotated in the former."""
    (folder / name).mkdir(parents=True)
    for part, count in (("train", 24), ("dev", 5)):
        questions = [_hop(n, name, part) for n in range(count)]
        (folder / name / f"{part}.json").write_text(json.dumps(questions))


def _hop(number, name, part):
    places = ["ulm", "upper bavaria", "rome"]
    answer = places[number % 3]
    said = [["follows", "multiple"], ["follows", "single"], ["follows", "multiple"]]
    question = {
        "id": f"{part}_{number}",
        "query": f"country mill {number}",
        "supports": [f"Mill {number} is in {answer} .", "Ulm is no mill .", "Rome is old ."],
        "candidates": places,
        "answer": answer,
    }
    return question | ({"annotations": said} if name == "wikihop" and part == "dev" else {})


def write_wsj(folder):
    """Writes a tree of each section of the Wall Street Journal."""
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(25):
        tree = f"( (S (NP (DT the) (NN word{n % 3})) (VP (VBD took) (NP (-NONE- *)))))\n"
        (folder / f"wsj_{n:02}00.mrg").write_text(tree * 2)


def write_emory(folder):
    """Writes cloze questions about dialogues, two of each scene."""
    (folder / "emory").mkdir(parents=True)
    questions = [
        {
            "scene_id": f"s01_e01_c{number // 2:02}",
            "query": f"@placeholder has the {thing} .",
            "answer": f"@ent0{number % 3}",
            "utterances": [
                {"speakers": "@ent00", "tokens": f"Where is the {thing} ?"},
                {"speakers": "@ent01", "tokens": f"@ent0{number % 3} took the {thing} !"},
                {"speakers": "", "tokens": "( @ent02 leaves . )"},
            ],
        }
        for number, thing in enumerate(cloze.THINGS * 8)
    ]
    (folder / "emory/dev.json").write_text(json.dumps(questions))


TREES = "(3 (2 a) (4 (3 great) (2 film)))", "(1 (2 a) (0 (1 bad) (2 film)))", "(4 (4 great) (2 .))"


def write_sst(folder, dev=6):
    """Writes the Stanford Sentiment Treebank, with as many sentences for development."""
    (folder / "sst/trees").mkdir(parents=True)
    for part, count in (("train", 30), ("dev", dev), ("test", 6)):
        trees = (TREES[n % len(TREES)] for n in range(count))
        (folder / f"sst/trees/{part}.txt").write_text("\n".join(trees) + "\n")


def write_ewt(folder):
    """Writes the English Web Treebank of Universal Dependencies."""
    (folder / "ud_english_ewt").mkdir(parents=True)
    tagged = ("the", "DET", "DT"), ("film", "NOUN", "NN"), ("took", "VERB", "VBD")
    rows = (f"{n}\t{word}\t_\t{upos}\t{xpos}" for n, (word, upos, xpos) in enumerate(tagged, 1))
    sentence = "".join(row + "\t_" * 5 + "\n" for row in rows)
    for part, count in (("train", 20), ("dev", 3), ("test", 3)):
        path = folder / f"ud_english_ewt/en_ewt-ud-{part}.conllu"
        path.write_text(f"{sentence}\n" * count)


NOVEL = (
    "The captain met {0} in the old {2} near the river at noon, and it rained, and {0} left. "
    "Nobody knew {0} or the captain in that {2}, and there was nothing to see for either of them. "
    "So in the {2} they went on through the empty streets of the {2}. Then {1} {0}."
)
ENDS = (
    "the captain looked round once more for",
    "somebody in the crowd behind called out to",
    "nobody at all was left near that house but",
)


def write_novels(folder):
    """Writes novels that have passages like those of LAMBADA."""
    folder.mkdir(parents=True)
    places = {"Mary": "town", "John": "village", "Sandra": "harbour", "Daniel": "market"}
    for name, place in places.items():
        paragraphs = "\n\n".join(NOVEL.format(name, end, place) for end in ENDS)
        (folder / f"{name}.txt").write_text(f"CHAPTER I\n\n{paragraphs}\n")


def write_lambada(folder):
    """Writes LAMBADA's own passages."""
    folder.mkdir(parents=True, exist_ok=True)
    names = "mary", "john", "sandra"
    lines = [f"so {name} met the captain , who left . they looked at {name}\n" for name in names]
    for part in ("development", "test"):
        (folder / f"lambada_{part}_plain_text.txt").write_text("".join(lines * 2))


def write_published(folder, sentences):
    """Writes all data sets that a user gets from their homes, but LAMBADA, and word vectors."""
    (folder / "glove.txt").write_text("the 0.1 0.2 0.3 0.4 0.5 0.6\ntook 1 1 1 1 1 1\n")
    write_cnn(folder)
    write_hops(folder, "wikihop")
    write_hops(folder, "medhop")
    write_emory(folder)
    write_sst(folder, sentences)
    write_ewt(folder)
    write_wsj(folder / "treebank_3")
