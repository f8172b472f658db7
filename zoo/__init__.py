"""Reading models: architectures, presets with trained weights, reading of raw text, and export.

Keras is imported when a model is asked for, not before.
"""

import importlib

from zoo.export import export

_LAZY = {
    "AttentionSumReader": "attention_sum_reader",
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
        ValueError: if there is no such file, or Keras cannot read it.
    """
    import keras

    # Importing a class registers it.
    for name in _LAZY:
        __getattr__(name)
    return keras.saving.load_model(path)


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'zoo' has no attribute {name!r}")
    return getattr(importlib.import_module(f"zoo.{_LAZY[name]}"), name)


def __dir__():
    return __all__
