"""Scores of coreference resolution: MUC, B-cubed, CEAF and their mean F1.

The definitions are those of the reference scorer
([Pradhan et al., 2014](https://aclanthology.org/P14-2006)), which takes predicted mentions as they
are.
"""

import dataclasses
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

METRICS = ("muc", "b3", "ceafe")


@dataclasses.dataclass(frozen=True)
class Score:
    """Precision and recall, from sums over documents.

    Args:
        precision: share of the predictions that are right, from 0 to 1.
        recall: share of the right answers that were predicted, from 0 to 1.

    Example:
        >>> from keras_corefmem.graphs.coreference import Score
        >>> round(Score(0.5, 1.0).f1, 3)
        0.667
    """

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 if both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def score_chains(
    documents: Iterable[tuple[Sequence[Iterable[Hashable]], Sequence[Iterable[Hashable]]]],
    singletons: bool = True,
) -> dict[str, Any]:
    """Scores the predicted chains of a corpus.

    With key entities K and response entities R, each a set of mentions,

    - MUC ([Vilain et al., 1995](https://aclanthology.org/M95-1005)) has the recall
      `Σ_k (|k| - |parts of k in R|) / Σ_k (|k| - 1)`,
    - B-cubed (Bagga and Baldwin, 1998) has `Σ_k Σ_r |k ∩ r|² / |k|`, divided by the number of key
      mentions,
    - CEAF with φ4 ([Luo, 2005](https://aclanthology.org/H05-1004)) has
      `Σ 2 |k ∩ r| / (|k| + |r|)` over the best one-to-one alignment, divided by the number of key
      entities.

    For precision, key and response are exchanged. Sums run over all documents.

    Args:
        documents: pairs of key and response, each a list of chains, each an iterable of mentions; a
            mention is a hashable value such as `(start, end)`.
        singletons: whether chains of one mention count; otherwise they are left out on both sides.

    Returns:
        `Score`s of `"mentions"`, `"muc"`, `"b3"` and `"ceafe"`, and under `"conll"` the
        mean F1 of the latter three.

    Raises:
        ValueError: if a mention is in two chains of one side.

    Example:
        >>> from keras_corefmem.graphs.coreference import score_chains
        >>> scores = score_chains([([["Mary", "she", "her"]], [["Mary", "she"]])])
        >>> scores["muc"]
        Score(precision=1.0, recall=0.5)
    """
    sums = {name: [0.0, 0, 0.0, 0] for name in ("mentions", *METRICS)}
    for number, (key, response) in enumerate(documents, 1):
        sides = [
            _chains(chains, singletons, f"document {number}, {side}")
            for chains, side in ((key, "key"), (response, "response"))
        ]
        for name, values in _document_sums(*sides).items():
            sums[name] = [total + value for total, value in zip(sums[name], values, strict=True)]
    scores = {
        name: Score(*(part / whole if whole else 0.0 for part, whole in (values[2:], values[:2])))
        for name, values in sums.items()
    }
    return scores | {"conll": sum(scores[name].f1 for name in METRICS) / len(METRICS)}


def _chains(chains, singletons, place):
    chains = [frozenset(chain) for chain in chains]
    chains = [chain for chain in chains if len(chain) > (0 if singletons else 1)]
    counts = Counter(mention for chain in chains for mention in chain)
    for mention, count in counts.most_common(1):
        if count > 1:
            raise ValueError(f"{place}: mention {mention} is in {count} chains, leave it in one.")
    return chains


def _document_sums(key, response):
    """Returns the numerator and denominator of recall, then of precision, for every metric."""
    in_key = {mention: i for i, chain in enumerate(key) for mention in chain}
    in_response = {mention: i for i, chain in enumerate(response) for mention in chain}
    overlaps = Counter((in_key[m], in_response[m]) for m in in_key.keys() & in_response.keys())
    common = overlaps.total()
    aligned = _alignment(key, response, overlaps)
    return {
        "mentions": (common, len(in_key), common, len(in_response)),
        "muc": (*_muc(key, in_response), *_muc(response, in_key)),
        "b3": (
            sum(n * n / len(key[k]) for (k, _), n in overlaps.items()),
            len(in_key),
            sum(n * n / len(response[r]) for (_, r), n in overlaps.items()),
            len(in_response),
        ),
        "ceafe": (aligned, len(key), aligned, len(response)),
    }


def _muc(chains, other):
    """Returns the number of links that the other side has too, and of all links."""
    kept = 0
    for chain in chains:
        shared = [other[mention] for mention in chain if mention in other]
        parts = len(set(shared)) + len(chain) - len(shared)
        kept += len(chain) - parts
    return kept, sum(len(chain) - 1 for chain in chains)


def _alignment(key, response, overlaps):
    """Returns the sum of φ4 over the best one-to-one alignment."""
    from scipy.optimize import linear_sum_assignment

    similarity = np.zeros((len(key), len(response)))
    for (k, r), count in overlaps.items():
        similarity[k, r] = 2 * count / (len(key[k]) + len(response[r]))
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return float(similarity[rows, columns].sum())
