"""Models where they answer: as SavedModels, without this package, and in spaCy pipelines."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"saved_model": ["export"]}
)
