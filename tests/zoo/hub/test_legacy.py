"""Files of version 0.1 load and answer as they did."""

import json
import warnings
from pathlib import Path

import keras
import numpy as np
import pytest

import zoo
from tests.support.tiers import standing_for

FOLDER = Path(__file__).parents[2] / "support" / "legacy"
EXPECTED, PRESETS = (
    json.loads((FOLDER / name).read_text(encoding="utf-8"))
    for name in ("expected.json", "presets.json")
)
NEWER = {"CharacterLanguageModel", "GatesFirst", "LinearStart"}
JAX = keras.backend.backend() == "jax"


def test_every_architecture_has_a_file():
    from zoo import architectures

    classes = {name for name in architectures.__all__ if name not in NEWER}
    assert {expected["class"] for expected in EXPECTED.values()} == classes


def check_answers(model, expected):
    # XLA takes longer to compile than the test lasts.
    model.jit_compile = JAX
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        readings = model.read(*expected["inputs"].values())
    tolerance = 5e-6 if expected.get("dtype", "float32") == "float32" else 5e-3
    for n, reading in enumerate(readings):
        assert list(reading.unknown_words) == expected["unknown_words"][n]
        np.testing.assert_allclose(
            reading.probabilities, expected["probabilities"][n], atol=tolerance
        )
        for key in {"answers", "words", "tags"} & expected.keys():
            assert list(getattr(reading, key)) == expected[key][n]


# One of each class, with what is most of its own.
FILES = ["attention_sum_classification", "dmn_sequence", "ngram"]
FILES += ["end_to_end_memory_retrieving", "entity_network_windows"]
FILES += ["query_reduction_bfloat16", "recurrent_lstm"]
# `test_preset` has other classes, `test_annotated_reading` a reader of LAMBADA.
ANSWERING = ["dmn_supervised_babi_1", "qdren_babi_5"]


# Half precision differs by backend.
@pytest.mark.parametrize(
    "name", standing_for([name for name in EXPECTED if not (JAX and "float16" in name)], FILES)
)
def test_a_file_answers_as_before(name):
    expected = EXPECTED[name]
    model = zoo.load(FOLDER / f"{name}.keras")
    assert type(model).__name__ == expected["class"]
    assert model.count_params() == expected["parameters"]
    assert type(model.optimizer).__name__ == expected["optimizer"]
    assert int(model.optimizer.iterations) == expected["iterations"]
    assert model.get_config()["dtype"] == expected["dtype"]
    check_answers(model, expected)
    again = type(model).from_config(model.get_config())
    assert again.get_config() == model.get_config()


@pytest.mark.parametrize("name", standing_for(PRESETS, ANSWERING))
def test_a_preset_answers_as_before(name):
    model = zoo.from_preset(name)
    assert type(model).__name__ == PRESETS[name]["class"]
    # It is calibrated since.
    model.temperature = 1.0
    check_answers(model, PRESETS[name])
