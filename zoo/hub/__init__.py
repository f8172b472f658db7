"""Presets: weights with their architecture and preprocessing."""
