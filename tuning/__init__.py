"""Hyper-parameter searches for the zoo's models, with keras-tuner."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "hyper_model": ["ZooHyperModel"],
        "search": ["Search"],
        "spaces": ["SPACES", "Space"],
    },
)
