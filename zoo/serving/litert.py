"""Readers as LiteRT, from features of one text to logits, with their preprocessing beside them."""

import os
import tempfile
from typing import Any

from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.extras import extra
from zoo.serving.portable import answers_alike, check_export, trace, write_portable

MODEL = "model.tflite"
# What the converter changes, such as recurrences along edges from right to left.
LACKS = "retrieval", "edges"


def export_litert(
    model: Any, path: str | os.PathLike, length: int = 100, question_length: int = 20
) -> None:
    """Writes a reader as LiteRT, which takes the features of one text, padded to a length.

    LiteRT's converter takes no lengths that vary. Text is the preprocessor's, as in ONNX.

    Args:
        model: a reader with a preprocessor.
        path: folder to write, `model.tflite` and `preprocessor.json` in it. An older one is
            replaced, once the new one is complete.
        length: the length that passages are padded to, in what `preprocessor.length` counts:
            tokens, or sentences of a story.
        question_length: the length that questions are padded to, in tokens.

    Raises:
        ImportError: if `ai-edge-litert` is not installed.
        ValueError: if the model has no preprocessor or does something that LiteRT does not, a
            length is not positive, the path holds something else, or Keras does not run on
            TensorFlow.

    Example:
        >>> export_litert(keras.Sequential([keras.Input((1,))]), "model")
        Traceback (most recent call last):
        ValueError: Sequential is not a reader: pass a model of the zoo, such as ...
    """
    path = check_export(model, path, MODEL, "LiteRT", LACKS)
    check_sizes(length=length, question_length=question_length)
    with extra("export", "LiteRT needs ai-edge-litert"):
        from ai_edge_litert.interpreter import Interpreter
    from tensorflow.lite.python.convert import ConverterError

    features = model.preprocessor.collate([], 1, length, question_length, list(model.input))
    shapes = {name: rows.shape for name, rows in features.items()}
    try:
        content = _convert(*trace(model, shapes))
        run = Interpreter(model_content=content).get_signature_runner()
        same = answers_alike(lambda features: run(**features)["logits"], model, shapes)
    # What its runtime raises.
    except (ConverterError, RuntimeError):
        same = False
    if not same:
        raise ValueError(f"{model.name} does something that LiteRT does not: write a SavedModel.")
    write_portable(model, path, MODEL, content)


def _convert(function: Any, signature: dict[str, Any]) -> bytes:
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2 as freeze,
    )

    # Of variables the converter makes others, without their values.
    frozen = freeze(function.get_concrete_function())
    names = [tensor.name.partition(":")[0] for tensor in frozen.inputs]
    named = tf.function(
        lambda **features: {"logits": frozen(*(features[name] for name in names))[0]},
        autograph=False,
    ).get_concrete_function(**signature)
    with tempfile.TemporaryDirectory() as folder:
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
        tf.saved_model.save(tf.Module(), folder, named, options)
        return tf.lite.TFLiteConverter.from_saved_model(folder).convert()
