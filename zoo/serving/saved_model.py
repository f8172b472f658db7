"""Export to SavedModels that answer raw strings."""

import contextlib
import functools
import os
import pathlib
from typing import Any

from keras_corefmem.layers.kernels.compilation import uncompiled
from keras_corefmem.preprocessing.encoding.features import TARGETS
from keras_corefmem.preprocessing.encoding.graph import coarse_width, widened
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.text.tokenizers import SpaceTokenizer, Tokenizer
from keras_corefmem.utils.files import replacing_folder
from zoo.reading.answers import number_of_answers, preprocessor_of
from zoo.serving.batching import in_batches, pad_coarsely

# Number of answers that a SavedModel returns.
TOP = 5


def export(
    model: Any,
    path: str | os.PathLike,
    top: int | None = None,
    jit_compile: bool | None = None,
    format: str = "saved_model",
    **lengths: int,
) -> None:
    """Writes a reader, from text to answer, as a SavedModel.

    Tokenization, vocabulary, coreference and padding are part of its graph, so a program that
    imports nothing but `tensorflow` (and `tensorflow_text` if the reader's tokenizer is
    `"unicode_script"`) gets the answers of `model.read`:

    ```python
    reader = tf.saved_model.load(path).signatures["serving_default"]
    reader(passage=tf.constant([passage]), question=tf.constant([question]))["answer"]
    ```

    The signature takes strings `passage` and `question`, both `(batch,)`, and returns `answer` and
    `probability` `(batch,)`, and `answers` and `probabilities` `(batch, top)`, best first. A model
    of single sentences takes `sentence` `(batch,)`; a tagger returns `words`, `tags` and
    `probabilities`, `(batch, words)`, padded with empty strings and 0. If answers are words of the
    passage and there are fewer than `top`, the rest are empty strings. A row that `read` would
    refuse, such as an empty text, has empty strings and probability 0; other rows are answered.

    A reader of annotated text has a signature `annotated`, which answers as `model.read` does with
    an annotator. It takes `passage` and `question` as tokens separated by spaces, and the
    coreference chain of each token, int32 `passage_chains` `(batch, passage tokens)` and
    `question_chains` `(batch, question tokens)`, 0 for none; passage and question share chain
    numbers. The signature `logits` takes the features of the model and returns `logits`. Works on
    the TensorFlow and JAX backends.

    Args:
        model: a reader with a preprocessor.
        path: folder to write. An older SavedModel there is replaced once the new one is complete.
        top: number of answers to return, 5 by default, at most all that the reader knows.
        jit_compile: whether XLA compiles the recurrences, as by default, at the first use of each
            of a few lengths and batch sizes. With `False`, the model is several times slower, but
            also runs if TensorFlow was built without XLA. Exports of the JAX backend need XLA.
        format: `"saved_model"`; or `"onnx"` or `"litert"` for a model from features to logits with
            the preprocessor beside it, see `zoo.serving.onnx.export_onnx` and
            `zoo.serving.litert.export_litert`.
        **lengths: `length` and `question_length` of LiteRT.

    Raises:
        BlockingIOError: if another process writes to the folder.
        OSError: if the folder is not writable.
        ValueError: if the model has no preprocessor, the path contains something else, or there is
            no such format.

    Example:
        >>> zoo.export(keras.Sequential([keras.Input((1,))]), "model")
        Traceback (most recent call last):
        ValueError: Sequential is not a reader: pass a model of the zoo, such as ...
    """
    if format not in ("saved_model", "onnx", "litert"):
        raise ValueError(f"format must be 'saved_model', 'onnx' or 'litert', got {format!r}.")
    if format != "saved_model" and (top is not None or jit_compile is not None):
        unread = "jit_compile" if top is None else "top"
        raise ValueError(f"Only format='saved_model' has a {unread}: leave it out.")
    if format == "litert":
        from zoo.serving.litert import export_litert

        return export_litert(model, path, **lengths)
    if lengths:
        raise ValueError(f"Only format='litert' has a {next(iter(lengths))}: leave it out.")
    if format == "onnx":
        from zoo.serving.onnx import export_onnx

        return export_onnx(model, path)
    import tensorflow as tf

    path = pathlib.Path(path).expanduser().absolute()
    preprocessor = preprocessor_of(model)
    top = number_of_answers(preprocessor, TOP if top is None else top)
    if path.exists() and not (path.is_dir() and _may_replace(path)):
        raise ValueError(f"{path} is not a SavedModel: choose another path, or remove it.")
    with uncompiled() if jit_compile is False else contextlib.nullcontext():
        module, signatures = _module(model, preprocessor, top)
    with replacing_folder(path) as partial:
        # Inference does not need the gradient of the recurrence.
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
        try:
            tf.saved_model.save(module, str(partial), signatures, options)
        except tf.errors.OpError as error:
            cause = error.message.rpartition("; ")[2].partition(" [Op")[0]
            remedy = "is its disk full? Make room, or choose another folder."
            raise OSError(f"{path} cannot be written ({cause}): {remedy}") from None


def _may_replace(folder: pathlib.Path) -> bool:
    return (folder / "saved_model.pb").exists() or not any(folder.iterdir())


