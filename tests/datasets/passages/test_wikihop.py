import dataclasses
import json

import numpy as np
import pytest

from keras_corefmem.datasets.annotated import to_text
from keras_corefmem.datasets.passages import wikihop
from keras_corefmem.graphs import annotate
from keras_corefmem.preprocessing import CandidatePreprocessor
from keras_corefmem.text import get_tokenizer
from tests.support.conformance.graphs import spaced_annotation

QUESTION = {
    "id": "WH_1",
    "query": "country old mill",
    "supports": ["The Old Mill is in Ulm .", "Ulm is in Upper Germany .", "Bonn is in Germany ."],
    "candidates": ["germany", "upper germany", "france"],
    "answer": "germany",
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "train.json"
    write(path, [QUESTION, QUESTION | {"id": "WH_2", "answer": "france"}])
    return path


def write(path, questions):
    path.write_text(json.dumps(questions))


def test_documents_are_the_sentences(path):
    first, second = wikihop.read_file(path)
    assert first.sentences == tuple(QUESTION["supports"])
    assert (first.question, first.answer) == ("country old mill", "germany")
    assert first.candidates == ("germany", "upper germany", "france")
    assert second.answer == "france" and second.source == f"{path}:1:WH_2"


@pytest.mark.parametrize(
    "text, message",
    [
        ("[", ":1: no JSON .*is the file truncated"),
        ("{}", ": Input should be a valid list"),
        ("[]", ": no question in the file, pass a file of wikihop or medhop"),
        ("[3]", ": 0: Input should be a dictionary"),
        (
            json.dumps([{"id": "a", "query": "b"}]),
            ": 0.supports: Field required .*; pass a file of w",
        ),
        (json.dumps([QUESTION | {"supports": "text"}]), ": 0.supports: .* valid list .got 'text'"),
        (json.dumps([QUESTION | {"candidates": [3]}]), ": 0.candidates.0: .* valid string"),
        (json.dumps([QUESTION | {"supports": []}]), ":0:WH_1: the passage is empty"),
        (json.dumps([QUESTION | {"answer": "spain"}]), ":0:WH_1: the answer 'spain' is none of"),
        (json.dumps([QUESTION | {"answer": None}]), ":0:WH_1: no answer, it is masked"),
    ],
)
def test_broken_files_are_named(path, text, message):
    path.write_text(text)
    with pytest.raises(ValueError, match=f"train.json{message}"):
        wikihop.read_file(path)


@pytest.mark.parametrize("inside", ["qangaroo_v1.1/medhop", "medhop", "."])
def test_some_training_questions_are_held_out(tmp_path, inside):
    folder = tmp_path / inside
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "train.json", [QUESTION | {"id": str(n)} for n in range(40)])
    write(folder / "dev.json", [QUESTION])
    splits = wikihop.load(tmp_path, "medhop")
    assert (len(splits.train), len(splits.valid), len(splits.test)) == (38, 2, 1)
    assert len({e.source for e in (*splits.train, *splits.valid)}) == 40
    assert wikihop.load(tmp_path, "medhop") == splits


def test_what_cannot_be_loaded(path):
    with pytest.raises(ValueError, match="no data set 'babi', choose one of wikihop, medhop"):
        wikihop.load(path.parent, "babi")
    write(path, [QUESTION])
    write(path.with_name("dev.json"), [QUESTION])
    with pytest.raises(ValueError, match="train.json: a share of 1 cannot be held out of 1"):
        wikihop.load(path.parent)


def test_documents_are_shuffled_by_seed_epoch_and_example(path):
    supports = [f"Document {n} ." for n in range(30)]
    write(path, [QUESTION | {"supports": supports}, QUESTION | {"supports": supports, "id": "b"}])
    first, second = wikihop.read_file(path)
    kinds = ((first, 0), (first, 1), (first, 0, 1), (second, 0))
    orders = [wikihop.shuffle(*arguments) for arguments in kinds]
    assert len({example.sentences for example in orders}) == 4
    assert all(sorted(example.sentences) == sorted(supports) for example in orders)
    assert wikihop.shuffle(first, 0) == orders[0]
    assert wikihop.shuffle(first, 0).candidates == first.candidates


def test_documents_are_cut_to_some_tokens(path):
    example, tokenize = wikihop.read_file(path)[0], get_tokenizer("words")
    cut = wikihop.truncate(example, tokenize, 9)
    assert cut.sentences == ("the old mill is in ulm .", "ulm is")
    assert wikihop.truncate(example, tokenize, 7).sentences == ("the old mill is in ulm .",)
    assert wikihop.truncate(example, tokenize).passage.count(" ") == 7 + 6 + 5 - 1
    with pytest.raises(ValueError, match="max_tokens must be an integer of at least 1, got 0"):
        wikihop.truncate(example, tokenize, 0)
    linked = dataclasses.replace(example, edges=[(1, 2, "near")])
    for change in (wikihop.shuffle, wikihop.truncate):
        with pytest.raises(ValueError, match="has edges or chains, whose tokens .* moves: leave"):
            change(linked, 9 if change is wikihop.shuffle else tokenize)


