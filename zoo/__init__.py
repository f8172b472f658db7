"""Reading models: architectures, presets with trained weights, reading of raw text, and export.

Keras is imported only when a model is first accessed.
"""

import os

import lazy_loader

from keras_corefmem.utils.registration import register_names
from zoo import architectures

# TensorFlow reads this when imported: no logs, as in commands, unless the user has set it.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["experiments", "reading", "reports", "training"],
    submod_attrs={
        "architectures": [
            "AttentionSumReader",
            "BiDAFReader",
            "CharacterLanguageModel",
            "DynamicMemoryNetwork",
            "EndToEndMemoryNetwork",
            "GatedAttentionReader",
            "GatesFirst",
            "LinearStart",
            "NGramClassifier",
            "QueryReductionNetwork",
            "RecurrentEntityNetwork",
            "RecurrentReader",
            "SentenceDynamicMemoryNetwork",
        ],
        "configs": ["models"],
        "architectures.loading": ["from_preset", "load"],
        "hub.presets": ["presets"],
        "hub.repositories": ["upload_preset"],
        "reading": ["Reading", "Tagging"],
        "serving.saved_model": ["export"],
    },
)

register_names("zoo.architectures", architectures.__all__)
