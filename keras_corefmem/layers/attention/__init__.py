"""Gated, bidirectional and supervised self-attention."""
