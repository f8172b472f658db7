"""Recurrent cells and layers over a sequence or a typed graph."""
