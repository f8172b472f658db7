"""Curves, hyper-parameters and word vectors of a run, as TensorBoard reads them."""

import json
from types import SimpleNamespace

import keras
import numpy as np
import pytest
from google.protobuf import text_format
from PIL import Image
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from keras_corefmem import optimizers
from keras_corefmem.callbacks import HParams, Scalars, WordProjector
from keras_corefmem.callbacks.run import _charts_of
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.preprocessing import ReaderPreprocessor
from keras_corefmem.text.vocabulary import Vocabulary
from tests.support.conformance.evaluation import QUICK
from tests.support.events import read_events, read_hparams

WORDS = ["the", "a\tb", "c\nd", 'say "x"', "naïve", "\u2028", "東京"]


def model_of(optimizer="adam", name="word_embedding", words=9):
    tokens = keras.Input((3,), dtype="int32")
    x = keras.layers.Embedding(words, 4, name=name)(tokens)
    model = keras.Model(tokens, keras.layers.Dense(2)(keras.layers.Flatten()(x)))
    model.compile(optimizer, "mse", **QUICK)
    return model


def fit(model, callbacks, **kwargs):
    tokens, targets = np.ones((8, 3), "int32"), np.ones((8, 2), "float32")
    options = {"batch_size": 4, "epochs": 2, "verbose": 0, **kwargs}
    return model.fit(tokens, targets, callbacks=callbacks, **options).history


def test_gradients_are_measured_epoch_by_epoch(tmp_path):
    model, norms = model_of(optimizers.SGD(0.1)), []
    watch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: norms.append(model.optimizer.gradient_norm)
    )
    # The first epoch of the second training is not mixed with those before.
    fit(model, [Scalars(tmp_path), watch])
    fit(model, [Scalars(tmp_path), watch], initial_epoch=2, epochs=3)
    written = read_events(tmp_path / "train").Scalars("training/gradient_norm")
    assert [event.step for event in written] == [0, 1, 2]
    np.testing.assert_allclose([event.value for event in written], norms, rtol=1e-6)
    # Gradients shrink as the loss does.
    assert norms[0] > norms[1] > norms[2] > 0


def test_other_optimizers_have_no_gradient_norm(tmp_path):
    fit(model_of(), [Scalars(tmp_path, examples=8)])
    names = ["epoch_loss", "training/examples_per_second", "training/learning_rate"]
    assert sorted(read_events(tmp_path / "train").Tags()["scalars"]) == names


def test_metrics_that_are_arrays_are_left_out(tmp_path):
    model = model_of()
    model.compile("adam", "mse", metrics=[keras.metrics.F1Score(name="f1")], **QUICK)
    assert np.shape(fit(model, [Scalars(tmp_path)])["f1"]) == (2, 2)
    tags = read_events(tmp_path / "train").Tags()["scalars"]
    assert sorted(tags) == ["epoch_loss", "training/learning_rate"]


def test_charts_show_what_is_written_once(tmp_path):
    fit(model_of(optimizers.SGD(0.1)), [Scalars(tmp_path, examples=8)])
    (event,) = read_events(tmp_path).Tensors("custom_scalars__config__")
    layout = layout_pb2.Layout.FromString(event.tensor_proto.string_val[0])
    (category,) = layout.category
    assert category.title == "Learning"
    assert [(chart.title, list(chart.multiline.tag)) for chart in category.chart] == [
        ("Loss", ["epoch_loss$"]),
        ("Gradient norm before clipping", ["training/gradient_norm$"]),
        ("Learning rate", ["training/learning_rate$"]),
        ("Training examples per second", ["training/examples_per_second$"]),
    ]


def test_supervised_heads_have_charts_of_their_own():
    masses = ["epoch_coref_all_attention_mass", "epoch_roles_attention_mass"]
    names = ["epoch_loss", "epoch_accuracy", "epoch_coref_all_loss", *masses, "epoch_auc"]
    assert _charts_of(names) == {
        "Accuracy": ["epoch_accuracy"],
        "Loss": ["epoch_loss"],
        "Attention mass on targets": masses,
        "Losses of supervised heads": ["epoch_coref_all_loss"],
    }


