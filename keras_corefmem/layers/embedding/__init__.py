"""Layers from token ids to vectors: characters, word pieces, positions, contextual vectors."""

from keras_corefmem.layers.embedding.character_cnn import CharacterCNN
from keras_corefmem.layers.embedding.contextual_vectors import ContextualVectors, LayerMix
from keras_corefmem.layers.embedding.sentence_encoders import MultiplicativeMask, PositionEncoding
from keras_corefmem.layers.embedding.sinusoidal_positions import SinusoidalPositions
from keras_corefmem.layers.embedding.spelled_words import SpelledWords
from keras_corefmem.layers.embedding.word_pieces import WordPieces

__all__ = ["CharacterCNN", "ContextualVectors", "LayerMix", "MultiplicativeMask"]
__all__ += ["PositionEncoding", "SinusoidalPositions", "SpelledWords", "WordPieces"]
