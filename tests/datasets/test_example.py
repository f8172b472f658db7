import dataclasses

import pytest

from keras_corefmem.datasets import AnnotatedExample, CandidateExample, Example, group_by_story
from keras_corefmem.text import get_tokenizer

MARY = "Mary went to the office."
JOHN = "John went to the garden."


def test_lists_become_tuples_and_examples_are_hashable():
    example = Example([MARY], "Where is Mary?", "office", [1])
    assert example == Example((MARY,), "Where is Mary?", "office", (1,))
    assert len({example, dataclasses.replace(example)}) == 1


def test_source_does_not_enter_comparisons():
    example = Example((MARY,), "Where is Mary?", "office", (1,), "a.txt:2")
    assert example == dataclasses.replace(example, source="b.txt:7")
    assert example != dataclasses.replace(example, answer="garden")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"sentences": ()}, "a.txt:2: the passage is empty"),
        ({"sentences": (MARY, " ")}, "a.txt:2: sentence 2 of the passage is empty"),
        ({"sentences": MARY}, "a.txt:2: `sentences` is one string"),
        ({"question": ""}, "a.txt:2: the question is empty"),
        ({"answer": " "}, "a.txt:2: the answer is empty"),
        ({"answer": ("d", "e")}, r"a.txt:2: the answer must be a string, got \('d', 'e'\)"),
        ({"sentences": (MARY, "\ud800")}, "a.txt:2: sentence 2 of the passage has half of a surr"),
        ({"question": "Who \udc80?"}, "a.txt:2: the question has half of .* at character 4"),
        ({"supporting_facts": (1, 2)}, r"a.txt:2: supporting fact 2 .* 1\.\.1"),
        ({"supporting_facts": (0,)}, "supporting fact 0 is no sentence"),
        ({"supporting_facts": ("1",)}, r"a.txt:2: `supporting_facts` must be .*, got \('1',\)"),
        ({"supporting_facts": 3}, "a.txt:2: `supporting_facts` must be a tuple of integers, got 3"),
        ({"supporting_facts": None}, "a.txt:2: `supporting_facts` must be .*, got None"),
        ({"supporting_facts": (float("inf"),)}, "a.txt:2: `supporting_facts` must be .*inf"),
        ({"chains": 5}, "a.txt:2: `chains` must be a tuple of integers, got 5"),
        (
            {"chains": ("a", "b")},
            r"a.txt:2: `chains` must be a tuple of integers, got \('a', 'b'\)",
        ),
        ({"chains": (1.5,)}, r"a.txt:2: `chains` must be a tuple of integers, got \(1.5,\)"),
        ({"chains": (1, -1)}, "a.txt:2: `chains` number chains from 1, 0 is none; got -1"),
        ({"sentences": (MARY, 3)}, "a.txt:2: `sentences` must be strings, got 3"),
        ({"sentences": None}, "a.txt:2: `sentences` must be strings, got None"),
        ({"kinds": "19"}, "a.txt:2: `kinds` is one string, pass a tuple of strings"),
    ],
)
def test_bad_examples_are_refused(changes, message):
    values = {"sentences": (MARY,), "question": "Where is Mary?", "answer": "office"}
    with pytest.raises(ValueError, match=message):
        Example(**{**values, **changes}, source="a.txt:2")


def test_stories_group_examples_that_extend_each_other():
    first = Example((MARY,), "Where is Mary?", "office")
    again = Example((MARY,), "Is Mary in the office?", "yes")
    longer = Example((MARY, JOHN), "Where is John?", "garden")
    other = Example((JOHN, MARY), "Where is John?", "garden")
    stories = group_by_story([first, again, longer, other, first])
    assert stories == [[first, again, longer], [other], [first]]
    assert group_by_story([]) == []


def test_the_first_sentences_keep_the_edges_between_what_is_left():
    edges = [(1, 6, "near"), (12, 5, "near"), (2, 8, "near"), (11, 12, "far")]
    example = Example((MARY, JOHN), "Where is she", "office", (2,), edges=edges)
    first = example.beginning(1, str.split)
    assert first.sentences == (MARY,) and first.supporting_facts == ()
    assert first.edges == ((7, 5, "near"), (6, 7, "far"))
    assert example.beginning(2, str.split).edges == example.edges