def test_hyper_parameters_of_a_run(tmp_path):
    values = {"units": 8, "rate": 0.5, "joint": True, "model": "gru", "none": None, "of": [1, "b"]}
    values |= {"slots": np.int64(5), "share": np.float32(0.5), "own": np.bool_(False)}
    callback = HParams(tmp_path, values)
    callback.on_train_begin()
    start, end = read_hparams(tmp_path)
    # Without a group of its own a run is a row.
    assert start.group_name == "" and end is None
    assert {name: getattr(v, v.WhichOneof("kind")) for name, v in start.hparams.items()} == {
        **{"units": 8, "rate": 0.5, "joint": True, "model": "gru"},
        **{"of": '[1, "b"]', "slots": 5, "share": 0.5, "own": False},
    }
    assert start.hparams["joint"].WhichOneof("kind") == "bool_value"
    callback.on_train_end()
    start, end = read_hparams(tmp_path)
    assert end.status == api_pb2.STATUS_SUCCESS and end.end_time_secs >= start.start_time_secs


def test_the_best_epoch_by_validation_is_compared(tmp_path):
    epochs = [(0.2, 2.0), (0.29, 1.5), (0.29, 1.2), (0.27, 1.0), (0.27, 1.1)]
    logs = [{"loss": 1.0, "val_accuracy": a, "val_loss": loss} for a, loss in epochs]
    first = HParams(tmp_path, {})
    for epoch in range(3):
        first.on_epoch_end(epoch, dict(logs[epoch]))
    continued = HParams(tmp_path, {}, logs[:3])
    for epoch in (3, 4):
        continued.on_epoch_end(epoch, logs[epoch])
    events = read_events(tmp_path / "best")
    for name, expected in (
        ("accuracy", [0.2, 0.29, 0.29, 0.29, 0.29]),
        ("loss", [2.0, 1.5, 1.2, 1.2, 1.2]),
    ):
        written = events.Scalars(f"epoch_{name}")
        assert [event.value for event in written] == pytest.approx(expected)
    diverged = HParams(tmp_path / "nan", {}, [{**logs[1], "val_loss": float("nan")}])
    diverged.on_epoch_end(1, logs[1])
    (event,) = read_events(tmp_path / "nan/best").Scalars("epoch_loss")
    assert event.value == 1.5
    HParams(tmp_path / "none", {}).on_epoch_end(0, {"loss": 1.0})
    assert not (tmp_path / "none").exists()


def preprocessor(**attributes):
    return SimpleNamespace(**{"vocabulary": Vocabulary(WORDS), "word_chains": None, **attributes})


def table_of(folder):
    lines = (folder / "words.tsv").read_text("utf-8").removesuffix("\n").split("\n")
    return [line.split("\t") for line in lines]


def test_words_are_projected_as_trained(tmp_path):
    model = model_of(optimizers.SGD(0.1))
    chains = np.array([0, 0, 0, 1, 0, 2, 0, 0, 0])
    fit(model, [WordProjector(tmp_path, preprocessor(word_chains=chains))])
    header, *rows = table_of(tmp_path)
    words = ["[unknown]", "the", "a\\tb", "c\\nd", 'say "x"', "naïve", "\\u2028", "東京"]
    kinds = {2: "entity", 4: "entity"}
    assert header == ["word", "rank", "kind"]
    assert rows == [[word, str(n), kinds.get(n, "word")] for n, word in enumerate(words)]
    vectors = np.loadtxt(tmp_path / "vectors.tsv", delimiter="\t")
    (table,) = model.get_layer("word_embedding").get_weights()
    np.testing.assert_allclose(vectors, table[1:], rtol=1e-5)
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    (embedding,) = config.embeddings
    paths = embedding.tensor_name, embedding.tensor_path, embedding.metadata_path
    assert paths == ("word_embedding", "vectors.tsv", "words.tsv")
    # The font has no letters for the last of them.
    assert not embedding.HasField("sprite") and not (tmp_path / "words.png").exists()


