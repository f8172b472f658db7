import dataclasses
import subprocess
import sys

import keras
import numpy as np
import pytest

from keras_corefmem.callbacks import (
    AnswerAfterSentence,
    AnswerFromOneReading,
    AnswerTable,
    AttentionPictures,
    Questions,
    Scalars,
    SentencePictures,
)
from keras_corefmem.callbacks.events import EventFile
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.graphs import learn_entity_words
from keras_corefmem.preprocessing import ReaderPreprocessor, pad
from keras_corefmem.preprocessing.batching.batches import Batches
from keras_corefmem.text import WordTokenizer
from keras_corefmem.visualization.views import inspect_examples, logits_of_beginnings, softmax
from tests.support.conformance.evaluation import JIT
from tests.support.events import read_events
from tests.support.pictures import pixels
from tests.support.tiers import standing_for
from zoo.architectures.passage.gated_attention_reader import GatedAttentionReader
from zoo.architectures.stories.recurrent_entity_network import RecurrentEntityNetwork

EXAMPLES = simulator.simulate(1, 64)
EPOCHS = 4
HEADS = ["pointer_sum", "classification"]
# For what hardly depends on the head.
one_head = pytest.mark.parametrize("model", standing_for(HEADS, HEADS[:1]), indirect=True)


def reader(head):
    keras.utils.set_random_seed(0)
    entity_words = learn_entity_words(EXAMPLES, WordTokenizer())
    preprocessor = ReaderPreprocessor.fit(EXAMPLES, entity_words=entity_words)
    sizes = {"layers": 1, "units": 8, "embedding_dim": 8, "answer_head": head}
    words, answers = len(preprocessor.vocabulary), len(preprocessor.answers)
    model = GatedAttentionReader(words, answers, preprocessor=preprocessor, **sizes)
    model.compile(jit_compile=JIT)
    return model


def train(model, callbacks, **kwargs):
    encoded = [model.preprocessor.encode(example) for example in EXAMPLES]
    batches = Batches(encoded, model.preprocessor, model.features, buckets=[128], question_length=8)
    options = {"epochs": EPOCHS, "validation_data": batches, "verbose": 0, **kwargs}
    return model.fit(batches, callbacks=callbacks, **options).history


def predict(model, examples):
    """Answer probabilities through the model itself."""
    encoded = [model.preprocessor.encode(example) for example in examples]
    features = model.preprocessor.collate(encoded, len(encoded), 128, 8)
    logits = model.predict_on_batch({name: features[name] for name in model.features})
    return keras.ops.convert_to_numpy(keras.ops.softmax(logits))


@pytest.fixture(scope="session", params=standing_for(HEADS, ["pointer_sum"]))
def model(request):
    return reader(request.param)


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """A trained model, its history and the folder of its run."""
    folder = tmp_path_factory.mktemp("run")
    model = reader("pointer_sum")
    questions = folder, EXAMPLES, model.preprocessor, model.inspect
    callbacks = [
        Scalars(folder, len(EXAMPLES)),
        AttentionPictures(*questions, count=3, epochs=(0, 2)),
        AnswerAfterSentence(*questions, count=1, epochs=2),
        AnswerTable(*questions, epochs=3),
    ]
    return model, train(model, callbacks), folder


@pytest.mark.thorough
def test_train_and_validation_share_a_chart(run):
    _, history, folder = run
    train, validation = read_events(folder / "train"), read_events(folder / "validation")
    for events, prefix in ((train, ""), (validation, "val_")):
        for name in ("loss", "accuracy"):
            written = events.Scalars(f"epoch_{name}")
            assert [event.step for event in written] == list(range(EPOCHS))
            np.testing.assert_allclose([e.value for e in written], history[prefix + name], 1e-6)
    odds = [event.value for event in validation.Scalars("epoch_probability")]
    np.testing.assert_allclose(odds, np.exp(-np.array(history["val_loss"])), 1e-6)
    assert "epoch_probability" not in train.Tags()["scalars"]
    rates = [event.value for event in train.Scalars("training/learning_rate")]
    np.testing.assert_allclose(rates, 3e-3, 1e-6)
    assert all(event.value > 0 for event in train.Scalars("training/examples_per_second"))


