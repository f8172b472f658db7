"""Which tokens each token should attend to: the pairs that supervise attention."""

import numpy as np


def _dependencies(annotation):
    return [(token, head) for token, head in enumerate(annotation.heads) if head != token]


def _coreference(annotation):
    """Heads of each chain, each once, in the order of the text."""
    return [sorted({mention.head for mention in chain}) for chain in annotation.chains]


def _all(annotation):
    return [(a, b) for heads in _coreference(annotation) for a in heads for b in heads if a != b]


def _previous(annotation):
    return [pair for h in _coreference(annotation) for pair in zip(h[1:], h, strict=False)]


def _next(annotation):
    return [pair for h in _coreference(annotation) for pair in zip(h, h[1:], strict=False)]


SIGNALS = {
    "dependency": _dependencies,
    "coref_all": _all,
    "coref_previous": _previous,
    "coref_next": _next,
}


def attention_pairs(annotation, signal):
    """Pairs of tokens of which the first should attend to the second.

    Args:
        annotation: an `Annotation`.
        signal: `"dependency"`, the syntactic head of every token but roots; `"coref_all"`, all
            other mention heads of a chain; `"coref_previous"` or `"coref_next"`, the nearest one.

    Returns:
        int32 array `(N, 2)` of 1-based positions, sorted, each pair once.

    Raises:
        ValueError: if there is no such signal.

    Reference: Cheng and Erk (2020), "Attending to Entities for Better Text Understanding".
    """
    if signal not in SIGNALS:
        raise ValueError(f"There is no signal {signal!r}; choose one of {', '.join(SIGNALS)}.")
    pairs = sorted(set(SIGNALS[signal](annotation)))
    return np.array(pairs, "int32").reshape(-1, 2) + 1
