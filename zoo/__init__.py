"""Reading models: architectures, presets with trained weights, reading of raw text, and export.

Keras is imported when a model is asked for, not before.
"""

import importlib
import pathlib
import zipfile

from zoo.export import export

_LAZY = {
    "AttentionSumReader": "attention_sum_reader",
    "BiDAFReader": "bidaf_reader",
    "DynamicMemoryNetwork": "dynamic_memory_network",
    "EndToEndMemoryNetwork": "end_to_end_memory_network",
    "GatedAttentionReader": "gated_attention_reader",
    "LinearStart": "end_to_end_memory_network",
    "NGramClassifier": "ngram_classifier",
    "QueryReductionNetwork": "query_reduction_network",
    "Reading": "reading",
    "RecurrentEntityNetwork": "recurrent_entity_network",
    "RecurrentReader": "recurrent_reader",
    "SentenceDynamicMemoryNetwork": "sentence_dynamic_memory_network",
    "Tagging": "sentence_reading",
    "from_preset": "preset",
    "models": "configurations",
    "presets": "preset",
}

__all__ = ["export", "load", *_LAZY]


def load(path):
    """Loads a reader from a `.keras` file, whose classes need not be imported before.

    Args:
        path: the file.

    Returns:
        The model, compiled if it was when it was saved.

    Raises:
        ValueError: if there is no such file, it is broken, or it holds no reader of the zoo.
    """
    import keras

    from zoo.text_model import TextModel

    if not pathlib.Path(path).exists():
        raise ValueError(f"There is no file {path}.")

    # Importing a class registers it.
    for name in _LAZY:
        __getattr__(name)
    try:
        # Keras takes what is no archive for a file that is missing.
        zipfile.ZipFile(path).close()
        model = keras.saving.load_model(path)
    except ImportError:
        raise
    except Exception as error:  # A damaged file raises anything in the libraries that read it.
        cause = str(error).partition("\n")[0]
        raise ValueError(
            f"{path} is broken, or holds no reader of this zoo ({cause}): copy it again, or save "
            "the reader again."
        ) from error
    if not isinstance(model, TextModel):
        raise ValueError(
            f"{path} holds no reader of this zoo, but a {type(model).__name__}: "
            "`keras.saving.load_model` loads it."
        )
    return model


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'zoo' has no attribute {name!r}")
    return getattr(importlib.import_module(f"zoo.{_LAZY[name]}"), name)


def __dir__():
    return __all__
