"""Deployment of models: SavedModels, ONNX and LiteRT, spaCy pipelines, and a demo page."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"saved_model": ["export"]}
)
