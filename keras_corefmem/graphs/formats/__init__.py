"""Conversion of annotations from and to CoNLL and CoreNLP, and from spaCy Docs."""

from keras_corefmem.graphs.formats.conll import read_conll, with_parse, write_conll
from keras_corefmem.graphs.formats.corenlp import (
    from_corenlp,
    read_corenlp,
    to_corenlp,
    write_corenlp,
)
from keras_corefmem.graphs.formats.spacy_docs import chains_of, from_doc, span_groups

__all__ = ["chains_of", "from_corenlp", "from_doc", "read_conll", "read_corenlp", "span_groups"]
__all__ += ["to_corenlp", "with_parse", "write_conll", "write_corenlp"]
