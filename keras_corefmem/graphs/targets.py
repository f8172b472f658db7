"""Targets for supervised attention: pairs of tokens for each linguistic signal."""

import collections
import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.graphs.predicate_arguments import predicate_arguments


@dataclasses.dataclass(frozen=True, eq=False)
class Structure:
    """The parts of an annotation that attention signals and typed edges are made from.

    It is small enough to keep for every text of a corpus. Tokens are numbered from 0.

    Args:
        governors: int32 array of shape `(T,)`, the token that each token depends on, itself for a
            root; empty if the text was not parsed.
        mentions: int32 array of shape `(M, 2)`, chain and head token of each mention, sorted.
        arguments: int32 array of shape `(A, 2)`, pairs of predicate and argument.
        edges: dictionary from each type of the annotation's `typed_edges` to an int32 array of
            shape `(N, 2)`, pairs of source and target.

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["So Mary slept, and Mary snored."])
        >>> structure = keras_corefmem.graphs.Structure.of(annotation)
        >>> structure.chains
        [[1, 5]]
    """

    governors: np.ndarray
    mentions: np.ndarray
    arguments: np.ndarray
    edges: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, annotation: Annotation) -> "Structure":
        """Returns the structure of an annotation."""
        mentions = {
            (number, mention.head)
            for number, chain in enumerate(annotation.chains)
            for mention in chain
        }
        edges = collections.defaultdict(list)
        for source, target, edge_type in annotation.typed_edges:
            edges[edge_type].append((source - 1, target - 1))
        return cls(
            np.array(annotation.governors, "int32"),
            _pairs(sorted(mentions)),
            _pairs(predicate_arguments(annotation)),
            {edge_type: _pairs(pairs) for edge_type, pairs in edges.items()},
        )

    @classmethod
    def of_chains(cls, chains: Sequence[int]) -> "Structure":
        """Returns a structure that has only chains, from the chain of each token, 0 = none."""
        mentions = sorted((chain, token) for token, chain in enumerate(chains) if chain)
        return cls(np.array([], "int32"), _pairs(mentions), _pairs([]))

    def before(self, end: int) -> "Structure":
        """Returns the structure of only the tokens before `end`."""
        return self.without(end, np.iinfo("int32").max)

    def without(self, start: int, end: int) -> "Structure":
        """Returns the structure without the tokens from `start` up to, but excluding, `end`.

        The tokens from `end` on are renumbered from `start`.
        """

        def moved(places: np.ndarray) -> np.ndarray:
            return np.where(places < start, places, places - end + start).astype("int32")

        def inside(pairs: np.ndarray) -> np.ndarray:
            return moved(pairs[((pairs < start) | (pairs >= end)).all(axis=1)])

        own, governors = np.arange(len(self.governors)), self.governors
        # A token whose governor is left out becomes a root.
        governors = np.where((start <= governors) & (governors < end), own, governors)
        numbers, heads = self.mentions.T
        kept = (heads < start) | (heads >= end)
        return Structure(
            moved(np.concatenate([governors[:start], governors[end:]])),
            np.stack([numbers[kept], moved(heads[kept])], axis=1),
            inside(self.arguments),
            {edge_type: inside(pairs) for edge_type, pairs in self.edges.items()},
        )

    def followed_by(self, other: "Structure", tokens: int) -> "Structure":
        """Appends another structure to this one of `tokens` tokens, keeping their chains apart."""
        governors = self.governors
        if len(other.governors):
            own = governors if len(governors) else np.arange(tokens, dtype="int32")
            governors = np.concatenate([own, other.governors + tokens])
        first = 1 + max(self.mentions[:, 0], default=-1)
        mentions = other.mentions + np.array([first, tokens], "int32")
        none = _pairs([])
        edges = {
            edge_type: np.concatenate(
                [self.edges.get(edge_type, none), other.edges.get(edge_type, none) + tokens]
            )
            for edge_type in (*self.edges, *other.edges)
        }
        return Structure(
            governors,
            np.concatenate([self.mentions, mentions]).astype("int32"),
            np.concatenate([self.arguments, other.arguments + tokens]),
            edges,
        )

    def reordered(self, old: np.ndarray, new: np.ndarray) -> "Structure":
        """Returns the structure of the tokens in another order.

        `old[i]` is the old place of the token that is now at `i`, and `new` is the inverse. Tokens
        after those of the structure must keep their places.
        """
        governors = new[self.governors[old[: len(self.governors)]]].astype("int32")
        mentions = np.stack([self.mentions[:, 0], new[self.mentions[:, 1]]], axis=1)
        order = np.lexsort((mentions[:, 1], mentions[:, 0]))
        edges = {edge_type: _pairs(new[pairs]) for edge_type, pairs in self.edges.items()}
        return Structure(governors, _pairs(mentions[order]), _pairs(new[self.arguments]), edges)

    @property
    def chains(self) -> list[list[int]]:
        """The head tokens of each chain, in the order of the text."""
        groups = itertools.groupby(self.mentions.tolist(), lambda mention: mention[0])
        return [[head for _, head in mentions] for _, mentions in groups]


