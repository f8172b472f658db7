"""Deployment of models: SavedModels, ONNX and LiteRT, spaCy pipelines, and a demo page."""
