"""Which tokens each token should attend to: the pairs that supervise attention."""

import collections
import dataclasses
import itertools

import numpy as np

from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.graphs.predicate_arguments import predicate_arguments


@dataclasses.dataclass(frozen=True, eq=False)
class Structure:
    """What the signals need of an annotated text, small enough to keep that of a whole corpus.

    Tokens are numbered from 0.

    Args:
        heads: token that each token depends on, itself for a root, `(T,)`; empty if not parsed.
        mentions: chain and head token of each mention, by chain and place, `(M, 2)`.
        arguments: pairs of predicate and argument, `(A, 2)`.
    """

    heads: np.ndarray
    mentions: np.ndarray
    arguments: np.ndarray

    @classmethod
    def of(cls, annotation, end=None):
        """The structure of an `Annotation`, or of its tokens before `end` alone."""
        end = len(annotation) if end is None else end
        # What depends on a token behind the end is like a root.
        heads = [head if head < end else n for n, head in enumerate(annotation.heads[:end])]
        mentions = {
            (number, mention.head)
            for number, chain in enumerate(annotation.chains)
            for mention in chain
            if mention.head < end
        }
        arguments = [pair for pair in predicate_arguments(annotation) if max(pair) < end]
        pairs = (np.array(rows, "int32").reshape(-1, 2) for rows in (sorted(mentions), arguments))
        return cls(np.array(heads, "int32"), *pairs)

    @property
    def chains(self):
        """List of the head tokens of each chain, in the order of the text."""
        groups = itertools.groupby(self.mentions.tolist(), lambda mention: mention[0])
        return [[head for _, head in mentions] for _, mentions in groups]


def _dependencies(structure):
    return [(token, head) for token, head in enumerate(structure.heads.tolist()) if head != token]


def _all(structure):
    return [pair for heads in structure.chains for pair in itertools.permutations(heads, 2)]


def _previous(structure):
    return [pair for heads in structure.chains for pair in zip(heads[1:], heads, strict=False)]


def _next(structure):
    return [pair for heads in structure.chains for pair in zip(heads, heads[1:], strict=False)]


def _narrative_arguments(structure):
    """An argument and each predicate that has an argument of the same chain."""
    chains_of, predicates = collections.defaultdict(list), collections.defaultdict(list)
    for number, head in structure.mentions.tolist():
        chains_of[head].append(number)
    # Whoever is in no chain corefers with itself.
    chain_ids = {
        token: chains_of.get(token, [-1 - token]) for _, token in structure.arguments.tolist()
    }
    for predicate, argument in structure.arguments.tolist():
        for chain in chain_ids[argument]:
            predicates[chain].append(predicate)
    return [
        (argument, predicate)
        for argument, chains in chain_ids.items()
        for chain in chains
        for predicate in predicates[chain]
    ]


def _both_ways(pairs):
    return [*pairs, *((b, a) for a, b in pairs)]


SIGNALS = {
    "dependency": _dependencies,
    "coref_all": _all,
    "coref_previous": _previous,
    "coref_next": _next,
    "narrative": lambda structure: _both_ways(_narrative_arguments(structure)),
    "narrative_arguments": _narrative_arguments,
    "roles": lambda structure: _both_ways(structure.arguments.tolist()),
}


def check_signal(signal):
    """Refuses the name of no signal.

    Raises:
        ValueError: naming those that there are.
    """
    if signal not in SIGNALS:
        raise ValueError(f"There is no signal {signal!r}; choose one of {', '.join(SIGNALS)}.")


def attention_pairs(annotation, signal):
    """Pairs of tokens of which the first should attend to the second.

    | signal | in the paper | pairs |
    |---|---|---|
    | `dependency` | DEPPARSE | every token but roots, and its syntactic head |
    | `coref_all` | COREFALL | a mention head, and every other one of its chain |
    | `coref_previous`, `coref_next` | COREFPREV, COREFNEXT | the nearest one before or behind |
    | `narrative` | NARRATIVE | an argument, and every predicate that has an argument of the same \
    chain; both ways |
    | `narrative_arguments` | | the same, from the argument alone |
    | `roles` | (its future work) | a predicate and its argument; both ways |

    Args:
        annotation: an `Annotation`, or the `Structure` of one.
        signal: name of a signal.

    Returns:
        int32 array `(N, 2)` of 1-based positions, sorted, each pair once.

    Raises:
        ValueError: if there is no such signal.

    Reference: [Cheng and Erk, AAAI 2020](https://arxiv.org/abs/1911.04361).
    """
    check_signal(signal)
    known = isinstance(annotation, Annotation)
    structure = Structure.of(annotation) if known else annotation
    pairs = sorted({tuple(pair) for pair in SIGNALS[signal](structure)})
    return np.array(pairs, "int32").reshape(-1, 2) + 1