def test_pictures_at_the_chosen_epochs_and_at_the_end(run):
    events = read_events(run[2] / "validation")
    tags = [*(f"questions/attention/{n}" for n in (1, 2, 3)), "questions/answer_after_sentence/1"]
    assert sorted(events.Tags()["images"]) == sorted(tags)
    for tag in tags:
        images = events.Images(tag)
        assert [image.step for image in images] == [0, 2, 3]
        for image in images:
            height, width, _ = pixels(image.encoded_image_string).shape
            assert (height, width) == (image.height, image.width)
            assert 150 < height < 2000 and 200 < width < 2000


@pytest.mark.thorough
def test_table_of_answers(run):
    model, _, folder = run
    events = read_events(folder / "validation").Tensors("answers")
    assert [event.step for event in events] == [0, 3]
    lines = events[-1].tensor_proto.string_val[0].decode().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    asked = AnswerTable(folder, EXAMPLES, model.preprocessor, model.inspect).examples
    assert [row[1:3] for row in rows] == [[e.question, e.answer] for e in asked]
    best = predict(model, asked).argmax(axis=-1)
    assert [row[3] for row in rows] == [model.preprocessor.answers[n] for n in best]
    assert all((row[0] == "✓") == (row[2] == row[3]) for row in rows)


@one_head
def test_attention_is_a_distribution_over_the_passage(model, tmp_path):
    callback = AttentionPictures(tmp_path, EXAMPLES, model.preprocessor, model.inspect, count=20)
    questions = callback.examples, model.preprocessor, model.inspect
    features, logits, attention = inspect_examples(*questions)
    passage = features["passage"][:20]
    np.testing.assert_allclose(attention.sum(axis=-1), 1, rtol=1e-5)
    assert np.all(attention[passage == 0] == 0) and np.any(passage == 0)
    np.testing.assert_allclose(model.attend(features)[:20], attention, atol=1e-6)
    if model.config["answer_head"] == "pointer_sum":
        answers = np.arange(len(model.preprocessor.answers))
        mentions = features["candidates"][:20, :, None] == answers
        pointed = np.einsum("bt,bta->ba", attention, mentions)
        odds = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(pointed, odds, atol=1e-5)


@one_head
def test_answer_after_each_sentence(model, tmp_path):
    example = max(EXAMPLES, key=lambda example: len(example.sentences))
    callback = AnswerAfterSentence(tmp_path, [example], model.preprocessor, model.inspect)
    rows = softmax(logits_of_beginnings(example, model.preprocessor, model.inspect))
    (view,) = callback.views()
    assert view.values.max() == pytest.approx(rows.max(), abs=1e-5)
    assert rows.shape == (len(example.sentences), len(model.preprocessor.answers))
    np.testing.assert_allclose(rows.sum(axis=-1), 1, rtol=1e-5)
    np.testing.assert_allclose(rows[-1], predict(model, [example])[0], atol=1e-5)
    bare = dataclasses.replace(example, supporting_facts=())
    told = range(1, len(example.sentences))
    cut = [dataclasses.replace(bare, sentences=example.sentences[:n]) for n in told]
    np.testing.assert_allclose(rows[:-1], predict(model, cut), atol=1e-5)


