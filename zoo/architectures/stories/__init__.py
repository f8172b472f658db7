"""Readers of stories, sentence by sentence: memory networks and baselines."""
