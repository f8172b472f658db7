import dataclasses

import pytest

from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.graphs import learn_word_forms
from keras_corefmem.preprocessing import RenameEntities, UnseenEntities
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
    assert learn_word_forms(iter(stories), TOKENIZE) == FORMS
    preprocessor, head = fit_preprocessor(stories, language=None)
    assert head == "pointer_sum" and set(preprocessor.answers[1:]) == set(ANSWERS.values())
    for example in stories:
        encoded = preprocessor.encode(example)
        words = TOKENIZE(example.passage)
        pointed = preprocessor.pointers[encoded.passage]
        mentions = {word for word, n in zip(words, pointed, strict=True) if n == encoded.answer}
        assert mentions and {FORMS[word] for word in mentions} == {example.answer}
    chains = dict(zip(preprocessor.vocabulary.known, preprocessor.word_chains[2:], strict=False))
    assert all(chains[form] for form in FORMS) and chains["shayan"] == chains["kaksh"]
    assert len({chains[form] for form in FORMS}) == len(set(FORMS.values()))
    # Nothing tells how other answers would be written.
    for rename in (RenameEntities, UnseenEntities):
        assert "mary" in rename.fit(stories, preprocessor).place.keys()
        assert not rename.fit(stories, preprocessor).place.keys() & FORMS.keys()


def test_a_few_answers_that_no_passage_has_make_classes_of_all_with_a_warning():
    stories = [
        dataclasses.replace(e, answer="XY" if e.answer == "kitchen" else e.answer)
        for e in simulator.simulate(1, 200)
    ]
    with pytest.warns(UserWarning, match="of 200 training answers are .* such as 'XY': answers"):
        assert fit_preprocessor(stories)[1] == "classification"


def test_official_tasks_have_forms_where_animals_are_several(babi_dir):
    found = {
        task: learn_word_forms(babi.load(babi_dir, task).train, TOKENIZE) for task in (2, 9, 15, 19)
    }
    assert found == {2: {}, 9: {}, 15: {"cats": "cat", "wolves": "wolf"}, 19: {}}
