"""Typed edges between the tokens of a text, and the two directed acyclic graphs they form."""

import dataclasses
from collections import defaultdict

import numpy as np

from keras_corefmem.graphs.chains import antecedents

_INVERSE = "^-1"


def inverse(edge_type):
    """Name of an edge type read backwards: `"coref"` and `"coref^-1"` name each other."""
    if edge_type.endswith(_INVERSE):
        return edge_type.removesuffix(_INVERSE)
    return edge_type + _INVERSE


@dataclasses.dataclass(frozen=True)
class TypedEdges:
    """Typed edges over the tokens of one sequence.

    The graph of Dhingra et al. (2017), "Linguistic Knowledge as Memory for Recurrent Neural
    Networks". The sequential edge between neighbours is implied and never listed.

    Args:
        length: number of tokens.
        edges: `(source, target, type)` triples of 1-based positions. Any number of edges may
            enter or leave a token, in either direction. Repeated triples count once.

    Raises:
        ValueError: if a position lies outside 1 to `length` or an edge is a loop.
    """

    length: int
    edges: tuple = ()

    def __post_init__(self):
        for source, target, edge_type in self.edges:
            if not (1 <= source <= self.length and 1 <= target <= self.length):
                raise ValueError(
                    f"Edge ({source}, {target}, {edge_type!r}) leaves the sequence: positions "
                    f"are 1-based and at most {self.length} here."
                )
            if source == target:
                raise ValueError(
                    f"Edge ({source}, {target}, {edge_type!r}) is a loop: an edge must join two "
                    "different tokens."
                )
        edges = {(int(source), int(target), edge_type) for source, target, edge_type in self.edges}
        object.__setattr__(self, "edges", tuple(sorted(edges)))

    @classmethod
    def from_chains(cls, chains, type="coref"):
        """Joins every mention to the previous mention of the same entity.

        Args:
            chains: int array of shape `(T,)`, the chain of each token, 0 = none.
            type: name of the edge type.

        Returns:
            `TypedEdges` of length `T`.
        """
        sources = antecedents(chains)
        targets = np.flatnonzero(sources)
        return cls(len(sources), tuple((sources[t], t + 1, type) for t in targets))

    @property
    def types(self):
        """Sorted tuple of the edge types that occur."""
        return tuple(sorted({edge_type for _, _, edge_type in self.edges}))

    def forward_dag(self):
        """Every edge read from left to right.

        An edge whose source lies later enters the other way round under its inverse type.
        """
        return self._oriented(lambda source, target: source < target)

    def backward_dag(self):
        """Every edge read from right to left: the forward graph with each edge inverted."""
        return self._oriented(lambda source, target: source > target)

    def _oriented(self, keeps):
        edges = (
            (source, target, edge_type)
            if keeps(source, target)
            else (target, source, inverse(edge_type))
            for source, target, edge_type in self.edges
        )
        return TypedEdges(self.length, tuple(edges))

    def sources(self, types, max_sources=None):
        """Tabulates the incoming edges of every token.

        Args:
            types: sequence of `E` edge types, one column each; other types are left out.
            max_sources: `K`, at most so many sources per token and type, the nearest ones;
                `None` takes as many as the busiest token has.

        Returns:
            int32 array of shape `(T, E, K)` of source positions, nearest first, 0 = none. For
            the `sources` that `MAGEGRU` and `DAGRNN` read, call it on `forward_dag()`.

        Raises:
            ValueError: if there are edges of these types in both directions.
        """
        columns = {edge_type: column for column, edge_type in enumerate(types)}
        incoming = defaultdict(list)
        chosen = [edge for edge in self.edges if edge[2] in columns]
        if len({source < target for source, target, _ in chosen}) > 1:
            raise ValueError(
                "Edges point forward and backward: call `sources` on `forward_dag()`, or on "
                "`backward_dag()` for a reader from right to left."
            )
        for source, target, edge_type in chosen:
            incoming[target, columns[edge_type]].append(source)
        if max_sources is None:
            max_sources = max(map(len, incoming.values()), default=1)
        table = np.zeros((self.length, len(columns), max_sources), "int32")
        for (target, column), found in incoming.items():
            found = sorted(found, key=lambda source: abs(target - source))[:max_sources]
            table[target - 1, column, : len(found)] = found
        return table


def join(sequences, order, chains=None, type="coref", seed=None):
    """Lays several sequences (a passage and its question) end to end as one.

    Args:
        sequences: list of `TypedEdges`, one per sequence.
        order: the sequences' indices in reading order, such as `(1, 0)`, or `"random"`.
        chains: optional list of int arrays of shape `(T_i,)`, numbered alike in all sequences:
            chains then run on across the borders.
        type: edge type of those chains.
        seed: seed of the random order.

    Returns:
        The joined `TypedEdges`, and the list of offsets that were added to the positions of each
        sequence (listed as `sequences` are).

    Raises:
        ValueError: if `order` is no permutation, or `chains` do not fit the sequences.
    """
    if isinstance(order, str) and order == "random":
        order = np.random.default_rng(seed).permutation(len(sequences)).tolist()
    if isinstance(order, str) or sorted(order) != list(range(len(sequences))):
        raise ValueError(
            f"`order` must be 'random' or an order of the indices 0 to {len(sequences) - 1}; "
            f"got {order!r}."
        )
    offsets, length = [0] * len(sequences), 0
    for index in order:
        offsets[index] = length
        length += sequences[index].length
    edges = [
        (source + offset, target + offset, edge_type)
        for sequence, offset in zip(sequences, offsets, strict=True)
        for source, target, edge_type in sequence.edges
    ]
    if chains is not None:
        lengths = [sequence.length for sequence in sequences]
        if [len(numbers) for numbers in chains] != lengths:
            raise ValueError(
                f"`chains` must hold one number per token: expected lengths {lengths}, got "
                f"{[len(numbers) for numbers in chains]}."
            )
        edges += TypedEdges.from_chains(np.concatenate([chains[i] for i in order]), type).edges
    return TypedEdges(length, tuple(edges)), offsets
