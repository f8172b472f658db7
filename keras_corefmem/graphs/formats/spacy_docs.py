"""Conversion of spaCy Docs to annotations."""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from keras_corefmem.graphs.annotation import Annotation, Mention, head_of

# Prefix of the span groups that hold a chain each, numbered from 1.
CLUSTERS = "coref_clusters"
# Empty span group on a Doc whose coreference was resolved, but that has no chain.
NO_CHAINS = "corefmem_resolver"

_MARK = re.compile(rf"{NO_CHAINS}_(\d+)_([1-9]\d*)", re.ASCII)
_GROUP = re.compile(rf"{CLUSTERS}_([1-9]\d*)", re.ASCII)


def from_doc(doc: Any, resolve: Callable | None = None) -> Annotation:
    """Converts a Doc that a spaCy pipeline has processed to an annotation.

    Whitespace tokens are left out. Coreference is read from the first of these places that is set;
    the packages of the components are not needed:

    - `doc.spans["coref_clusters_1"]` and so on, by `corefmem_resolver` and spacy-experimental; an
      empty `doc.spans["corefmem_resolver"]` means that there are no chains;
    - `doc._.coref_clusters`, pairs of character offsets, by fastcoref;
    - `doc._.coref_chains`, whose mentions have `token_indexes` and `root_index`, by coreferee.

    The head of a mention is the `root_index` of coreferee, otherwise its first token whose governor
    is outside the mention, or its last token if the Doc is not parsed.

    Args:
        doc: a `spacy.tokens.Doc`.
        resolve: a component to call on a Doc without coreference; `None` leaves it without chains.

    Returns:
        The annotation. Tags are `pos_`, or `tag_` up to a `"__"` if there are none; labels are
        `dep_`; named entities are `ent_type_` if a component such as `ner` set entities.

    Raises:
        ValueError: if all tokens are whitespace.

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

    `head` is `None` if it has to be taken from the parse. The result is `None` if the Doc's
    coreference was not resolved.
    """
    if groups := span_groups(doc):
        chains = (chain for key in groups for chain in _split(doc, key))
        return [[(span.start, span.end, None) for span in chain] for chain in chains]
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


def mark(number: int, size: int) -> str:
    """Returns the id of the spans of a chain, which tells joined chains apart."""
    return f"{NO_CHAINS}_{number}_{size}"


def _split(doc, key):
    """Splits a group into its chains: `Doc.from_docs` joins those of one number."""
    spans, chains, end = list(doc.spans[key]), [], 0
    while end < len(spans):
        first = spans[end].id
        match = _MARK.fullmatch(doc.vocab.strings[first]) if first in doc.vocab.strings else None
        size = int(match[2]) if match and key == f"{CLUSTERS}_{match[1]}" else 0
        chain = spans[end : end + size]
        # Somebody else made the chain, or changed it.
        if not size or [span.id for span in chain] != [first] * size:
            return [spans]
        chains.append(chain)
        end += size
    return chains or [spans]


def span_groups(doc: Any) -> list[str]:
    """Returns the keys of `doc.spans` that hold a chain each, in order."""
    groups = filter(None, map(_GROUP.fullmatch, doc.spans))
    return [match[0] for match in sorted(groups, key=lambda match: int(match[1]))]


def leave_out_spaces(
    words: Sequence[str], distances: np.ndarray
) -> tuple[list[int], list[int], list[int]]:
    """Renumbers the tokens of a Doc without its whitespace tokens.

    Args:
        words: the text of each token.
        distances: the distance from each token to its governor, attribute `HEAD` of
            `doc.to_array`.

    Returns:
        The tokens that are kept; the new number of each token and of the end, where whitespace has
        that of the next kept token; and the new governors of the kept tokens. Dependents of
        whitespace are attached to its governor, or become roots if it was one.
    """
    kept = [index for index, word in enumerate(words) if not word.isspace()]
    numbers = [0, *accumulate(int(not word.isspace()) for word in words)]
    # Distances are signed, but the array is not.
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
    """Returns the nearest governor of a token that is not whitespace, or itself for a root."""
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
