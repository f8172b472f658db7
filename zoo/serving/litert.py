"""Export to LiteRT, from features of one text to logits, with the preprocessor beside it."""

import os
import tempfile
from typing import Any

from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.extras import extra
from zoo.serving.portable import answers_alike, check_export, trace, write_portable

MODEL = "model.tflite"
# The converter gets these wrong, such as recurrences along edges from right to left.
LACKS = "retrieval", "edges"


def export_litert(
    model: Any, path: str | os.PathLike, length: int = 100, question_length: int = 20
) -> None:
    """Writes a reader as a LiteRT model of the features of one text, padded to a fixed length.

    The length is fixed because LiteRT's converter does not take variable ones. As in ONNX, the
    preprocessor makes the features of text.

    Args:
        model: a reader with a preprocessor.
        path: folder to write `model.tflite` and `preprocessor.json` to. An older one is replaced
            once the new one is complete.
        length: length that passages are padded to, in the unit of `preprocessor.length`: tokens,
            or sentences of a story.
        question_length: length that questions are padded to, in tokens.

    Raises:
        ImportError: if `ai-edge-litert` is not installed.
        ValueError: if the model has no preprocessor or an operation that LiteRT lacks, a length
            is not positive, the path contains something else, or Keras does not run on
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
    # The runtime raises RuntimeError.
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

    # The converter would make new variables, without the values.
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
