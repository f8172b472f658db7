"""States to logits: pointer sum, candidates and decoder."""