def test_answers_from_the_states_of_one_reading(model, tmp_path):
    arguments = tmp_path, EXAMPLES, model.preprocessor
    callback = AnswerFromOneReading(*arguments, model.follow, count=6)
    encoded = [model.preprocessor.encode(example) for example in callback.examples]
    features = model.preprocessor.collate(encoded, 6, 128, 8)
    _, attention = model.inspect(features)
    last = predict(model, callback.examples)
    if model.config["answer_head"] == "classification":
        states = model.predictor(model.states_output)({k: features[k] for k in model.features})
    shown = list(zip(callback.views(), callback.examples, strict=True))
    assert max(len(view.rows) for view, _ in shown) > 2
    for n, (view, example) in enumerate(shown):
        assert view.rows == example.sentences and view.columns == model.preprocessor.answers[1:]
        assert view.heading[-1][0] == "from the states of one reading"
        ends = np.cumsum([len(model.preprocessor.tokenizer(text)) for text in example.sentences])
        for row, end in zip(view.values, ends, strict=True):
            if model.config["answer_head"] == "classification":
                logits = model.get_layer("answer")(states[n : n + 1, end - 1])[0]
                expected = keras.ops.softmax(logits[1:])
            else:
                # What it points at among the tokens up to there.
                mentions = features["candidates"][n, :end, None] == np.arange(1, len(last[n]))
                expected = attention[n, :end] @ mentions
                expected = expected / expected.sum()
                if end == ends[-1]:
                    np.testing.assert_allclose(row, last[n, 1:], atol=1e-5)
            np.testing.assert_allclose(row, keras.ops.convert_to_numpy(expected), atol=1e-5)
    callback.write(0)
    tags = [f"questions/answer_from_one_reading/{n}" for n in range(1, 7)]
    assert sorted(read_events(tmp_path / "validation").Tags()["images"]) == sorted(tags)


@pytest.mark.thorough
def test_watching_does_not_change_training(run):
    plain = reader("pointer_sum")
    history = train(plain, [])
    assert history == run[1]
    for expected, found in zip(run[0].get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.thorough
@one_head
def test_inspecting_does_not_change_what_is_saved(model, tmp_path):
    model.attend(model.preprocessor.features(pad([[2, 3]], 8), pad([[2]], 8)))
    model.save(tmp_path / "reader.keras")
    loaded = keras.saving.load_model(tmp_path / "reader.keras")
    np.testing.assert_allclose(predict(loaded, EXAMPLES[:4]), predict(model, EXAMPLES[:4]), 1e-5)


def test_a_run_continues(run, tmp_path):
    model = run[0]
    for epochs in ([0], [1, 2], []):
        questions = tmp_path, EXAMPLES, model.preprocessor, model.inspect
        watch = AttentionPictures(*questions, count=1, epochs=5)
        callbacks = keras.callbacks.CallbackList([Scalars(tmp_path), watch], model=model)
        callbacks.on_train_begin()
        for epoch in epochs:
            callbacks.on_epoch_begin(epoch)
            callbacks.on_epoch_end(epoch, {"loss": 1.0, "val_loss": 1.0 / (1 + epoch)})
        callbacks.on_train_end()
    events = read_events(tmp_path / "validation")
    losses = [(event.step, event.value) for event in events.Scalars("epoch_loss")]
    assert losses == [(0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))]
    assert [image.step for image in events.Images("questions/attention/1")] == [0, 2]


def test_questions_range_from_short_to_long_passages(run, tmp_path):
    options = run[0].preprocessor, run[0].inspect, 4
    callback = AttentionPictures(tmp_path, EXAMPLES, *options)
    lengths = [len(example.sentences) for example in callback.examples]
    assert len(lengths) == 4 and lengths == sorted(lengths) and lengths[0] < lengths[-1]
    few = AttentionPictures(tmp_path, EXAMPLES[:2], *options)
    assert sorted(few.examples, key=EXAMPLES.index) == EXAMPLES[:2]