def _module(model: Any, preprocessor: Preprocessor, top: int) -> tuple[Any, dict[str, Any]]:
    """Makes a `tf.Module` and its signatures, traced once each; `ExportArchive` traces twice."""
    import tensorflow as tf

    tables, strings = preprocessor.graph_tables(), preprocessor.strings
    logits_of = _logits_of(model)
    shapes = {name: tensor.shape for name, tensor in model.input.items()}

    def serve(tokenizer: Tokenizer, **inputs: Any) -> dict[str, Any]:
        sizes = [tf.size(inputs[name]) for name in strings]
        advice = " as many questions as passages, and" if len(strings) > 1 else ""
        advice = f"Give{advice} at least one. The numbers are"
        check = tf.debugging.Assert((sizes[0] == sizes[-1]) & (sizes[0] > 0), [advice, *sizes])
        with tf.control_dependencies([check]):
            tokens = [tokenizer.graph(tf.identity(inputs[name])) for name in strings]
        chains = [
            _chains(inputs[f"{name}_chains"], cut, name)
            for name, cut in zip(strings, tokens, strict=True)
            if f"{name}_chains" in inputs
        ]
        unreadable = preprocessor.graph_unreadable(tokens, tables)
        spelled = []
        if preprocessor.symbol_answers:
            spelled = [tokenizer.graph_cased(inputs[name]) for name in strings]
        texts = [*tokens, *spelled, *chains]
        signature = [tf.RaggedTensorSpec([None, None], tf.string)] * len(tokens + spelled)
        signature += [tf.TensorSpec([None, None], "int32")] * len(chains)
        function = tf.function(answer, signature, autograph=False)
        results = in_batches(function, texts, tokens[0].row_lengths())
        return {name: _blanked(result, unreadable) for name, result in results.items()}

    def answer(*texts: Any) -> dict[str, Any]:
        tokens, others = texts[: len(strings)], texts[len(strings) :]
        options: dict[str, Any] = {}
        symbols, chains = None, others
        if preprocessor.symbol_answers:
            symbols, chains = preprocessor.graph_symbols(tokens, others, tables), ()
        if chains:
            wide = map(widened, chains, map(coarse_width, tokens))
            options = {"chains": dict(zip(strings, wide, strict=True))}
        features = preprocessor.graph_features(tokens, tables, model.features, **options)
        logits = logits_of(pad_coarsely(features, shapes))["logits"]
        return preprocessor.graph_answers(logits / model.temperature, tokens, top, symbols)

    def trace(tokenizer: Tokenizer, **specs: Any) -> Any:
        function = tf.function(functools.partial(serve, tokenizer), autograph=False)
        return function.get_concrete_function(**specs)

    texts = {name: tf.TensorSpec([None], tf.string, name=name) for name in strings}
    signatures = {"serving_default": trace(preprocessor.tokenizer, **texts), "logits": logits_of}
    if preprocessor.local:
        names = [f"{name}_chains" for name in strings]
        structure = {name: tf.TensorSpec([None, None], "int32", name=name) for name in names}
        signatures["annotated"] = trace(SpaceTokenizer(), **texts, **structure)
    module = tf.Module()
    module.tables, module.weights = tables, [each.variables for each in signatures.values()]
    return module, signatures


def _chains(chains: Any, tokens: Any, name: str) -> Any:
    """Checks that chains have one number for each token, and sets those of padding to 0."""
    import tensorflow as tf

    shape = tf.stack([tokens.nrows(), tf.maximum(tokens.bounding_shape()[1], 1)])
    shape = tf.cast(shape, "int32")
    advice = f"Give {name}_chains a row for each {name} and a column for each token. Shapes are"
    check = tf.debugging.Assert(
        tf.reduce_all(tf.shape(chains) == shape), [advice, tf.shape(chains), "of", shape]
    )
    with tf.control_dependencies([check]):
        inside = tf.sequence_mask(tokens.row_lengths(), shape[1])
        return tf.where(inside, chains, 0)


def _blanked(result: Any, rows: Any) -> Any:
    """Replaces the marked rows of a result by empty strings or zeros."""
    import tensorflow as tf

    rows = tf.reshape(rows, [-1, *[1] * (result.shape.rank - 1)])
    return tf.where(rows, tf.zeros((), result.dtype), result)


def _logits_of(model: Any) -> Any:
    import keras
    import tensorflow as tf

    signature = {
        name: tf.TensorSpec(tensor.shape, tensor.dtype, name=name)
        for name, tensor in model.input.items()
    }
    if keras.config.backend() == "jax":
        # ExportArchive converts the model and its variables.
        archive = keras.export.ExportArchive()
        options = _options_of_jax({name: tensor.shape for name, tensor in model.input.items()})
        model = archive.track_and_add_endpoint("logits", model, [signature], jax2tf_kwargs=options)
    logits = tf.function(
        lambda features: {"logits": model(features)}, input_signature=[signature], autograph=False
    )
    return logits.get_concrete_function()


def _options_of_jax(inputs: dict[str, Any]) -> dict[str, Any]:
    # All features of a text have the same length, except targets.
    shapes = {
        name: tuple(str(size or _length_of(name)) for size in shape[1:])
        for name, shape in inputs.items()
    }
    lengths = sorted({n for shape in shapes.values() for n in shape if not n.isdigit()})
    named = {name: f"(batch, {', '.join(sizes)})" for name, sizes in shapes.items()}
    return {
        "polymorphic_shapes": [named],
        # JAX cannot derive that there are no more texts than tokens.
        "polymorphic_constraints": [f"batch*{length} >= batch" for length in lengths],
        "native_serialization_platforms": ("cpu", "cuda"),
    }


def _length_of(name: str) -> str:
    if name.startswith(TARGETS):
        return f"n_{name.removeprefix(TARGETS)}"
    return "q" if name.startswith("question") else "t"