def test_clitics_are_read_as_they_were_cut(tmp_path):
    supports = ["Tom's home is St. John's. He can't leave"]
    fields = {"supports": supports, "candidates": ["st. john's", "ulm"], "answer": "st. john's"}
    for name in ("train", "dev"):
        questions = [QUESTION | fields | {"id": str(n), "query": "home tom's"} for n in range(2)]
        write(tmp_path / f"{name}.json", questions)
    tokenize = get_tokenizer("penn")
    example = wikihop.load_shuffled(tmp_path).test[0]
    assert tokenize(example.passage) == example.passage.split() == tokenize(supports[0])
    assert example.question == "home tom 's"
    reader = CandidatePreprocessor.fit([example], tokenizer="penn_lower")
    start, end, number = reader.encode(example).mentions[0].tolist()
    assert tokenize(example.passage)[start:end] == ["St", ".", "John", "'s"] and number == 1
    # As `corefmem annotate` does.
    (annotation,) = annotate([to_text(example)[0]], tokenized=True)
    annotated = wikihop.from_record(annotation, to_text(example)[1])
    assert (annotated.passage, annotated.question) == (example.passage, example.question)
    with pytest.raises(ValueError, match="is annotated.* shuffle it with .*ShuffleSentences"):
        wikihop.shuffle(annotated, 0)
    with pytest.raises(ValueError, match="has edges or chains, whose tokens cutting moves"):
        wikihop.truncate(annotated, tokenize)
    assert np.array_equal(reader.encode(annotated).mentions, reader.encode(example).mentions)


def test_candidates_of_several_words_are_found():
    tokens = "In Upper Germany , not in germany or upper , Germany ; upper germany".split()
    found = wikihop.candidate_positions(tokens, ("germany", "Upper Germany", "france", ""))
    assert found == {
        "germany": [(2, 3), (6, 7), (10, 11), (13, 14)],
        "Upper Germany": [(1, 3), (12, 14)],
        "france": [],
        "": [],
    }


def test_candidates_are_tokenized_like_the_passage():
    tokenize = get_tokenizer("words")
    tokens = tokenize("He was born in St. John's (Canada).")
    found = wikihop.candidate_positions(tokens, ["st. john's", "john"], tokenize)
    assert found == {"st. john's": [(4, 7)], "john": []}


SENTENCES = (
    "The Old Mill stands by Tom .",
    "It was built by Ann .",
    "Ulm is in Germany .",
    "He met Eve , and she left .",
)


@pytest.fixture
def annotation():
    sentences = [sentence.split() for sentence in SENTENCES]
    tokens = [token for sentence in sentences for token in sentence]
    firsts = [sum(map(len, sentences[:n])) for n in range(len(sentences))]

    def mention(*words):
        start = tokens.index(words[0])
        return (start, start + len(words), start + len(words) - 1)

    chains = {
        "mill": (mention("Old", "Mill"), mention("It")),
        "tom": (mention("Tom"), mention("He")),
        "ann": (mention("Ann"), mention("Ann")),
        "ulm": (mention("Ulm"), mention("in", "Germany")),
        "eve": (mention("Eve"), mention("she")),
    }
    return spaced_annotation(" ".join(tokens), sentences=firsts, chains=chains.values()), chains


def kept(annotation, chains, *arguments):
    found = wikihop.keep_chains(annotation, *arguments).chains
    return {name for name, chain in chains.items() if chain in found}


def test_chains_of_candidates_and_near_the_subject_stay(annotation):
    annotation, chains = annotation
    assert kept(annotation, chains, ["germany"], "nothing") == {"ulm"}
    assert kept(annotation, chains, ["france"], "old mill") == {"mill", "tom", "ann"}
    assert kept(annotation, chains, ["germany", "eve"], "old mill") == set(chains)
    assert kept(annotation, chains, [], "nothing") == set()
    whole = wikihop.keep_chains(annotation, ["germany"], "nothing")
    assert (whole.tokens, whole.sentences) == (annotation.tokens, annotation.sentences)


@pytest.mark.parametrize(
    "name, counts, answers",
    [
        ("wikihop_dev_first2", [(15, 18), (9, 4)], ["german empire", "democratic party"]),
        ("medhop_train_first1", [(47, 9)], ["DB00072"]),
        ("medhop_dev_first1", [(20, 9)], ["DB04844"]),
    ],
)
def test_the_official_questions_are_read_whole(real_data, name, counts, answers):
    examples = wikihop.read_file(real_data(f"formats/{name}.json"))
    assert [(len(e.sentences), len(e.candidates)) for e in examples] == counts
    assert [e.answer for e in examples] == answers
    tokenize = get_tokenizer("words")
    for example in examples:
        tokens = tokenize(example.passage)
        found = wikihop.candidate_positions(tokens, example.candidates, tokenize)
        assert found[example.answer]
        cut = wikihop.truncate(wikihop.shuffle(example, 0), tokenize)
        assert cut.passage.count(" ") + 1 == min(len(tokens), wikihop.MAX_TOKENS)


@pytest.mark.parametrize(
    "said, kinds",
    [
        ([], ()),
        (["follows multiple", "follows single", "follows multiple"], ("follows", "multiple")),
        (["follows single", "likely multiple", "follows single"], ("follows", "single")),
        (["follows single", "likely multiple", "not_follow multiple"], ()),
        (["follows single", "follows multiple"], ("follows",)),
    ],
)
def test_kinds_are_what_most_annotators_say(path, said, kinds):
    write(path, [QUESTION | {"annotations": [line.split() for line in said]}])
    assert wikihop.read_file(path)[0].kinds == kinds


def test_kinds_are_kept_through_records(path):
    write(path, [QUESTION | {"annotations": [["follows", "single"]]}])
    (example,) = wikihop.read_file(path)
    text, fields = to_text(wikihop.truncate(wikihop.shuffle(example, 0), str.split))
    annotation = spaced_annotation(text)
    assert wikihop.from_record(annotation, fields).kinds == ("follows", "single")