def test_words_stand_in_the_place_of_their_points(tmp_path):
    words = ["i", "kitchen", "chrysanthemum", "naïve", "a" * 200]
    model = model_of(words=7)
    fit(model, [WordProjector(tmp_path, preprocessor(vocabulary=Vocabulary(words)))])
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    sprite = config.embeddings[0].sprite
    assert sprite.image_path == "words.png" and list(sprite.single_image_dim) == [40, 40]
    # "[unknown]" comes first; the last cells of three times three are empty.
    ink = np.array(Image.open(tmp_path / sprite.image_path))[..., 3].reshape(3, 40, 3, 40)
    cells = ink.transpose(0, 2, 1, 3).reshape(9, 40, 40) > 0
    assert [cell.any() for cell in cells] == [True] * 6 + [False] * 3
    # Letters keep within their cells, and fill them as far as words are long.
    heights, widths = (np.ptp(np.nonzero(cells[2].any(axis=a))) for a in (1, 0))
    assert 30 < widths < 40 and heights < 12
    assert not cells[:5, :, 0].any() and np.ptp(np.nonzero(cells[1].any(axis=1))) > 12


def test_words_that_a_reader_links_are_marked(tmp_path):
    examples = simulator.simulate(1, 8)
    reader = ReaderPreprocessor.fit(examples, entity_words=["mary", "john"])
    model = model_of(words=len(reader.vocabulary))
    fit(model, [WordProjector(tmp_path, reader)])
    kinds = {word: kind for word, _, kind in table_of(tmp_path)[1:]}
    assert {word for word, kind in kinds.items() if kind == "entity"} == {"mary", "john"}


def test_only_the_most_frequent_words_of_models_that_have_some_are_projected(tmp_path):
    fit(model_of(name="letters"), [WordProjector(tmp_path, preprocessor())])
    assert not list(tmp_path.iterdir())
    fit(model_of(), [WordProjector(tmp_path, preprocessor(), count=3)])
    assert [row[0] for row in table_of(tmp_path)] == ["word", "[unknown]", "the", "a\\tb"]
    assert len(np.loadtxt(tmp_path / "vectors.tsv")) == 3
    with pytest.raises(ValueError, match="count must be an integer of at least 1"):
        WordProjector(tmp_path, preprocessor(), count=0)


def test_hyper_parameters_of_train_have_distinct_names(tmp_path):
    from zoo.experiments import Experiment
    from zoo.experiments.experiment import hyper_parameters, watch
    from zoo.training import make_model

    changes = {"arguments": {"units": 4, "embedding_dim": 4}, "augment": "rename+shuffle"}
    experiment = Experiment("as-gru", changes=changes)
    settings = experiment.settings
    model = make_model(simulator.simulate(1, 8), settings)
    values = hyper_parameters(experiment, model)
    assert values["dataset"] == "simulator" and values["model"] == "as-gru"
    assert values["units"] == 4 and values["learning_rate"] == settings.learning_rate
    assert values["augment"] == "rename+shuffle"
    # What is usually compared, also where nobody set it, so that its column has no gaps.
    assert values["encoder"] == "gru" and "dropout" in values
    # No defaults that are the same in most runs, and nothing learned from the data.
    assert not {"question_overlap", "average", "optimizer", "train_size"} & set(values)
    # Nor what the configuration of the model says, as its name does.
    qdren = Experiment("qdren", changes={"arguments": {"slots": 2}})
    model = make_model(simulator.simulate(1, 8), qdren.settings)
    assert hyper_parameters(qdren, model).keys() == {
        *("dataset", "task", "language", "model", "seed", "slots", "units"),
        *("epochs", "batch_size", "learning_rate", "dropout"),
    }
    model = make_model(simulator.simulate(1, 8), settings)
    assert not {"arguments", "vocabulary_size", "preprocessor"} & set(values)
    # What was set to a default is shown.
    changes = {"arguments": {"question_overlap": False}, "optimizer": "adam"}
    named = hyper_parameters(Experiment("as-gru", changes=changes), model)
    assert named.keys() - values.keys() == {"question_overlap", "optimizer"}
    json.dumps(values)
    batches = {"train": SimpleNamespace(count=8)}
    known = {name for name, value in values.items() if value is not None}
    for shown, expected in ((None, known), (["units"], {"units"})):
        hparams, _ = watch(experiment, model, batches, tmp_path, tmp_path, shown)
        assert {name for name in hparams.values if values[name] is not None} == expected
