"""Models as programs that answer raw strings without this package."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"saved_model": ["export"]}
)
