"""Universal Dependencies: labels and parts of speech of other parsers in its terms."""

import functools

# Universal part of speech of the tags of the Penn Treebank, by their first letters.
_PENN = (
    *(("NNP", "PROPN"), ("NN", "NOUN"), ("PRP", "PRON"), ("WP", "PRON"), ("EX", "PRON")),
    *(("MD", "AUX"), ("VB", "VERB"), ("JJ", "ADJ"), ("CD", "NUM"), ("DT", "DET"), ("PDT", "DET")),
    *(("WDT", "DET"), ("RB", "ADV"), ("WRB", "ADV"), ("IN", "ADP"), ("TO", "PART")),
    *(("POS", "PART"), ("CC", "CCONJ"), ("UH", "INTJ")),
)
_UNIVERSAL = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)
# spaCy's own labels that mean the same in Universal Dependencies.
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


@functools.lru_cache(1024)
def universal_label(label: str) -> str:
    """Returns the universal relation of a label, without its subtype but for `nmod:poss`."""
    label = _LABELS.get(label, label)
    return label if label == "nmod:poss" else label.split(":")[0].lower()


@functools.lru_cache(1024)
def universal_tag(tag: str) -> str:
    """Returns the universal part of speech of a Penn Treebank tag; others stay as they are."""
    if tag in _UNIVERSAL:
        return tag
    return next((name for start, name in _PENN if tag.startswith(start)), tag)
