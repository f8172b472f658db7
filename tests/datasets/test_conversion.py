"""Examples of all kinds of data; what a row holds is tested by its columns."""

import dataclasses
import json
from types import SimpleNamespace

import datasets
import numpy as np
import pandas
import pytest
import tensorflow as tf

from keras_corefmem.datasets import (
    AnnotatedExample,
    CandidateExample,
    Example,
    Sentence,
    as_examples,
    cbt,
    cnn,
    simulator,
)

ROWS = [
    {"passage": "Mary left. John slept.", "question": "Who left?", "answer": "Mary"},
    {"passage": "It rained.", "question": "What did it do?", "answer": "rained"},
]
EXAMPLES = [
    Example(["Mary left.", "John slept."], "Who left?", "Mary"),
    Example(["It rained."], "What did it do?", "rained"),
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def json_lines(rows, path):
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n\n" for row in rows))
    return path


SOURCES = {
    "examples": EXAMPLES,
    "generator": (example for example in EXAMPLES),
    "tuples": [tuple(row.values()) for row in ROWS],
    "sentences": [(["Mary left.", "John slept."], "Who left?", "Mary"), ROWS[1]],
    "dictionaries": ROWS,
    "columns": COLUMNS,
    "frame": pandas.DataFrame(ROWS),
    "series": dict(pandas.DataFrame(ROWS)),
    "polars": SimpleNamespace(columns=list(COLUMNS), to_dict=dict, to_dicts=lambda: ROWS),
    "datasets": datasets.Dataset.from_list(ROWS),
    "stream": datasets.Dataset.from_list(ROWS).to_iterable_dataset(),
    "tensors": tf.data.Dataset.from_tensor_slices(COLUMNS),
    "batches": tf.data.Dataset.from_tensor_slices(COLUMNS).batch(8),
    "pairs": tf.data.Dataset.from_tensor_slices(
        ({name: COLUMNS[name] for name in ("passage", "question")}, COLUMNS["answer"])
    ).batch(2),
    "tensor tuples": tf.data.Dataset.from_tensor_slices(tuple(COLUMNS.values())),
    "tensor tuple batches": tf.data.Dataset.from_tensor_slices(tuple(COLUMNS.values())).batch(2),
    "answers apart": [({**row, "answer": None}, row["answer"]) for row in ROWS],
}


@pytest.mark.parametrize("data", SOURCES.values(), ids=SOURCES)
def test_sources(data):
    assert as_examples(data) == EXAMPLES


def test_json_lines(tmp_path):
    path = json_lines(ROWS, tmp_path / "a.jsonl")
    for place in (path, str(path)):
        examples = as_examples(place)
        assert examples == EXAMPLES
        assert [example.source for example in examples] == [f"{path}:1", f"{path}:3"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('{"passage": "A."', r":2: no JSON .*; write each object on one line; is the file trunc"),
        ('["a"]', ":2: give an object with passage, question and answer"),
        ('{"passage": "A.", "question": "B?"}', ":2: no answer among passage, question; name"),
        ('{"question": "B?", "answer": "c"}', ":2: no passage among question, answer; name your"),
        ('{"passage": "A.", "query": null, "answer": "c"}', ":2: query has no value, give one or"),
        ('{"text": "A. B", "query": "B?", "answer": "c"}', ":2: no passage among text, query"),
        ('{"passage": "A.", "question": 3, "answer": "c"}', ":2: question must be a string, got 3"),
        ('{"passage": [3], "question": "B?", "answer": "c"}', ":2: passage must be a string or a"),
        ('{"passage": "A.", "question": "B?", "answer": [3]}', ":2: answer must be a string"),
        (
            '{"passage": "A.", "question": "B?", "answer": ["d", "e"]}',
            ":2: answer has several strings, .*: join the words of one answer by commas, 'd,e', or",
        ),
        ('{"words": ["A", "b"], "answer": ["X", "Y"]}', ":2: .*; call a list of tags tags"),
        ('{"passage": "A.", "question": "B?", "answer": " "}', ":2: the answer is empty"),
        ('{"passage": " ", "question": "B?", "answer": "c"}', ":2: the passage is empty"),
        (
            '{"passage": "A.", "question": "B?", "answer": "c", "supporting_facts": ["x"]}',
            ":2: supporting_facts must be numbers of sentences, from 1",
        ),
        (
            '{"passage": "A.", "question": "B?", "answer": "c", "supporting_facts": "12"}',
            ":2: supporting_facts must be numbers of sentences, from 1, got '12'",
        ),
        (
            '{"passage": "a", "question": "b", "answer": "c", "chain_ids": "11"}',
            ":2: chain_ids must be numbers of chains, one for each token, got '11'",
        ),
        (
            '{"passage": "@entity1", "question": "@placeholder", "answer": "@entity1", '
            '"candidates": ["@entity1", "@entity2"]}',
            ":2: candidate '@entity2' is no entity of passage or question, leave it out",
        ),
        (
            '{"passage": "A.", "question": "B?", "answer": "c", "candidates": "c"}',
            ":2: candidates must be a list of strings, got 'c'",
        ),
        (
            '{"passage": "A.", "question": "B?", "answer": "c", "candidates": ["d"]}',
            ":2: the answer 'c' is none of the 1 candidates",
        ),
        ('{"words": "A", "tags": ["X"]}', ":2: words must be a list of words, got 'A'"),
        ('{"words": ["A"], "tags": "X"}', ":2: tags must be a list of strings, got 'X'"),
        ('{"text": "Only one sentence"}', ":2: the text has no sentence before the last one"),
        (
            '{"passage": "A.", "question": "B?", "answer": "c", "candidates": 5}',
            ":2: candidates must be a list of strings, got 5",
        ),
        (
            '{"text": "A. B?", "question_start": -2, "answer": "A"}',
            ":2: question_start must be the number of a character, got -2",
        ),
        (
            '{"text": "A. B?", "question_start": "3", "answer": "A"}',
            ":2: question_start must be the number of a character, got '3'",
        ),
        (
            '{"story": {"id": ["1", "2"], "type": [0, 1], "text": ["A.", null], "supporting_ids": '
            '[[], ["1"]], "answer": ["", "A"]}}',
            ":2: a story has id, type, text, supporting_ids, answer of each line",
        ),
        (
            '{"story": {"id": ["1", "2"], "type": [0, 1], "text": ["A.", "B?"], "supporting_ids": '
            '[[], null], "answer": ["", "A"]}}',
            ":2: a story has id, type, text, supporting_ids, answer of each line",
        ),
    ],
)
def test_broken_lines_are_named(tmp_path, written, message):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(ROWS[0])}\n{written}\n")
    with pytest.raises(ValueError, match=f"a.jsonl{message}"):
        as_examples(path)


