"""Settings, batches, progress, resume, evaluation and devices of a training run."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "devices": ["data_parallel"],
        "fitting": ["Settings", "evaluate", "make_batches", "prepare"],
    },
)
