import dataclasses

import pytest

from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.graphs import learn_word_forms
from keras_corefmem.preprocessing.fitting import fit_preprocessor
from keras_corefmem.text import get_tokenizer

TOKENIZE = get_tokenizer("words")
# How stories write an answer, as the bAbI tasks in Hindi do.
INFLECTED = {"kitchen": "rasoighar mein", "garden": "bagichey", "office": "karyalaye"}
INFLECTED |= {"bathroom": "gusalkhaney", "bedroom": "shayan kaksh", "hallway": "galiyare"}
ANSWERS = {"kitchen": "rasoi ghar", "garden": "bagicha", "office": "karyalay"}
ANSWERS |= {"bathroom": "gusalkhana", "bedroom": "shayan kaksh", "hallway": "galiyara"}
FORMS = {"bagichey": "bagicha", "galiyare": "galiyara", "gusalkhaney": "gusalkhana"}
FORMS |= {"karyalaye": "karyalay", "rasoighar": "rasoi ghar"}
FORMS |= dict.fromkeys(("shayan", "kaksh"), "shayan kaksh")


def inflect(example):
    sentences = []
    for sentence in example.sentences:
        for word, form in INFLECTED.items():
            sentence = sentence.replace(word, form)
        sentences.append(sentence)
    return dataclasses.replace(example, sentences=tuple(sentences), answer=ANSWERS[example.answer])


@pytest.mark.parametrize("task", [1, 2])
def test_readers_point_at_forms_of_answers(task):
    stories = list(map(inflect, simulator.simulate(task, 200)))
    assert learn_word_forms(stories, TOKENIZE) == FORMS
    preprocessor, head = fit_preprocessor(stories, language=None)
    assert head == "pointer_sum" and set(preprocessor.answers[1:]) == set(ANSWERS.values())
    for example in stories:
        encoded = preprocessor.encode(example)
        words = TOKENIZE(example.passage)
        pointed = preprocessor.pointers[encoded.passage]
        mentions = {word for word, n in zip(words, pointed, strict=True) if n == encoded.answer}
        assert mentions and {FORMS[word] for word in mentions} == {example.answer}


def test_official_tasks_have_forms_where_animals_are_several(babi_dir):
    found = {
        task: learn_word_forms(babi.load(babi_dir, task).train, TOKENIZE) for task in (2, 9, 15, 19)
    }
    assert found == {2: {}, 9: {}, 15: {"cats": "cat", "wolves": "wolf"}, 19: {}}
