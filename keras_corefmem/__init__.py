"""Recurrent layers that read text through its linguistic structure, for Keras 3."""

import lazy_loader

from keras_corefmem.utils.registration import register_modules
from keras_corefmem.utils.shadows import warn_of_shadows

__version__ = "0.2.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=[
        "callbacks",
        "corpora",
        "datasets",
        "graphs",
        "layers",
        "metrics",
        "optimizers",
        "preprocessing",
        "text",
        "utils",
        "visualization",
    ],
)

register_modules(
    "keras_corefmem.layers",
    "keras_corefmem.metrics",
    "keras_corefmem.optimizers",
    plugins="corefmem_models",
)
# These names are so common that a folder of the user may shadow the packages.
warn_of_shadows("zoo", "tuning")
