"""Answers to questions on raw text, for a model in hand."""
