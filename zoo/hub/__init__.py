"""Presets and `.keras` files: models with their weights and preprocessing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={"files": ["load"], "presets": ["from_preset", "read_preset", "save_preset"]},
)