def test_the_answer_is_a_candidate():
    values = {"sentences": (MARY,), "question": "Where?", "answer": "the office", "source": "a:2"}
    example = CandidateExample(**values, candidates=["the office", "garden"])
    assert example.candidates == ("the office", "garden")
    with pytest.raises(ValueError, match="a:2: the answer 'the office' is none of the 1 candidate"):
        CandidateExample(**values, candidates=("office",))
    with pytest.raises(ValueError, match="a:2: `candidates` is one string, pass a tuple"):
        CandidateExample(**values, candidates="the office")


def test_a_candidate_that_is_listed_twice_counts_once():
    values = {"sentences": ["a b"], "question": "c", "answer": "b", "candidates": list("bab")}
    assert CandidateExample(**values).candidates == ("b", "a")
    assert AnnotatedExample(**values, chain_ids=(0, 0, 0)).candidates == ("b", "a")
    for make in (CandidateExample, lambda **kw: AnnotatedExample(**kw, chain_ids=(0, 0, 0))):
        with pytest.raises(ValueError, match="a:2: `candidates` must be strings, got 3"):
            make(**{**values, "candidates": ["b", 3]}, source="a:2")


def test_raw_text_is_cut_behind_sentences_and_lines():
    example = Example.from_text(" Mary left. Why?\n\nNobody\n knows 3.5 ", "Who left?")
    assert example.sentences == ("Mary left.", "Why?", "Nobody", "knows 3.5")
    assert example.answer == "[unknown]"
    with pytest.raises(ValueError, match="the passage is empty"):
        Example.from_text(" \n", "Who left?")


def test_a_beginning_keeps_the_chains_of_what_is_left():
    texts = ("a b", "c", "d e"), "f g"
    example = Example(*texts, "x", chains=(1, 2, 3, 4, 5, 6, 7))
    assert example.beginning(2, str.split).chains == (1, 2, 3, 6, 7)
    labels = ("", "", "P", "", "", "Q", "")
    annotated = AnnotatedExample(
        *texts, "x", chain_ids=(1, 2, 3, 4, 5, 6, 7), named_entities=labels
    )
    beginning = annotated.beginning(1, str.split)
    assert beginning.chain_ids == (1, 2, 6, 7) and beginning.sentences == ("a b",)
    assert beginning.named_entities == ("", "", "Q", "")


def test_sentences_are_cut_as_the_passage_is():
    texts = "Then Dr.", "Smith met Mrs. Hall at 5 p.m. today.", "\u201cHe", "can't,\u201d she said."
    example, tokenize = Example(texts, "He met", "x"), get_tokenizer("prose")
    assert example.cut_sentences(tokenize) == [
        ["then"],
        ["dr.", "smith", "met", "mrs.", "hall", "at", "5", "p.m.", "today", "."],
        ["``", "he"],
        ["ca", "n't", ",", "''", "she", "said", "."],
    ]
    assert sum(example.cut_sentences(tokenize), []) == tokenize(example.passage)
    assert example.cut_sentences(str.split) == list(map(str.split, texts))


def test_titles_end_no_sentence_of_raw_text():
    example = Example.from_text("Mr. Hall met DR. May. Gen. Lee left Main St. He ran.", "Who left?")
    assert example.sentences == ("Mr. Hall met DR. May.", "Gen. Lee left Main St.", "He ran.")


def test_a_beginning_may_end_in_other_tokens():
    tokenize, edges = get_tokenizer("prose"), [(1, 7, "near"), (2, 4, "near")]
    texts = ("Then Dr.", "Smith left."), "Who left"
    example = Example(*texts, "x", chains=range(1, 8), edges=edges)
    beginning = example.beginning(1, tokenize)
    tokens = tokenize(beginning.passage) + tokenize(beginning.question)
    assert tokens == ["then", "dr", ".", "who", "left"]
    assert beginning.chains == (1, 0, 0, 6, 7) and beginning.edges == ((1, 5, "near"),)
