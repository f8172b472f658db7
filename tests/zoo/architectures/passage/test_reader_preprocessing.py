import dataclasses

import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.preprocessing.fitting import fit_preprocessor
from tests.support.tiers import standing_for
from zoo.experiments import data


def test_the_head_fits_the_answers():
    def head(examples, **kwargs):
        return fit_preprocessor(examples, **kwargs)[1]

    assert head(simulator.simulate(1, 40)) == "pointer_sum"
    assert head(simulator.simulate(1, 40), head="classification") == "classification"
    assert head(simulator.simulate(6, 40)) == "classification"
    fears = [
        Example((f"{many} are afraid of wolves.", f"{name} is a {one}."), f"What is {name}?", one)
        for name, one, many in (("Gertrude", "mouse", "Mice"), ("Jessica", "sheep", "Sheep"))
    ] + [Example(("Wolves are afraid of mice.",), "What are wolves afraid of?", "mouse")]
    assert head(fears) == "pointer_sum"
    assert head(fears, language=None) == "classification"


def test_lemmas_that_are_given_link_and_are_pointed_at():
    examples = simulator.simulate(1, 40)
    asked = []

    def lemma(word):
        asked.append(word)
        return {"john": "mary", "park": "garden"}.get(word, word)

    for head in ("auto", "pointer_sum", "classification"):
        asked.clear()
        preprocessor, _ = fit_preprocessor(examples, head=head, lemmatizer=lemma)
        words = preprocessor.vocabulary.words
        numbers = dict(zip(words, preprocessor.word_chains, strict=True))
        assert "john" in asked and numbers["john"] == numbers["mary"] != numbers["sandra"]
    parks = [
        dataclasses.replace(e, sentences=[s.replace("garden", "park") for s in e.sentences])
        for e in examples
    ]
    assert fit_preprocessor(parks, language=None)[1] == "classification"
    assert fit_preprocessor(parks, language=None, lemmatizer=lemma)[1] == "pointer_sum"


def test_a_pointer_sum_finds_lemmas_or_is_refused():
    fears = [Example(("Wolves are afraid of mice.",), "What are wolves afraid of?", "mouse")]
    fears = [dataclasses.replace(example, source="f:3") for example in fears]
    assert fit_preprocessor(fears, head="pointer_sum")[1] == "pointer_sum"
    with pytest.raises(ValueError, match="f:3: the answer 'mouse' is no word of the passage"):
        fit_preprocessor(fears, head="pointer_sum", language=None)


def test_the_tagger_and_the_tokenizer_may_be_chosen():
    examples = simulator.simulate(1, 40)
    names = {"mary", "john", "sandra", "daniel"}

    def tagger(text):
        return [(word, "PROPN" if word.lower() in names else "X") for word in text.split()]

    preprocessor, _ = fit_preprocessor(examples, tagger=tagger, tokenizer="penn_lower")
    words = preprocessor.vocabulary.words
    assert {w for w, n in zip(words, preprocessor.word_chains, strict=True) if n} == names
    assert preprocessor.tokenizer.name == "penn_lower"


@pytest.mark.parametrize("task", standing_for(babi.TASKS, [1, 2, 6, 15, 19]))
def test_official_tasks_get_the_head_that_suits_them(babi_dir, task):
    extractive = task in {1, 2, 3, 4, 5, 11, 12, 13, 14, 16}
    # Task 15 asks for "mouse" where the passage has "mice".
    expected = "pointer_sum" if extractive or task == 15 else "classification"
    assert fit_preprocessor(babi.load(babi_dir, task).train)[1] == expected


def test_mixed_worlds_keep_their_lemmas(babi_dir):
    splits = data.load("babi-mix", 15, babi_dir)
    assert {e.answer for e in splits.train} >= {"wolf", "wolf2", "mouse2"}
    assert fit_preprocessor(splits.train)[1] == "pointer_sum"
