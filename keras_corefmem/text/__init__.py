"""From characters to token ids: tokenizers, sentences, vocabulary, word vectors, lexicons."""

from keras_corefmem.text.lemmas import get_lemmatizer
from keras_corefmem.text.tokenizers import (
    PennTokenizer,
    ProseTokenizer,
    SpaceTokenizer,
    UnicodeScriptTokenizer,
    WordTokenizer,
    get_tokenizer,
)
from keras_corefmem.text.truecase import Truecaser
from keras_corefmem.text.vocabulary import PADDING, UNKNOWN, Vocabulary
from keras_corefmem.text.word_vectors import Coverage, load_word_vectors

__all__ = [
    "PADDING",
    "UNKNOWN",
    "Coverage",
    "PennTokenizer",
    "ProseTokenizer",
    "SpaceTokenizer",
    "Truecaser",
    "UnicodeScriptTokenizer",
    "Vocabulary",
    "WordTokenizer",
    "get_lemmatizer",
    "get_tokenizer",
    "load_word_vectors",
]
