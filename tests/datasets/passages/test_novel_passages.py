import collections
import json
import random

import pytest

from keras_corefmem.datasets.passages import lambada
from keras_corefmem.datasets.passages.novel_passages import (
    chapters,
    file_grams,
    find_passages,
    passage_grams,
)

LONG = "The old captain and his mate went slowly down to the harbour in the rain, and were silent."
CONTEXT = f"{LONG} Nobody met them there. {LONG.replace('old', 'tall')} It was very late."

NEAR = {"near the start of a chapter"}


def passages(text, **kwargs):
    return list(find_passages(text, **kwargs))


def refused(text, **kwargs):
    counts = collections.Counter()
    assert passages(text, counts=counts, **kwargs) == []
    return {name for name in counts if name not in ("sentences", "targets")}


def test_chapters_are_runs_of_sentences():
    text = "CHAPTER I.\n\nHe came. “I will,” he said:\n\n“Never.”\n\nII\n\nShe left—\n\nfor good."
    found = list(chapters(text))
    assert [[" ".join(tokens) for _, tokens in chapter] for chapter in found] == [
        ["He came .", "`` I will , '' he said : `` Never . ''"],
        ["She left -- for good ."],
    ]
    assert [text[place:][:3] for chapter in found for place, _ in chapter] == ["He ", "“I ", "She"]


@pytest.mark.parametrize("start", ["", "Not of the context. "])
def test_the_last_word_of_a_sentence_is_asked_for(start):
    text = f"{start}{CONTEXT} They looked for a boat, and there was one at the harbour.”"
    ((rank, passage),) = passages(text, targets="sentences")
    words = passage["text"].split(" ")
    assert rank == 0
    assert passage["answer"] == words[-1] == "harbour"
    assert passage["end"] == "."
    assert passage["context_tokens"] == 50 and words[49] == "."
    assert passage["query_tokens"] == len(words) - 51 == 12
    assert passage["source"] == len(start)
    assert passage["text"].startswith("The old captain")
    assert "It was very late . They" in passage["text"]


def test_clauses_and_words_are_asked_for_on_request():
    text = f"{CONTEXT} They looked for a boat beside the old harbour, and there was one tall mast."
    assert passages(text, targets="sentences") == []
    ((rank, passage),) = passages(text, targets="clauses")
    assert (rank, passage["answer"], passage["end"]) == (1, "harbour", ",")
    assert passages(text, targets="words") == [(rank, passage)]
    ((rank, passage),) = passages(text.replace("harbour,", "house,"), targets="words")
    assert (rank, passage["end"]) == (2, "")
    assert passage["answer"] in ("old", "tall")


def test_the_chooser_decides_which_word_is_asked_for():
    text = f"{CONTEXT} They all looked for a boat to sail in, and the tall captain stood up."
    found = {passages(text, chooser=random.Random(n))[0][1]["answer"] for n in range(20)}
    assert found == {"tall", "captain"}
    assert len({passages(text, chooser=random.Random(3))[0][1]["answer"] for _ in range(5)}) == 1
    # Names are preferred.
    text = text.replace("the tall captain stood up", "the old captain saw Aunt Mary go")
    text = text.replace("mate", "Aunt Mary")
    found = {passages(text, chooser=random.Random(n))[0][1]["answer"] for n in range(10)}
    assert found == {"Mary"}


@pytest.mark.parametrize(
    "text, reason",
    [
        (f"{CONTEXT} They looked for a boat, and there was one at the quay.", "not in the context"),
        (f"{CONTEXT} They looked for a boat, and it {'so ' * 150} harbour.", "too long"),
        (f"{CONTEXT} They looked for a boat, “ah! a boat!” at harbour.", "without a question"),
        (f"{LONG} They looked for a boat at the harbour.", "near the start of a chapter"),
        (f"{CONTEXT}\n\nII\n\nThey looked for a boat at the harbour.", "near the start of"),
    ],
)
def test_refused_passages_are_counted(text, reason):
    assert any(reason in name for name in refused(text, targets="sentences"))


@pytest.mark.parametrize("answer", ["there", "1881", "harbour-master", "harbours"])
def test_other_words_are_no_answers(answer):
    text = f"{CONTEXT.replace('late', f'late {answer}')} They looked for a boat, and went {answer}."
    found = [passage["answer"] for _, passage in passages(text, targets="sentences")]
    assert found == (["harbours"] if answer == "harbours" else [])


def test_the_same_passage_is_found_once():
    text = f"{CONTEXT} They looked for a boat, and there was one at the harbour."
    seen = set()
    assert len(passages(text, targets="sentences", seen=seen)) == 1
    again = text.replace(",", ";").replace("They looked", "THEY LOOKED")
    assert refused(again, targets="sentences", seen=seen) == {"duplicates"} | NEAR


def test_evaluation_text_is_refused(tmp_path):
    text = f"{CONTEXT} They looked for a boat, and there was one at the harbour."
    path = tmp_path / "test.txt"
    path.write_text("`` we looked for a boat , and there was none\n")
    assert len(passages(text, targets="sentences", known=set(file_grams(path)))) == 1
    path.write_text("`` so they looked for a boat ; `` and there was none\n")
    found = refused(text, targets="sentences", known=set(file_grams(path)))
    assert found == {"in the evaluation text"} | NEAR


PRINTED = "“Surely,” said she, “the captain’s boat—that of Mr. Gray—didn’t sink; it’s here.”"


@pytest.mark.parametrize(
    "name, line",
    [
        ("a.txt", PRINTED),
        ("a.txt", f"{PRINTED} – they left."),
        ("a.jsonl", json.dumps({"text": PRINTED})),
        ("a.jsonl", json.dumps({"passage": PRINTED, "question": "It was the", "answer": "end"})),
    ],
)
def test_printed_evaluation_text_is_cut_as_novels_are(tmp_path, name, line):
    (tmp_path / name).write_text(f"{line}\n", encoding="utf-8")
    (((_, tokens),),) = chapters(PRINTED)
    wanted = set(passage_grams(tokens))
    assert len(wanted) > 5 and wanted <= set(file_grams(tmp_path / name))


@pytest.mark.parametrize(
    "name, line, message",
    [
        (
            "a.jsonl",
            '{"text": "a"}\n{"sentence": "b"}',
            "a.jsonl:2: give an object with a text, or",
        ),
        ("a.jsonl", '{"text": 3}', "a.jsonl:1: give an object with a text, or with passage"),
        ("a.jsonl", '["a"]', "a.jsonl:1: give an object"),
        ("a.jsonl", "the man came .", "a.jsonl:1: no JSON"),
        ("a.json", "[]", "a.json: give evaluation text as JSON lines"),
    ],
)
def test_evaluation_text_of_another_form_is_refused(tmp_path, name, line, message):
    (tmp_path / name).write_text(line)
    with pytest.raises(ValueError, match=message):
        list(file_grams(tmp_path / name))


def test_novels_read_as_lambada_does(real_data):
    text = real_data("novels/litbank/932_the_fall_of_the_house_of_usher.txt").read_text()
    found = passages(text)
    assert len(found) > 20
    for _, passage in found:
        tokens = passage["text"].lower().split(" ")
        assert lambada.last_sentence(tokens) == passage["context_tokens"] >= 50
        assert len(tokens) <= 203 and passage["query_tokens"] >= 7
        assert tokens[-1] in tokens[: passage["context_tokens"]] and lambada.is_word(tokens[-1])
        assert text[passage["source"] :].split()[0].strip("\"“'—-")[:3] in passage["text"]
