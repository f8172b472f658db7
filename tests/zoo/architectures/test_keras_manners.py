"""Models in the hands of Keras users: precision, clones, subclasses, arrays, encoders, files."""

import os

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem import optimizers
from keras_corefmem.layers import MAGEGRU, CorefGRU
from tests.support.conformance.evaluation import QUICK
from tests.support.model_cases import CASES, STORIES, features_of, make, shared
from tests.support.tiers import standing_for
from zoo.architectures import preset_model

KINDS = ["as-coref-gru", "qdren", "lstm", "dmn-tagger"]


@keras.saving.register_keras_serializable("tests")
class Extended(zoo.QueryReductionNetwork):
    """A subclass with an argument of its own."""

    def __init__(self, *args, extra=3, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = extra

    def get_config(self):
        return {**super().get_config(), "extra": self.extra}


class Named(zoo.QueryReductionNetwork):
    """A subclass whose constructor has other names."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)


class Fixed(zoo.QueryReductionNetwork):
    """A subclass whose arguments all have defaults."""

    def __init__(self, units=4):
        super().__init__(9, 3, 4, units=units)


class Small(zoo.QueryReductionNetwork):
    """A subclass with fewer arguments."""

    def __init__(self, vocabulary_size, num_answers, sentence_length, preprocessor=None):
        super().__init__(
            vocabulary_size, num_answers, sentence_length, units=4, preprocessor=preprocessor
        )


def inspected(model, name, count=4):
    features = features_of(model, CASES[name].examples[:count], 60, 8)
    return [np.asarray(array) for array in model.inspect(features) if array is not None]


@pytest.mark.parametrize(
    "name", standing_for([*KINDS, "bidaf-supervised"], ["as-coref-gru", "lstm"])
)
def test_clones_are_of_the_class(name):
    model = shared(name)
    clone = keras.models.clone_model(model)
    assert type(clone) is type(model) and clone.get_config() == model.get_config()
    assert clone.compiled and not set(map(id, clone.weights)) & set(map(id, model.weights))
    clone.set_weights(model.get_weights())
    for found, expected in zip(inspected(clone, name), inspected(model, name), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_clone_function_is_refused():
    def other(layer):
        return layer.__class__.from_config({**layer.get_config(), "name": f"{layer.name}_2"})

    with pytest.raises(ValueError, match="A QueryReductionNetwork is cloned as it is"):
        keras.models.clone_model(shared("qrn"), clone_function=other)


def test_subclasses_of_users(tmp_path):
    model = Extended.from_examples(STORIES, units=4, extra=5)
    model.save(tmp_path / "model.keras")
    for copy in (zoo.load(tmp_path / "model.keras"), keras.models.clone_model(model)):
        assert type(copy) is Extended and copy.extra == 5 and copy.config["units"] == 4
    for made in (Named(9, 3, 4), Named.from_examples(STORIES, units=6)):
        assert type(keras.models.clone_model(made)) is Named
    assert made.config["units"] == 6 and "units" in Extended.arguments()
    assert Fixed(units=5).config["units"] == 5
    assert Small.from_examples(STORIES).config["units"] == 4


def test_a_class_that_is_not_registered_is_named(tmp_path):
    class Unregistered(zoo.QueryReductionNetwork):
        pass

    Unregistered.from_examples(STORIES, units=4).save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="holds a Unregistered .*register_keras_serializable"):
        zoo.load(tmp_path / "model.keras")
    loaded = zoo.load(tmp_path / "model.keras", {"Unregistered": Unregistered})
    assert type(loaded) is Unregistered


@pytest.mark.filterwarnings("always::DeprecationWarning")
def test_saving_reads_no_other_attributes(tmp_path, recwarn, monkeypatch):
    monkeypatch.setattr(preset_model, "read_presets", lambda: pytest.fail("reads all presets"))
    model = make("qrn")
    model.save(tmp_path / "model.keras")
    loaded = zoo.load(tmp_path / "model.keras")
    assert not {"_edge_weights", "_state_logits"} & {*dir(shared("ga-mage-gru-typed"))}
    assert not [each for each in recwarn if "is now called" in str(each.message)]
    assert not {"_inspect", "reader"} & {*vars(model), *vars(loaded), *dir(model)}
    with pytest.warns(DeprecationWarning, match="`reader` is now called"):
        assert loaded.reader is loaded.preprocessor


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        pytest.param("as-coref-gru", "mixed_float16", marks=pytest.mark.thorough),
        pytest.param("as-coref-gru", "float64", marks=pytest.mark.thorough),
        pytest.param("qdren", "float64", marks=pytest.mark.thorough),
        ("qrn", "float64"),
    ],
)
def test_models_have_a_precision(name, dtype, tmp_path):
    if dtype == "float64" and keras.backend.backend() == "jax":
        pytest.skip("JAX has float64 where JAX_ENABLE_X64 is set")
    before = keras.config.dtype_policy()
    model = make(name, dtype=dtype)
    assert model.dtype_policy.name == dtype and keras.config.dtype_policy() == before
    model.set_weights(shared(name).get_weights())
    found, expected = (inspected(each, name)[0] for each in (model, shared(name)))
    assert found.dtype == (np.float64 if dtype == "float64" else np.float32)
    np.testing.assert_allclose(found, expected, atol=0.1 * np.ptp(expected[..., 1:]))
    encoded = [model.preprocessor.encode(e) for e in CASES[name].examples[:8]]
    batches = model.preprocessor.batches(encoded, model.features, batch_size=8)
    model.compile(**QUICK)
    assert np.isfinite(model.fit(batches, verbose=0).history["loss"][0])
    model.save(tmp_path / "model.keras")
    assert zoo.load(tmp_path / "model.keras").dtype_policy.name == dtype
    assert keras.config.dtype_policy() == before


def test_a_configuration_that_is_refused_leaves_the_default_precision():
    before = keras.config.dtype_policy()
    config = {**shared("qrn").get_config(), "dtype": "mixed_bfloat16", "units": 0}
    with pytest.raises(ValueError, match="units"):
        zoo.QueryReductionNetwork.from_config(config)
    assert keras.config.dtype_policy() == before


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("qrn", "int8"),
        ("as-coref-gru", "int8"),
        ("dmn", "int4"),
    ],
)
@pytest.mark.thorough
def test_quantized_models_answer_alike_and_are_saved(name, mode, tmp_path, recwarn):
    model = keras.models.clone_model(shared(name))
    model.set_weights(shared(name).get_weights())
    before = inspected(model, name)[0]
    model.quantize(mode)
    assert not [each for each in recwarn if "quantize" in str(each.message)]
    found = inspected(model, name)[0]
    spread = np.ptp(before[..., 1:])
    assert 0 < np.abs(found - before).max() < (0.1 if mode == "int8" else 1) * spread
    model.save(tmp_path / "model.keras")
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    for copy in (zoo.load(tmp_path / "model.keras"), clone):
        np.testing.assert_allclose(inspected(copy, name)[0], found, atol=1e-5)


def test_quantized_models_forget_what_was_made_before():
    model = make("ga-mage-gru-typed", layers=1)
    features = features_of(model, CASES["ga-mage-gru-typed"].examples[:4], 40, 12)
    before = model.attend_to_edges(features)
    model.quantize("int8")
    assert model.attend_to_edges(features) != before


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("qrn", {"mode": "int8", "filters": "answer"}, "without filters; got mode='int8'"),
        ("memn2n", {"mode": "int8"}, "EndToEndMemoryNetwork has no embedding or dense layer"),
        ("memn2n", {"mode": "float8"}, "no dense layer to quantize to float8"),
    ],
)
def test_quantization_that_is_refused(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(name).quantize(**arguments)


def test_arrays_have_weights_of_classes_and_a_validation_split():
    model = make("qrn", spread=0, l2=0.0)
    model.compile(**QUICK)
    features = features_of(model, STORIES)
    answers = np.array([model.preprocessor.encode(example).answer for example in STORIES])
    weights = dict.fromkeys(range(len(model.preprocessor.answers)), 0.0)
    options = {"batch_size": 8, "verbose": 0, "validation_split": 0.25}
    before = model.get_weights()
    history = model.fit(features, answers, class_weight=weights, **options).history
    # What weighs nothing teaches nothing, and the last quarter is not weighed.
    assert history["loss"] == [0] and history["val_loss"][0] > 0
    assert all(map(np.array_equal, model.get_weights(), before))


@pytest.mark.parametrize("use_ema", [False, True])
def test_an_interrupted_first_step_leaves_the_weights(use_ema, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    model = make("qrn")
    model.compile(optimizers.SGD(0.1, use_ema=use_ema), **QUICK)
    before, loss = model.get_weights(), model.evaluate(STORIES, verbose=0)
    monkeypatch.setattr(type(model), "train_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(STORIES, verbose=0)
    assert all(map(np.array_equal, model.get_weights(), before))
    assert model.evaluate(STORIES, verbose=0) == loss


@pytest.mark.parametrize("method", ["evaluate", "predict"])
def test_a_batch_that_fails_leaves_the_weights(method, monkeypatch):
    def broken(*_):
        raise ArithmeticError("broken")

    function = "test_function" if method == "evaluate" else "predict_function"
    model = make("qrn")
    model.compile(**QUICK)
    before = model.predict(STORIES, verbose=0)
    monkeypatch.setattr(
        type(model), f"make_{function}", lambda *_: setattr(model, function, broken)
    )
    with pytest.raises(ArithmeticError, match="broken"):
        getattr(model, method)(STORIES, verbose=0)
    monkeypatch.undo()
    setattr(model, function, None)
    np.testing.assert_allclose(model.predict(STORIES, verbose=0), before)


ENCODERS = {
    "both": (lambda: keras.layers.Bidirectional(keras.layers.GRU(5, return_sequences=True)), ""),
    "last": (lambda: keras.layers.LSTM(6, return_sequences=True), ""),
    "words": (lambda: keras.layers.Dense(7), ""),
    "chains": (lambda: CorefGRU(6), "antecedents"),
    "edges": (lambda: MAGEGRU((4, 2), bidirectional=True), "sources"),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        # `test_reader_model` has one that reads edges.
        ("last", "as-mage-gru"),
        *(
            pytest.param(name, kind, marks=pytest.mark.thorough)
            for name, kind in (
                *((name, "ga-gru") for name in ("both", "chains", "edges", "last", "words")),
                ("both", "bidaf-mage-gru"),
            )
        ),
    ],
)
def test_an_encoder_is_any_layer(name, kind, tmp_path):
    layer, structure = ENCODERS[name][0](), ENCODERS[name][1]
    model = make(kind, encoder=layer, edge_types=("coreference",))
    assert (f"passage_{structure}" in model.features) == bool(structure)
    assert not layer.built
    copies = [each for each in model.layers if type(each) is type(layer) and "encod" in each.name]
    assert len(copies) == {"ga-gru": 2, "as-mage-gru": 2, "bidaf-mage-gru": 1}[kind]
    features = features_of(model, CASES[kind].examples[:8], 80)
    expected = model.predict_on_batch(features)
    assert np.ptp(expected[:, 1:], axis=0).max() > 0.01
    wider = features_of(model, CASES[kind].examples[:8], 83, 7)
    np.testing.assert_allclose(model.predict_on_batch(wider), expected, rtol=1e-4, atol=1e-4)
    model.save(tmp_path / "model.keras")
    loaded = zoo.load(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded.predict_on_batch(features), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (keras.layers.GRU(4), r"the GRU returns \(None, 4\): give it return_sequences=True"),
        (keras.layers.GRU(4, return_sequences=True, return_state=True), "and no return_state"),
        ("lstm", "encoder: Input should be 'gru', .* or a Keras layer .got 'lstm'"),
        (3, "encoder: Input should be .*got 3"),
    ],
)
def test_encoders_that_are_refused(encoder, message):
    with pytest.raises(ValueError, match=message):
        make("as-gru", encoder=encoder)


def test_names_take_hyphens():
    options = {"encoder": "mage-gru", "order": "passage-first", "answer_head": "pointer-sum"}
    config = make("as-gru", **options).config
    assert {name: config[name].replace("_", "-") for name in options} == options
    assert config["encoder"] == "mage_gru"
    assert make("dmn", attention="attention-gru").config["attention"] == "attention_gru"
    assert zoo.configs.configuration("ga_coref_gru").name == "ga-coref-gru"
    assert make("as-gru", tokenizer="penn-lower").preprocessor.tokenizer.name == "penn_lower"


LOAD = """
for name in data["imports"]:
    __import__(name)
import keras
result = []
for path in data["paths"]:
    try:
        result.append(type(keras.saving.load_model(path)).__name__)
    except TypeError as error:
        result.append(str(error))
"""


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Files of a layer and of a model."""
    inputs = keras.Input((None, 4)), keras.Input((None,), dtype="int32")
    models = keras.Model(inputs, CorefGRU(4)(*inputs)), shared("qrn")
    folder = tmp_path_factory.mktemp("files")
    files = [str(folder / f"{model.name}.keras") for model in models]
    for model, file in zip(models, files, strict=True):
        model.save(file)
    return files


# The next one has them found with one import less.
@pytest.mark.thorough
def test_keras_finds_the_classes_of_files(paths, run_python):
    data = {"paths": paths, "imports": ["keras_corefmem.layers", "zoo"]}
    assert run_python(LOAD, data) == ["Functional", "QueryReductionNetwork"]


@pytest.mark.thorough
def test_installed_packages_register_their_classes_with_the_layers(paths, tmp_path, run_python):
    installed = tmp_path / "installed-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: installed\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[corefmem_models]\nmodels = zoo\n")
    data = {"paths": paths, "imports": ["keras_corefmem"]}
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert run_python(LOAD, data, PYTHONPATH=path) == ["Functional", "QueryReductionNetwork"]


@pytest.mark.thorough
def test_keras_names_what_to_import(paths, run_python):
    layer, model = run_python(LOAD, {"paths": paths, "imports": []})
    assert "Could not locate class 'CorefGRU'" in layer
    assert "'module': 'keras_corefmem.layers" in layer
    assert "Could not locate class 'QueryReductionNetwork'" in model
    assert "'module': 'zoo.architectures" in model


def test_a_configuration_holds_nothing_of_its_model():
    model = shared("ga-mage-gru-typed")
    config = model.get_config()
    assert type(config["edge_types"]) is list and config["edge_types"] == model.config["edge_types"]
    encoder = keras.layers.Bidirectional(keras.layers.LSTM(2, return_sequences=True))
    config = make("as-coref-gru", encoder=encoder).get_config()
    assert type(config["encoder"]) is type(config["encoder"]["config"]) is dict
