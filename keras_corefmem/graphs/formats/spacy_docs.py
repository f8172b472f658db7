"""Annotations of spaCy Docs."""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from keras_corefmem.graphs.annotation import Annotation, Mention, head_of

# Groups of spans that hold a chain each, numbered from 1.
CLUSTERS = "coref_clusters"
# An empty group of spans on a Doc whose coreference was resolved, and that has no chain.
NO_CHAINS = "corefmem_resolver"

_GROUP = re.compile(rf"{CLUSTERS}_([1-9]\d*)", re.ASCII)


def from_doc(doc: Any, resolve: Callable | None = None) -> Annotation:
    """Returns the annotation that a spaCy pipeline left on a Doc.

    Tokens that are only spaces are left out. Coreference is read from where components leave it,
    the first of these that is there; no package of theirs is needed:

    - `doc.spans["coref_clusters_1"]` and so on: `corefmem_resolver`, spacy-experimental; an empty
      `doc.spans["corefmem_resolver"]` says that there are none;
    - `doc._.coref_clusters`, pairs of characters: fastcoref;
    - `doc._.coref_chains`, whose mentions have `token_indexes` and `root_index`: coreferee.

    The head of a mention is its first token whose governor is outside, the last one where the Doc
    has no parse.

    Args:
        doc: a `spacy.tokens.Doc`.
        resolve: a component, called on Docs that have no coreference; `None` leaves them without.

    Returns:
        The annotation: tags are `pos_`, or `tag_` up to a `"__"`; labels are `dep_`, those of named
        entities `ent_type_` where a component such as `ner` set entities.

    Raises:
        ValueError: if all tokens are spaces.

    Example:
        >>> import spacy
        >>> doc = spacy.blank("en")("Mary left  early")
        >>> keras_corefmem.graphs.from_doc(doc).tokens
        ('Mary', 'left', 'early')
    """
    chains = chains_of(doc)
    if chains is None and resolve is not None:
        doc = resolve(doc)
        chains = chains_of(doc)
    columns = doc.to_array(["HEAD", "DEP", "POS", "TAG", "SENT_START", "ENT_TYPE"])
    words = [token.text for token in doc]
    starts = [token.idx for token in doc]
    kept, numbers, governors = leave_out_spaces(words, columns[:, 0])
    columns = columns.tolist()
    parsed = doc.has_annotation("DEP")

    def mention(start, end, head):
        start, end = numbers[start], numbers[end]
        if head is not None:
            head = min(numbers[head], end - 1)
        else:
            head = head_of(governors, start, end) if parsed else end - 1
        return Mention(start, end, head)

    mentions = [
        [mention(*span) for span in chain if numbers[span[0]] < numbers[span[1]]]
        for chain in chains or ()
    ]
    return Annotation(
        doc.text,
        [words[index] for index in kept],
        [starts[index] for index in kept],
        sorted({0, *(numbers[i] for i, row in enumerate(columns) if row[4] == 1)} - {len(kept)}),
        governors if parsed else (),
        [doc.vocab.strings[columns[index][1]] for index in kept] if parsed else (),
        _tags(doc, columns, kept),
        [chain for chain in mentions if chain],
        named_entities=_named_entities(doc, columns, kept),
    )


def chains_of(doc: Any) -> list[list[tuple[int, int, int | None]]] | None:
    """Returns the chains on a Doc, see `from_doc`, as `(start, end, head)` in tokens of the Doc.

    `head` is `None` where the parse tells it, and so is all of it where nothing was resolved.
    """
    if groups := span_groups(doc):
        return [[(s.start, s.end, None) for s in doc.spans[key]] for key in groups]
    if NO_CHAINS in doc.spans:
        return []
    if doc.has_extension("coref_clusters") and doc._.coref_clusters is not None:
        return [
            [(span.start, span.end, None) for span in _character_spans(doc, cluster)]
            for cluster in doc._.coref_clusters
        ]
    if doc.has_extension("coref_chains") and doc._.coref_chains is not None:
        return [
            [(min(m.token_indexes), max(m.token_indexes) + 1, m.root_index) for m in chain.mentions]
            for chain in doc._.coref_chains
        ]
    return None


def span_groups(doc: Any) -> list[str]:
    """The keys of `doc.spans` that hold a chain each, in order."""
    found = filter(None, map(_GROUP.fullmatch, doc.spans))
    return [match[0] for match in sorted(found, key=lambda match: int(match[1]))]


def leave_out_spaces(
    words: Sequence[str], distances: np.ndarray
) -> tuple[list[int], list[int], list[int]]:
    """Numbers the tokens of a Doc without those that are only spaces.

    Args:
        words: the text of each token.
        distances: from each token to its governor, an attribute `HEAD` of `doc.to_array`.

    Returns:
        The tokens that stay; the new number of each token and of the end, for a space that of its
        successor; and the new governors of those that stay. What depends on a space depends on its
        governor then, and becomes a root where the space was one.
    """
    kept = [index for index, word in enumerate(words) if not word.isspace()]
    numbers = [0, *accumulate(int(not word.isspace()) for word in words)]
    # Distances are signed, the array is not.
    signed = distances.astype(np.int64).tolist()
    governors = [index + distance for index, distance in enumerate(signed)]
    return kept, numbers, [numbers[_governor(index, governors, words)] for index in kept]


def _character_spans(doc, cluster):
    for start, end in cluster:
        span = doc.char_span(start, end, alignment_mode="expand")
        if span is None:
            raise ValueError(
                f"Characters {start} to {end} of a coreference cluster lie outside the text of "
                f"{len(doc.text)} characters: was the Doc changed after it was resolved?"
            )
        yield span


def _governor(index, governors, words):
    """The governor of a token, or of the space that is its governor; itself for a root."""
    governor = governors[index]
    while words[governor].isspace() and governors[governor] != governor:
        governor = governors[governor]
    return index if words[governor].isspace() else governor


def _tags(doc, columns, kept):
    strings = doc.vocab.strings
    if doc.has_annotation("POS"):
        return [strings[columns[index][2]] for index in kept]
    if doc.has_annotation("TAG"):
        return [strings[columns[index][3]].split("__")[0] for index in kept]
    return ()


def _named_entities(doc, columns, kept):
    if not doc.has_annotation("ENT_IOB"):
        return ()
    return [doc.vocab.strings[columns[index][5]] for index in kept]