def test_questions_are_of_any_data_and_a_tilde_is_the_home(run, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    fields = "passage", "question", "answer"
    rows = [{name: getattr(example, name) for name in fields} for example in EXAMPLES]
    options = run[0].preprocessor, run[0].inspect, 4
    table, expected = (AnswerTable("~/logs", data, *options) for data in (rows, EXAMPLES))
    assert [e.passage for e in table.examples] == [e.passage for e in expected.examples]
    table.write(0)
    assert read_events(tmp_path / "logs/validation").Tags()["tensors"] == ["answers"]


def test_each_training_of_one_epoch_is_watched(tmp_path):
    steps = []

    class Watch(Questions):
        def write(self, step):
            steps.append(step)

    tokens = keras.Input((1,))
    model = keras.Model(tokens, keras.layers.Dense(1)(tokens))
    model.compile("sgd", "mse", jit_compile=JIT)
    preprocessor = ReaderPreprocessor.fit(EXAMPLES[:2])
    data = np.ones((2, 1)), np.ones((2, 1))
    watch = Watch(tmp_path, EXAMPLES[:2], preprocessor, None, epochs=8)
    for _ in range(2):
        model.fit(*data, callbacks=[watch], verbose=0)
    assert steps == [0, 0]
    # A run that was interrupted after its last epoch, whose number is no multiple of 8.
    model.fit(*data, epochs=6, initial_epoch=6, callbacks=[watch], verbose=0)
    assert steps == [0, 0, 5]


@pytest.mark.parametrize(
    "options",
    [{"examples": []}, {"count": 0}, {"count": 2.5}, {"epochs": 0}, {"epochs": 2.5}]
    + [{"epochs": "all"}],
)
def test_senseless_arguments(options, tmp_path):
    arguments = {"examples": EXAMPLES, "preprocessor": None, "inspect": None, **options}
    with pytest.raises(ValueError, match="at least one example|must be an integer of at least 1"):
        AttentionPictures(tmp_path, **arguments)


@pytest.mark.thorough
def test_pictures_of_gates_name_the_slots_anew(tmp_path):
    keras.utils.set_random_seed(0)
    model = RecurrentEntityNetwork.from_examples(EXAMPLES, units=6, slots=3)
    keys = model.get_layer("entity_memory").cell.keys
    table = np.asarray(model.get_layer("word_embedding").embeddings)
    names = []

    def columns():
        names.append(model.columns())
        return names[-1]

    callback = SentencePictures(
        tmp_path, EXAMPLES, model.preprocessor, model.inspect, columns, count=2, epochs=1
    )
    for epoch in range(2):
        keys.assign(table[2 + 3 * epoch : 5 + 3 * epoch])
        callback.on_epoch_end(epoch)
    words = model.preprocessor.vocabulary.words
    assert names == [[f"slot {n + 1} {words[first + n]}" for n in range(3)] for first in (2, 5)]
    events = read_events(tmp_path / "validation")
    assert [image.step for image in events.Images("questions/attention/2")] == [0, 1]


def test_writers_share_a_file(tmp_path):
    first, second = EventFile(tmp_path), EventFile(tmp_path)
    first.scalars(1, {"a": 0.5})
    second.text(1, "b", "**text**")
    first.scalars(2, {"a": 0.25})
    assert len(list(tmp_path.iterdir())) == 1
    events = read_events(tmp_path)
    assert [(event.step, event.value) for event in events.Scalars("a")] == [(1, 0.5), (2, 0.25)]
    assert events.Tensors("b")[0].tensor_proto.string_val == [b"**text**"]


@pytest.mark.slow
def test_no_tensorflow_on_jax(tmp_path):
    pytest.importorskip("jax")
    code = (
        "import os, sys; os.environ['KERAS_BACKEND'] = 'jax'\n"
        "from keras_corefmem.callbacks import HParams\n"
        "from keras_corefmem.callbacks.events import EventFile\n"
        "from keras_corefmem.visualization import TokenView, draw\n"
        "view = TokenView([['a']], [1.0], [0], ['b'], [0])\n"
        "EventFile(sys.argv[1]).image(0, 'picture', draw(view))\n"
        "assert 'tensorflow' not in sys.modules\n"
        # The names of its models are registered with Keras, nothing more.
        "found = {name for name in sys.modules if name.split('.')[0] == 'zoo'}\n"
        "assert found <= {'zoo', 'zoo.architectures'}, found\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert read_events(tmp_path).Tags()["images"] == ["picture"]
