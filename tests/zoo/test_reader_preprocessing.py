import pytest

from keras_corefmem.datasets import Example, babi, simulator
from zoo import data
from zoo.reader_preprocessing import fit_preprocessor


def test_the_head_fits_the_answers():
    def head(examples, **kwargs):
        return fit_preprocessor(examples, **kwargs)[1]

    assert head(simulator.simulate(1, 40)) == "pointer_sum"
    assert head(simulator.simulate(1, 40), head="classification") == "classification"
    assert head(simulator.simulate(6, 40)) == "classification"
    fears = [
        Example((f"{many} are afraid of wolves.", f"{name} is a {one}."), f"What is {name}?", one)
        for name, one, many in (("Gertrude", "mouse", "Mice"), ("Jessica", "sheep", "Sheep"))
    ] + [Example(("Mice are afraid of wolves.",), "What are mice afraid of?", "wolf")]
    assert head(fears) == "pointer_sum"
    assert head(fears, language=None) == "classification"


def test_the_tagger_and_the_tokenizer_may_be_chosen():
    examples = simulator.simulate(1, 40)
    names = {"mary", "john", "sandra", "daniel"}

    def tagger(text):
        return [(word, "PROPN" if word.lower() in names else "X") for word in text.split()]

    preprocessor, _ = fit_preprocessor(examples, tagger=tagger, tokenizer="unicode_script")
    words = preprocessor.vocabulary.words
    assert {w for w, n in zip(words, preprocessor.entities, strict=True) if n} == names
    assert preprocessor.tokenizer.name == "unicode_script"


@pytest.mark.parametrize("task", babi.TASKS)
def test_official_tasks_get_the_head_that_suits_them(babi_dir, task):
    extractive = task in {1, 2, 3, 4, 5, 11, 12, 13, 14, 16}
    # Task 15 asks for "mouse" where the passage has "mice".
    expected = "pointer_sum" if extractive or task == 15 else "classification"
    assert fit_preprocessor(babi.load(babi_dir, task).train)[1] == expected


def test_mixed_worlds_keep_their_lemmas(babi_dir):
    splits = data.load("babi-mix", 15, babi_dir)
    assert {e.answer for e in splits.train} >= {"wolf", "wolf2", "mouse2"}
    assert fit_preprocessor(splits.train)[1] == "pointer_sum"
