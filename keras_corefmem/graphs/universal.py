"""Conversion of other schemes' labels and part-of-speech tags to Universal Dependencies."""

import functools

# Universal part of speech by the first letters of a Penn Treebank tag.
_PENN = (
    *(("NNP", "PROPN"), ("NN", "NOUN"), ("PRP", "PRON"), ("WP", "PRON"), ("EX", "PRON")),
    *(("MD", "AUX"), ("VB", "VERB"), ("JJ", "ADJ"), ("CD", "NUM"), ("DT", "DET"), ("PDT", "DET")),
    *(("WDT", "DET"), ("RB", "ADV"), ("WRB", "ADV"), ("IN", "ADP"), ("TO", "PART")),
    *(("POS", "PART"), ("CC", "CCONJ"), ("UH", "INTJ")),
)
_UNIVERSAL = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)
# spaCy's own labels, and the labels that replace them.
_LABELS = {
    "ROOT": "root",
    "nsubjpass": "nsubj",
    "csubjpass": "csubj",
    "dobj": "obj",
    "dative": "iobj",
    "pobj": "obl",
    "poss": "nmod:poss",
    "relcl": "acl",
    "nn": "compound",
    "agent": "prep",
}


# Owners, and titles before names.
_SUBTYPES = ("nmod:poss", "nmod:desc")


@functools.lru_cache(1024)
def universal_label(label: str) -> str:
    """Returns the universal relation of a label, without its subtype except for those kept."""
    label = _LABELS.get(label, label)
    return label if label in _SUBTYPES else label.split(":")[0].lower()


@functools.lru_cache(1024)
def universal_tag(tag: str) -> str:
    """Returns the universal part of speech of a Penn Treebank tag; other tags are unchanged."""
    if tag in _UNIVERSAL:
        return tag
    return next((name for start, name in _PENN if tag.startswith(start)), tag)
