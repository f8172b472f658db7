"""Token ids to vectors: characters, word pieces, positions, contextual vectors."""
