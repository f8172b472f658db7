"""Readers of a passage: Gated-Attention, Attention-Sum and BiDAF."""
