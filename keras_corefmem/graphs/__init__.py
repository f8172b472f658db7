"""The structure of a text: annotation, coreference chains, typed edges, attention targets."""

from keras_corefmem.graphs.annotation import Annotation, Mention
from keras_corefmem.graphs.annotators import annotate
from keras_corefmem.graphs.chains import antecedents, chain_ids
from keras_corefmem.graphs.edge_types import edges_of, lexical_edges
from keras_corefmem.graphs.edges import TypedEdges, inverse, join
from keras_corefmem.graphs.entity_words import (
    entity_classes,
    entity_types,
    learn_entity_words,
    spacy_tagger,
    tagged_entity_words,
)
from keras_corefmem.graphs.formats import conll, corenlp
from keras_corefmem.graphs.formats.spacy_docs import from_doc
from keras_corefmem.graphs.targets import Structure, attention_pairs
from keras_corefmem.graphs.word_forms import learn_word_forms
from keras_corefmem.text.lemmas import get_lemmatizer
from keras_corefmem.text.truecase import Truecaser
from keras_corefmem.utils.checks import check_antecedents, check_sources
from keras_corefmem.utils.deprecation import renamed_names

__getattr__ = renamed_names(
    __name__, learn_entities="learn_entity_words", tagged_entities="tagged_entity_words"
)

__all__ = ["Annotation", "Mention", "Structure", "Truecaser", "TypedEdges", "annotate"]
__all__ += ["antecedents", "attention_pairs", "chain_ids", "check_antecedents", "check_sources"]
__all__ += [
    "conll",
    "corenlp",
    "edges_of",
    "entity_classes",
    "entity_types",
    "from_doc",
    "get_lemmatizer",
    "inverse",
    "join",
]
__all__ += ["learn_entity_words", "learn_word_forms", "lexical_edges", "spacy_tagger"]
__all__ += ["tagged_entity_words"]
