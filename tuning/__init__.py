"""Searches for hyper-parameters of the zoo's models, with keras-tuner."""

import importlib

_LAZY = {"SPACES": "spaces", "Search": "search", "ZooHyperModel": "hyper_model"}

__all__ = [*_LAZY]


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'tuning' has no attribute {name!r}")
    return getattr(importlib.import_module(f"tuning.{_LAZY[name]}"), name)


def __dir__():
    return __all__
