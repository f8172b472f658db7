"""The structure of a text that is cut to other tokens."""

import itertools
from collections import defaultdict
from collections.abc import Sequence

from keras_corefmem.graphs.annotation import Annotation, Mention
from keras_corefmem.graphs.annotators import QUOTES
from keras_corefmem.text.tokenizers import lower


def recut(annotation: Annotation, tokens: Sequence[str]) -> Annotation:
    """Moves the structure of a text to other tokens of it, such as those of the Penn Treebank.

    Tokens are matched by their letters and digits, and punctuation by its place between them. Of
    several tokens that become one, the one that governs the others stands for all; of a token that
    becomes several, the first one has its edges, and governs the others.

    Args:
        annotation: the annotation.
        tokens: the other tokens, with the same letters and digits, in any case.

    Returns:
        An annotation of these tokens, joined by spaces.

    Raises:
        ValueError: if the letters and digits differ.
    """
    old, new = _pieces(annotation.tokens), _pieces(tokens)
    if "".join(map(lower, old)) != "".join(map(lower, new)):
        raise ValueError(f"{tokens!r:.80} are no tokens of {annotation.text!r:.80}.")
    places = _matches(old, new)
    governors = annotation.governors or range(len(old))
    # The old token that stands for each new one, if any.
    stands: list[int | None] = []
    for group in _matches(new, old):
        heads = (n for n in group if governors[n] not in group or governors[n] == n)
        stands.append(next(heads, group[-1]) if group else None)

    def moved(name: str) -> list[str]:
        values = getattr(annotation, name)
        return ["" if n is None else values[n] for n in stands] if values else []

    def governor(token: int) -> int:
        own = stands[token]
        if own is None:
            return max(token - 1, 0)
        first = places[own][0]
        if first != token:
            return first
        return next(iter(places[governors[own]]), token)

    def mention(span: Mention) -> Mention | None:
        within = [n for old_token in range(span.start, span.end) for n in places[old_token]]
        if not within:
            return None
        head = next(iter(places[span.head]), within[-1])
        return Mention(min(within), max(within) + 1, head)

    ends = [(places[a - 1][:1], places[b - 1][:1], t) for a, b, t in annotation.typed_edges]
    starts = itertools.accumulate((len(token) + 1 for token in tokens[:-1]), initial=0)
    return Annotation(
        " ".join(tokens),
        tokens,
        list(starts),
        sorted({0, *(places[n][0] for n in annotation.sentences if places[n])}),
        [governor(token) for token in range(len(tokens))] if annotation.governors else (),
        moved("labels"),
        moved("tags"),
        # Several mentions may have become one token.
        [list(dict.fromkeys(filter(None, map(mention, chain)))) for chain in annotation.chains],
        [(a[0] + 1, b[0] + 1, t) for a, b, t in ends if a and b and a != b],
        moved("named_entities"),
    )


def _pieces(tokens: Sequence[str]) -> list[str]:
    """Returns the letters and digits of each token; `-LRB-` and the like are punctuation."""
    return ["".join(filter(str.isalnum, "" if t in QUOTES else t)) for t in tokens]


def _matches(old: Sequence[str], new: Sequence[str]) -> list[list[int]]:
    """Returns the new tokens that each old one becomes, given their letters; none if left out."""
    owners = [n for n, letters in enumerate(new) for _ in letters]
    gaps, read = defaultdict(list), 0
    for number, letters in enumerate(new):
        if not letters:
            gaps[read].append(number)
        read += len(letters)
    found, read = [], 0
    for letters in old:
        if letters:
            found.append(list(dict.fromkeys(owners[read : read + len(letters)])))
        else:
            found.append([gaps[read].pop(0)] if gaps[read] else [])
        read += len(letters)
    return found
