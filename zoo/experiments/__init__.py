"""Experiments, and the studies that consist of many of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "experiment": ["Experiment", "run_experiment"],
        "reproduce": ["reproduce"],
        "runs": ["Run", "plan"],
        "studies": ["STUDIES", "Study", "read_study"],
    },
)
