"""Annotates and stores any amount of text: texts, shards, records and Beam."""