def _pairs(rows):
    return np.array(rows, "int32").reshape(-1, 2)


def _next(structure):
    return [pair for heads in structure.chains for pair in itertools.pairwise(heads)]


def narrative_arguments(structure: Structure) -> list[tuple[int, int]]:
    """Pairs every argument with each predicate that has an argument in the same chain."""
    chains_of, predicates = collections.defaultdict(list), collections.defaultdict(list)
    for number, head in structure.mentions.tolist():
        chains_of[head].append(number)
    # An argument outside any chain corefers only with itself.
    shared = [
        (predicate, argument, chain)
        for predicate, argument in structure.arguments.tolist()
        for chain in chains_of.get(argument, [-1 - argument])
    ]
    for predicate, _, chain in shared:
        predicates[chain].append(predicate)
    return [(argument, p) for _, argument, chain in shared for p in predicates[chain]]


def _swapped(pairs):
    return [(b, a) for a, b in pairs]


def _both_ways(pairs):
    return [*pairs, *_swapped(pairs)]


SIGNALS = {
    "dependency": lambda structure: [
        (token, g) for token, g in enumerate(structure.governors.tolist()) if g != token
    ],
    "coref_all": lambda structure: [
        pair for heads in structure.chains for pair in itertools.permutations(heads, 2)
    ],
    "coref_previous": lambda structure: _swapped(_next(structure)),
    "coref_next": _next,
    "narrative": lambda structure: _both_ways(narrative_arguments(structure)),
    "narrative_arguments": narrative_arguments,
    "roles": lambda structure: _both_ways(structure.arguments.tolist()),
}


def check_signal(signal: str) -> None:
    """Raises a `ValueError` if there is no signal of that name."""
    if signal not in SIGNALS:
        raise ValueError(f"There is no signal {signal!r}; choose one of {', '.join(SIGNALS)}.")


def attention_pairs(annotation: Annotation | Structure, signal: str) -> np.ndarray:
    """Returns the pairs of tokens of which the first should attend to the second.

    | signal | in the paper | pairs |
    |---|---|---|
    | `dependency` | DEPPARSE | every token except roots, and its governor |
    | `coref_all` | COREFALL | a mention head, and every other one of its chain |
    | `coref_previous`, `coref_next` | COREFPREV, COREFNEXT | a mention head, and the previous or \
    next one of its chain |
    | `narrative` | NARRATIVE | an argument, and every predicate that has an argument in the same \
    chain; both ways |
    | `narrative_arguments` | | the same, but only from the argument to the predicate |
    | `roles` | (its future work) | a predicate and its argument; both ways |

    Args:
        annotation: the annotated text, or its `Structure`.
        signal: name of a signal.

    Returns:
        int32 array of shape `(N, 2)` of 1-based positions, sorted and without duplicates.

    Raises:
        ValueError: if there is no such signal.

    Reference:
        [Cheng and Erk, AAAI 2020](https://arxiv.org/abs/1911.04361).

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["So Mary slept, and Mary snored."])
        >>> keras_corefmem.graphs.attention_pairs(annotation, "coref_previous").tolist()
        [[6, 2]]
    """
    check_signal(signal)
    structure = annotation if isinstance(annotation, Structure) else Structure.of(annotation)
    return _pairs(sorted({tuple(pair) for pair in SIGNALS[signal](structure)})) + 1
