"""Export to ONNX, from features to logits, with the preprocessor beside it."""

import contextlib
import functools
import logging
import os
import warnings
from collections.abc import Iterator
from typing import Any

from keras_corefmem.utils.extras import extra
from zoo.serving.portable import answers_alike, check_export, trace, write_portable

MODEL = "model.onnx"
# The first version with the loops and scatter updates that the recurrences need.
OPSET = 18
# The converter gets these wrong.
LACKS = "retrieval", "attention"


def export_onnx(model: Any, path: str | os.PathLike) -> None:
    """Writes a reader as an ONNX model of the features of a batch, of any size and lengths.

    ONNX has no strings of variable length, tokenizer or coreference. These are the job of the
    preprocessor, which is written beside the model and read by this package, on any backend of
    Keras. The guide to SavedModels shows a program that uses both.

    Args:
        model: a reader with a preprocessor.
        path: folder to write `model.onnx` and `preprocessor.json` to. An older one is replaced
            once the new one is complete.

    Raises:
        ImportError: if `tf2onnx` or `onnxruntime` is not installed.
        ValueError: if the model has no preprocessor or an operation that ONNX lacks, the path
            contains something else, or Keras does not run on TensorFlow.

    Example:
        >>> export_onnx(keras.Sequential([keras.Input((1,))]), "model")
        Traceback (most recent call last):
        ValueError: Sequential is not a reader: pass a model of the zoo, such as ...
    """
    path = check_export(model, path, MODEL, "ONNX", LACKS)
    with extra("export", "ONNX needs tf2onnx and onnxruntime"):
        import onnxruntime
        import tf2onnx
        from keras.src.export.tf2onnx_lib import patch_tf2onnx

    # The patch was written for an older NumPy; newer versions warn about names that it uses.
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        patch_tf2onnx()
    function, signature = trace(model, {name: each.shape for name, each in model.input.items()})
    with _quiet():
        converted, _ = tf2onnx.convert.from_function(function, [signature], opset=OPSET)
    content = converted.SerializeToString()
    # The converter may silently drop or change unknown operations.
    try:
        session = onnxruntime.InferenceSession(content)
        same = all(
            answers_alike(lambda features: session.run(["logits"], features)[0], model, shapes)
            for shapes in map(functools.partial(_shapes, model), (1, 3))
        )
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "onnxruntime":
            raise
        same = False
    if not same:
        raise ValueError(f"{model.name} does something that ONNX does not: write a SavedModel.")
    write_portable(model, path, MODEL, content)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences the tracebacks that the converter logs for operations it does not optimize."""
    logger = logging.getLogger("tf2onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _shapes(model: Any, count: int) -> dict[str, list[int]]:
    """Returns the shapes of features of a batch of `count` short texts."""
    shapes = {}
    for name, tensor in model.input.items():
        time = 4 if name.startswith("question") else 4 + count
        shapes[name] = [size or time for size in (count, *tensor.shape[1:])]
    return shapes
