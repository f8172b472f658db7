"""Named configurations, studies and published numbers, as data."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "configurations": [
            "Configuration",
            "TrainingOptions",
            "configuration",
            "models",
        ],
        "renamed": ["rename"],
    },
)
