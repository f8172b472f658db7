"""Parts of the exports to ONNX and LiteRT, which map features to logits and read no text."""

import json
import os
import pathlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

import keras
import numpy as np

from keras_corefmem.layers.kernels.compilation import uncompiled
from keras_corefmem.utils.files import replacing_folder
from zoo.reading.answers import preprocessor_of

# Suffixes of the names of features of edges.
EDGES = ("antecedents", "sources")
PREPROCESSOR = "preprocessor.json"


def check_export(
    model: Any, path: str | os.PathLike, file: str, name: str, lacks: Collection[str]
) -> pathlib.Path:
    """Checks that a model can be exported to a format, and returns the absolute path of the folder.

    Args:
        model: a reader with a preprocessor.
        path: the folder.
        file: name of the file of an older model there, which may be replaced.
        name: name of the format.
        lacks: needs of models that the format does not support: `"retrieval"` of sentences,
            `"attention"` in both directions, or `"edges"`.

    Raises:
        ValueError: if the model has no preprocessor or needs what the format lacks, the folder
            contains something else, or Keras does not run on TensorFlow.
    """
    preprocessor_of(model)
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            f"{name} is written on TensorFlow: set KERAS_BACKEND=tensorflow; .keras files and "
            "presets work there too."
        )
    _check_needs(model, name, lacks)
    path = pathlib.Path(path).expanduser().absolute()
    if path.exists() and not (path / file).exists() and (path.is_file() or any(path.iterdir())):
        raise ValueError(f"{path} is no folder of {name}: choose another path, or remove it.")
    return path


def _check_needs(model: Any, name: str, lacks: Collection[str]) -> None:
    needs = {
        "retrieval": ("retrieves sentences", bool(model.config.get("retrieve"))),
        "edges": ("follows edges", any(name.endswith(EDGES) for name in model.input)),
        "attention": (
            "attends in both directions",
            any(layer.name == "bidirectional_attention" for layer in model.layers),
        ),
    }
    does = [words for need, (words, there) in needs.items() if there and need in lacks]
    if does:
        raise ValueError(
            f"{model.name} {' and '.join(does)}, which {name} does not: write a SavedModel."
        )


def trace(model: Any, shapes: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Returns the graph from features of these shapes to logits, and its signature."""
    import tensorflow as tf

    signature = {
        name: tf.TensorSpec(shapes[name], tensor.dtype, name=name)
        for name, tensor in model.input.items()
    }
    function = tf.function(
        lambda features: {"logits": model(features, training=False) / model.temperature},
        [signature],
        autograph=False,
    )
    with uncompiled():
        function.get_concrete_function()
    return function, signature


def answers_alike(
    run: Callable[[dict[str, np.ndarray]], np.ndarray], model: Any, shapes: Mapping[str, Any]
) -> bool:
    """Returns whether a runtime computes the model's logits of random features."""
    random = np.random.default_rng(0)
    features = {}
    for name, tensor in model.input.items():
        most = np.ones((1, shapes[name][1], *[1] * (len(shapes[name]) - 2)), int)
        if name.endswith(EDGES):
            # Edges come from 1-based positions before each token; 0 is none.
            most = np.cumsum(most, axis=1) - 1
        features[name] = random.integers(0, most + 1, shapes[name]).astype(tensor.dtype)
        if not name.endswith(EDGES):
            features[name][:, 0] = 1
    expected = model(features, training=False) / model.temperature
    return np.allclose(run(features), expected, atol=1e-3, rtol=1e-3)


def write_portable(model: Any, path: pathlib.Path, file: str, content: bytes) -> None:
    config = keras.saving.serialize_keras_object(model.preprocessor)
    with replacing_folder(path) as partial:
        (partial / file).write_bytes(content)
        (partial / PREPROCESSOR).write_text(json.dumps(config, ensure_ascii=False), "utf-8")
