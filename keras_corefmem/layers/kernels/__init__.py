"""Fused recurrences and their gradients, without layer classes."""
