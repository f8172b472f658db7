"""A few questions and sentences in the formats in which data sets are published."""

import json

from tests.support import cloze

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
