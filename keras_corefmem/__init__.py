"""Recurrent layers that read text through its linguistic structure, for Keras 3."""

__version__ = "0.1.0"
