"""Presets: bundled ones, folders, and repositories of the Hugging Face Hub."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "folders": ["load_named_weights", "write_folder"],
        "loading": ["describe_data", "load_preset", "open_preset"],
        "model_card": ["known_card"],
        "presets": ["read_presets"],
        "record": ["describe_class"],
    },
)
