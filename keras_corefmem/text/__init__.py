"""From text to token ids."""

from keras_corefmem.text.tokenizers import UnicodeScriptTokenizer, WordTokenizer, get_tokenizer
from keras_corefmem.text.vocabulary import PADDING, UNKNOWN, Vocabulary

__all__ = [
    "PADDING",
    "UNKNOWN",
    "UnicodeScriptTokenizer",
    "Vocabulary",
    "WordTokenizer",
    "get_tokenizer",
]