def test_what_is_no_data(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.jsonl: no such file"):
        as_examples(tmp_path / "none.jsonl")
    (tmp_path / "a.jsonl").write_text("\n")
    for data, message in (
        (tmp_path / "a.jsonl", "a.jsonl: no example in the file"),
        ("Mary left.", "Mary left.: give the path of a file of JSON lines that ends in .jsonl"),
        (3, "Examples cannot be made of int: give a list"),
        ([(b"A.", b"\xff", b"c")], "example 0: a column is no UTF-8 text, decode it"),
        ([EXAMPLES[0], 3], r"example 1: give an Example, a tuple \(passage, question, answer\)"),
        ([["a b", "c"]], r"example 0: give an Example, a tuple .* instead of \['a b', 'c'\]"),
        ({**COLUMNS, "answer": ["a"]}, "differ in length: 2 of passage, 2 of question, 1 of answ"),
        (datasets.DatasetDict(train=SOURCES["datasets"]), "several parts, pass one of them: train"),
    ):
        with pytest.raises(ValueError, match=message):
            as_examples(data)
    assert as_examples([]) == []
    with pytest.raises(ValueError, match=r"columns must be such as .*, got \['passage'\]"):
        as_examples(ROWS, columns=["passage"])


def test_columns_are_named():
    rows = [{"Text": "Mary left.", "Q": "Who left?", "A": "Mary"}]
    columns = {"Text": "passage", "Q": "question", "A": "answer"}
    expected = [Example(["Mary left."], "Who left?", "Mary")]
    assert as_examples(rows, columns=columns) == expected
    assert as_examples({name: [rows[0][name]] for name in rows[0]}, columns=columns) == expected
    with pytest.raises(ValueError, match="example 0: no column Context, only Text, Q, A"):
        as_examples(rows, columns={"Context": "passage"})
    with pytest.raises(ValueError, match="columns: two columns have one name in"):
        as_examples(rows, columns={"Text": "passage", "Q": "passage"})
    with pytest.raises(ValueError, match="columns: there is no text2; choose of passage"):
        as_examples(rows, columns={"Text": "text2"})


@pytest.mark.parametrize(
    ("columns", "row", "example"),
    [
        ({"x": "passage"}, {"x": "A.", **ROWS[0]}, Example(["A."], "Who left?", "Mary")),
        (
            {"x": "passage"},
            {"x": "A.", **ROWS[0], "sentences": ["B."], "tokens": ["C"]},
            Example(["A."], "Who left?", "Mary"),
        ),
        (
            {"answer": "question", "question": "answer"},
            ROWS[0],
            Example(["Mary left.", "John slept."], "Mary", "Who left?"),
        ),
        (
            {"form": "words", "xpos": "tags"},
            {"form": ["A"], "text": "B", "upos": ["X"], "xpos": ["Y"]},
            Sentence(("A",), ("Y",)),
        ),
        (
            {"mood": "answer"},
            {"words": ["A"], "tags": ["X"], "mood": "bad"},
            Sentence(("A",), "bad"),
        ),
    ],
)
def test_named_columns_win_over_those_of_our_names(columns, row, example):
    assert as_examples([row], columns=columns) == [example]


def test_answers_may_be_unknown():
    rows = {"passage": ["Mary left.", "John slept."], "question": "Who?"}
    examples = as_examples(rows, answers=False)
    assert [(e.passage, e.question, e.answer) for e in examples] == [
        ("Mary left.", "Who?", "[unknown]"),
        ("John slept.", "Who?", "[unknown]"),
    ]
    for row in (
        {**ROWS[0], "answer": float("nan"), "candidates": ["Mary"]},
        {**ROWS[0], "answer": " "},
        {"text": "Mary left."},
        {"words": ["Mary"], "tags": None},
        "Mary left.",
    ):
        (example,) = as_examples([row], answers=False)
        assert example.answer == "[unknown]"
        with pytest.raises(ValueError, match="example 0: "):
            as_examples([row])


NAMES = ["A", "B"]
BABI = {
    "id": ["1", "2", "3"],
    "type": [0, 0, 1],
    "text": ["Mary moved.", "John left.", "Who moved?"],
    "supporting_ids": [[], [], ["1"]],
    "answer": ["", "", "Mary"],
}
UD = datasets.Features(
    {
        "tokens": datasets.List(datasets.Value("string")),
        "upos": datasets.List(datasets.ClassLabel(names=["NOUN", "VERB"])),
    }
)


@pytest.mark.parametrize(
    ("row", "example"),
    [
        # bAbI, as lists and as lines.
        ({"story": BABI}, Example(BABI["text"][:2], "Who moved?", "Mary", (1,))),
        (
            {"story": pandas.DataFrame(BABI).to_dict("records")},
            Example(BABI["text"][:2], "Who moved?", "Mary", (1,)),
        ),
        # CBT.
        (
            {"sentences": ["A .", "B ."], "question": "XXXXX", "answer": "A", "options": NAMES},
            CandidateExample(["A .", "B ."], cbt.PLACEHOLDER, "A", candidates=NAMES),
        ),
        # WikiHop.
        (
            {"query": "country x", "supports": ["A .", ""], "candidates": NAMES, "answer": "B"},
            CandidateExample(["A ."], "country x", "B", candidates=NAMES),
        ),
        # SQuAD.
        (
            {"context": "A. B.", "question": "Q?", "answers": {"text": ["A", "x"]}, "id": "1"},
            Example(["A.", "B."], "Q?", "A"),
        ),
        # CNN and Daily Mail.
        (
            {
                "context": "@entity7 met @entity3 . @entity3 left .",
                "question": "@placeholder left",
                "answer": "@entity3",
            },
            cnn.ClozeExample(
                ["@entity0 met @entity1 .", "@entity1 left ."],
                "@placeholder left",
                "@entity1",
                candidates=["@entity0", "@entity1"],
            ),
        ),
        (
            {
                "sentences": ["@entity7 met @entity3 .", "@entity3 left . so did @entity5 ."],
                "question": "@placeholder left",
                "answer": "@entity3",
                "candidates": ["@entity3", "@entity7"],
                "supporting_facts": [2],
                "chain_ids": [1, 0, 2, 0, 2, 0, 0, 0, 0, 3, 0, 2, 0],
                "edges": [(1, 3, "met")],
            },
            cnn.ClozeExample(
                ["@entity0 met @entity1 .", "@entity1 left . so did @entity2 ."],
                "@placeholder left",
                "@entity1",
                (2,),
                candidates=["@entity1", "@entity0"],
                chains=[1, 0, 2, 0, 2, 0, 0, 0, 0, 3, 0, 2, 0],
                edges=[(1, 3, "met")],
            ),
        ),
        # LAMBADA, as it is published and as it is printed.
        (
            {"text": "tom came . he was late , said ann to tom", "domain": "x"},
            Example(["tom came ."], "he was late , said ann to", "tom"),
        ),
        (
            {"text": "Tom came. “I can't be late,” said Ann to Tom."},
            Example(["tom came ."], "`` i ca n't be late , '' said ann to", "tom"),
        ),
        # Of a file of `write_questions`.
        (
            {"text": "A. B. Q?", "question_start": 6, "answer": "A", "candidates": NAMES},
            CandidateExample(["A.", "B."], "Q?", "A", candidates=NAMES),
        ),
        (
            {"passage": "a b", "question": "c", "answer": "b", "chain_ids": [1, 2, 1]},
            AnnotatedExample(["a b"], "c", "b", chain_ids=[1, 2, 1]),
        ),
        (
            {**ROWS[0], "supporting_facts": [2], "answer": ["apple,milk"]},
            Example(["Mary left.", "John slept."], "Who left?", "apple,milk", (2,)),
        ),
        ({**ROWS[0], "answer": 3}, Example(["Mary left.", "John slept."], "Who left?", "3")),
        ({**ROWS[0], "answers": {"text": "Mary"}, "answer": None}, EXAMPLES[0]),
        ({**ROWS[0], "answer": {"text": np.array(["Mary", "M"])}}, EXAMPLES[0]),
        ({"text": "A. Q?", "question_start": 3.0, "answer": "A"}, Example(["A."], "Q?", "A")),
        # SST.
        ({"sentence": "Good film!", "label": 1}, Sentence(("Good", "film", "!"), "1")),
        ({"text": "Good", "label": "fine"}, Sentence(("Good",), "fine")),
        ({"tokens": ["A", "b"], "pos_tags": ["X", "Y"]}, Sentence(("A", "b"), ("X", "Y"))),
    ],
)
def test_columns_of_public_data_sets(row, example):
    assert as_examples([row]) == [example]


def test_numbers_of_classes_have_names():
    rows = [{"tokens": ["Dogs", "bark"], "upos": [0, 1]}]
    data = datasets.Dataset.from_list(rows, features=UD)
    assert as_examples(data) == [Sentence(("Dogs", "bark"), ("NOUN", "VERB"))]
    both = {"words": [["Dogs", "bark"]], "tags": [["NOUN", "VERB"]]}
    assert as_examples(both) == as_examples(data)


def test_rows_of_classes_may_have_no_label():
    rows = [{"sentence": "Good film", "label": 1}, {"sentence": "Bad film", "label": -1}]
    kinds = {"sentence": datasets.Value("string"), "label": datasets.ClassLabel(names=["-", "+"])}
    data = datasets.Dataset.from_list(rows, features=datasets.Features(kinds))
    assert [example.answer for example in as_examples(data, answers=False)] == ["+", "[unknown]"]
    for name in ("sentence", "text"):
        with pytest.raises(ValueError, match="example 1: label has no value, give"):
            as_examples(data.rename_columns({"sentence": name}))


def test_edges_may_be_dictionaries():
    edges = [{"source": 1, "target": 5, "type": "near"}, {"source": 4, "target": 2, "type": "by"}]
    expected = dataclasses.replace(EXAMPLES[0], edges=[(1, 5, "near"), (4, 2, "by")])
    row = {**ROWS[0], "edges": edges}
    for data in (row, [row], datasets.Dataset.from_list([row]), pandas.DataFrame([row])):
        assert as_examples(data) == [expected]
    with pytest.raises(ValueError, match=r"edge 1 must be .*; got \(1, None, 'near'\)"):
        as_examples({**row, "edges": [{"source": 1, "type": "near"}]})


def test_stories_of_the_simulator_survive_a_frame():
    examples = simulator.simulate(1, 10)
    rows = [{**vars(e), "supporting_facts": list(e.supporting_facts)} for e in examples]
    again = as_examples(pandas.DataFrame(rows))
    assert again == examples and again[3].source == examples[3].source


def test_empty_sentences_do_not_shift_supporting_facts():
    row = {"sentences": ["", "Mary left.", " ", "She slept."], "question": "Who?", "answer": "Mary"}
    (example,) = as_examples({**row, "supporting_facts": [4, 2]})
    assert example.sentences == ("Mary left.", "She slept.") and example.supporting_facts == (2, 1)
    with pytest.raises(ValueError, match="example 0: supporting fact 3 is an empty sentence"):
        as_examples([{**row, "supporting_facts": [3]}])
    with pytest.raises(ValueError, match="supporting fact 5 is no sentence of the passage"):
        as_examples([{**row, "supporting_facts": [5]}])
