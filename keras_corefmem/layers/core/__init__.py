"""Layers that other layers build on: highway, dropout, splitting, retrieval."""
