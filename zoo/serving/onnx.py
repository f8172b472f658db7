"""Readers as ONNX, from features to logits, with their preprocessing beside them."""

import json
import os
import pathlib
from typing import Any

import keras
import numpy as np

from keras_corefmem.layers.kernels.compilation import uncompiled
from keras_corefmem.utils.files import replacing_folder
from zoo.reading.answers import preprocessor_of

MODEL, PREPROCESSOR = "model.onnx", "preprocessor.json"
# The first with the loops and scattered updates of the recurrences.
OPSET = 18


def export_onnx(model: Any, path: str | os.PathLike) -> None:
    """Writes a reader as ONNX, which takes the features of a batch of any size and lengths.

    ONNX holds no strings of any length, no tokenizer and no coreference: those stay with the
    preprocessor, which is written beside it and needs NumPy and Keras, on any backend: the guide to
    SavedModels shows a program that asks it.

    Args:
        model: a reader with a preprocessor.
        path: folder to write, `model.onnx` and `preprocessor.json` in it. An older one is replaced,
            once the new one is complete.

    Raises:
        ImportError: if `tf2onnx` or `onnxruntime` is not installed.
        ValueError: if the model has no preprocessor or does something that ONNX does not, the path
            holds something else, or Keras does not run on TensorFlow.

    Example:
        >>> export_onnx(keras.Sequential([keras.Input((1,))]), "model")
        Traceback (most recent call last):
        ValueError: Sequential is not a reader: pass a model of the zoo, such as ...
    """
    preprocessor = preprocessor_of(model)
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "ONNX is written on TensorFlow: set KERAS_BACKEND=tensorflow; .keras files and presets "
            "work there too."
        )
    try:
        import onnxruntime
        import tf2onnx
        from keras.src.export.tf2onnx_lib import patch_tf2onnx
    except ImportError:
        raise ImportError(
            "ONNX needs tf2onnx and onnxruntime: pip install 'keras_corefmem[export]'."
        ) from None
    import tensorflow as tf

    path = pathlib.Path(path).expanduser().absolute()
    if path.exists() and not (path / MODEL).exists() and (path.is_file() or any(path.iterdir())):
        raise ValueError(f"{path} is no folder of ONNX: choose another path, or remove it.")
    # It was written for an older NumPy.
    patch_tf2onnx()
    signature = {
        name: tf.TensorSpec(tensor.shape, tensor.dtype, name=name)
        for name, tensor in model.input.items()
    }
    function = tf.function(
        lambda features: {"logits": model(features, training=False) / model.temperature},
        [signature],
        autograph=False,
    )
    with uncompiled():
        converted, _ = tf2onnx.convert.from_function(function, [signature], opset=OPSET)
    converted = converted.SerializeToString()
    # The converter leaves out or changes what it does not know.
    try:
        session = onnxruntime.InferenceSession(converted)
        same = all(_answers_alike(session, model, count) for count in (1, 3))
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "onnxruntime":
            raise
        same = False
    if not same or model.config.get("retrieve"):
        raise ValueError(f"{model.name} does something that ONNX does not: write a SavedModel.")
    config = keras.saving.serialize_keras_object(preprocessor)
    with replacing_folder(path) as partial:
        (partial / MODEL).write_bytes(converted)
        (partial / PREPROCESSOR).write_text(json.dumps(config, ensure_ascii=False), "utf-8")


def _answers_alike(session: Any, model: Any, count: int) -> bool:
    """Whether a batch of so many texts, of unknown words and padding, has the same logits."""
    random = np.random.default_rng(count)
    features = {}
    for name, tensor in model.input.items():
        time = 4 if name.startswith("question") else 4 + count
        shape = [size or time for size in (count, *tensor.shape[1:])]
        if name.endswith(("antecedents", "sources")):
            features[name] = np.zeros(shape, tensor.dtype)
            continue
        features[name] = random.integers(0, 2, shape).astype(tensor.dtype)
        features[name][:, 0] = 1
    (logits,) = session.run(["logits"], features)
    expected = model(features, training=False) / model.temperature
    return np.allclose(logits, expected, atol=1e-3, rtol=1e-3)
