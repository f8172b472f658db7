"""From text to token ids."""

from keras_corefmem.text.tokenizers import (
    PennTokenizer,
    SpaceTokenizer,
    UnicodeScriptTokenizer,
    WordTokenizer,
    get_tokenizer,
)
from keras_corefmem.text.vocabulary import PADDING, UNKNOWN, Vocabulary
from keras_corefmem.text.word_vectors import Coverage, load_word_vectors

__all__ = [
    "PADDING",
    "UNKNOWN",
    "Coverage",
    "PennTokenizer",
    "SpaceTokenizer",
    "UnicodeScriptTokenizer",
    "Vocabulary",
    "WordTokenizer",
    "get_tokenizer",
    "load_word_vectors",
]
