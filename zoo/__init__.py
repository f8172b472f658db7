"""Reading models: architectures, presets with trained weights, reading of raw text, and export.

Keras is imported when a model is asked for, not before.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "architectures": [
            "AttentionSumReader",
            "BiDAFReader",
            "DynamicMemoryNetwork",
            "EndToEndMemoryNetwork",
            "GatedAttentionReader",
            "LinearStart",
            "NGramClassifier",
            "QueryReductionNetwork",
            "RecurrentEntityNetwork",
            "RecurrentReader",
            "SentenceDynamicMemoryNetwork",
        ],
        "configs": ["models"],
        "hub.files": ["load"],
        "hub.presets": ["from_preset", "presets"],
        "reading": ["Reading", "Tagging"],
        "serving.saved_model": ["export"],
    },
)
