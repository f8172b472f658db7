import warnings

import keras
import numpy as np
import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.stories import simulator
from tests.support.conformance.evaluation import JIT
from tests.support.tiers import standing_for
from zoo import DynamicMemoryNetwork, GatedAttentionReader, export, load
from zoo.reading import read_examples
from zoo.training import evaluate

STORIES = simulator.simulate(2, 30)
LISTS = [Example(e.sentences, e.question, f"{e.answer},milk") for e in STORIES]
PASSAGES = [
    "Alice took the Wug. Then ALICE went to the den. Mary left the wug!",
    "Mary went to the kitchen.",
    "İbrahim, Zoë, Σίσυφος, Bobo, Bob, Ann left. Zoë took the milk.",
]
QUESTIONS = ["Where is the wug?", "Where is Mary?", "Who took it, Zoë?"]
MODELS = {
    "pointers": (GatedAttentionReader, STORIES, {"encoder": "coref_gru", "layers": 1}),
    "words": (DynamicMemoryNetwork, LISTS, {"passes": 1}),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    keras.utils.set_random_seed(0)
    cls, examples, options = MODELS[request.param]
    model = cls.from_examples(examples, units=4, free_symbols=4, **options)
    model.compile(jit_compile=JIT)
    rng = np.random.default_rng(0)
    for weight in model.trainable_weights:
        weight.assign(rng.normal(0, 1.0, weight.shape))
    return model


def test_unknown_words_are_answers_of_their_own_spelling(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        readings = model.read(PASSAGES, QUESTIONS, top=99)
    # Words beyond the symbols of the last text.
    told = [text for text in (str(each.message) for each in caught) if "does not know" in text]
    assert told == ["The reader does not know these words: 'bob', 'ann', 'who', 'it'."]
    first, second, third = ({w for a in r.answers for w in a.split(",")} for r in readings)
    assert first & {"Alice", "Wug", "den"} and not first & {"Zoë", "", "wug", "alice"}
    assert second and not second & {"Alice", "Zoë", ""}
    assert third & {"İbrahim", "Zoë", "Σίσυφος", "Bobo"} and not third & {"Alice", "Bob", ""}
    assert readings[0].unknown_words[:2] == ("alice", "wug")
    for reading in readings:
        assert sum(reading.probabilities) <= 1 + 1e-5


def test_symbols_that_are_no_word_of_a_text_are_never_its_answer(model):
    pairs = zip(PASSAGES, QUESTIONS, strict=True)
    texts = [Example([text], asked, "[unknown]") for text, asked in pairs]
    with pytest.warns(UserWarning, match="made for other texts"):
        scores = evaluate(model, model.batches(texts, batch_size=2), texts=True)
    assert scores["predicted"] == [each.answer for each in read_examples(model, texts)]
    assert scores["wrong"] == [0, 1, 2]


# `test_raw_texts` has a reader of symbols answer.
@pytest.mark.parametrize("model", standing_for(MODELS, ["words"]), indirect=True)
@pytest.mark.skipif(JIT, reason="the run on TensorFlow exports it")
def test_a_saved_model_answers_as_read_does(model, tmp_path):
    tf = pytest.importorskip("tensorflow")
    export(model, tmp_path / "model", top=6, jit_compile=False)
    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    outputs = serve(passage=tf.constant(PASSAGES), question=tf.constant(QUESTIONS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        readings = model.read(PASSAGES, QUESTIONS, top=6)
    for n, reading in enumerate(readings):
        answers = [text.decode() for text in outputs["answers"][n].numpy() if text]
        assert answers == list(reading.answers)
        odds = outputs["probabilities"][n].numpy()[: len(answers)]
        np.testing.assert_allclose(odds, reading.probabilities, atol=1e-5)
        assert outputs["answer"][n].numpy().decode() == reading.answer


def test_free_symbols_are_saved(model, tmp_path):
    model.save(tmp_path / "model.keras")
    again = load(tmp_path / "model.keras")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = (m.read(PASSAGES, QUESTIONS, top=3) for m in (model, again))
    assert [r.answers for r in first] == [r.answers for r in second]
