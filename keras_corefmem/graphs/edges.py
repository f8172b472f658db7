"""Typed edges between the tokens of a text, and the two directed acyclic graphs they form."""

import dataclasses
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keras_corefmem.graphs.chains import antecedents
from keras_corefmem.utils.deprecation import renamed_arguments

Edge = tuple[int, int, str]
INVERSE, COREFERENCE = "^-1", "coreference"
# Name of the coreference type in version 0.1.
_BEFORE = "coref"


def inverse(edge_type: str) -> str:
    """Returns the name of the inverse of an edge type.

    Args:
        edge_type: name of the type.

    Example:
        >>> keras_corefmem.graphs.inverse("role"), keras_corefmem.graphs.inverse("role^-1")
        ('role^-1', 'role')
    """
    if edge_type.endswith(INVERSE):
        return edge_type.removesuffix(INVERSE)
    return edge_type + INVERSE


def check_edges(edges: Any, place: str = "", length: int | None = None) -> tuple[Edge, ...]:
    """Checks edges and returns them as tuples `(source, target, type)` of 1-based positions.

    Raises:
        ValueError: if one is not an edge, joins a token to itself, or has a position below 1 or
            above the `length` of the text.
    """
    checked = []
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise ValueError(f"{place}edges must be a list of (source, target, type), got {edges!r}.")
    for number, edge in enumerate(edges, 1):
        try:
            source, target, edge_type = edge
            whole = int(source) == source and int(target) == target
        except (OverflowError, TypeError, ValueError):
            whole = False
        if not whole or not isinstance(edge_type, str) or not edge_type:
            wanted = 'must be (source, target, type), such as (3, 17, "married_to")'
            raise ValueError(f"{place}edge {number} {wanted}; got {edge!r:.80}.")
        if source == target:
            raise ValueError(
                f"{place}edge {number}, {(source, target, edge_type)}, is a loop: join two "
                "different tokens."
            )
        if min(source, target) < 1 or length is not None and max(source, target) > length:
            end = (
                ", through the passage and then the question" if length is None else f" to {length}"
            )
            raise ValueError(
                f"{place}edge {number}, {(source, target, edge_type)}, leaves the text: positions "
                f"count from 1{end}."
            )
        checked.append((int(source), int(target), edge_type))
    return tuple(checked)


@dataclasses.dataclass(frozen=True)
class TypedEdges:
    """Typed edges over the tokens of one sequence.

    The sequential edge between neighbours is implied and never listed.

    Args:
        length: number of tokens.
        edges: `(source, target, type)` triples of 1-based positions. Any number of edges may
            enter or leave a token, in either direction. Repeated triples count once.

    Raises:
        ValueError: if one is not an edge, has a position that is not an integer from 1 to `length`,
            or joins a token to itself.

    Reference:
        [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620).

    Example:
        >>> edges = keras_corefmem.graphs.TypedEdges(4, [(1, 3, "role"), (4, 2, "dependency")])
        >>> edges.forward_dag().types
        ('dependency^-1', 'role')
        >>> edges.forward_dag().sources(["role", "dependency^-1"])[2:, :, 0].tolist()
        [[1, 0], [0, 2]]
    """

    length: int
    edges: Sequence[tuple[int, int, str]] = ()

    def __post_init__(self) -> None:
        edges = set(check_edges(self.edges, length=self.length))
        object.__setattr__(self, "edges", tuple(sorted(edges)))

    @classmethod
    def from_chains(cls, chains: ArrayLike, type: str = COREFERENCE) -> "TypedEdges":
        """Joins every mention to the previous mention of the same entity.

        Args:
            chains: int array of shape `(T,)`, the chain of each token, 0 = none.
            type: name of the edge type.

        Returns:
            The edges of a sequence of length `T`.
        """
        sources = antecedents(chains)
        targets = np.flatnonzero(sources)
        return cls(len(sources), tuple((int(sources[t]), int(t) + 1, type) for t in targets))

    @property
    def types(self) -> tuple[str, ...]:
        """The edge types that occur, sorted."""
        return tuple(sorted({edge_type for _, _, edge_type in self.edges}))

    def forward_dag(self) -> "TypedEdges":
        """Orients every edge from left to right.

        An edge whose source comes after its target is reversed and gets the inverse type.
        """
        return self._oriented(forward=True)

    def backward_dag(self) -> "TypedEdges":
        """Orients every edge from right to left: the forward graph with every edge inverted."""
        return self._oriented(forward=False)

    def _oriented(self, forward: bool) -> "TypedEdges":
        edges = (
            edge if (edge[0] < edge[1]) == forward else (edge[1], edge[0], inverse(edge[2]))
            for edge in self.edges
        )
        return TypedEdges(self.length, tuple(edges))

    def sources(self, types: Sequence[str], max_sources: int | None = None) -> np.ndarray:
        """Tabulates the incoming edges of every token.

        Args:
            types: sequence of `E` different edge types, one column each; others are left out.
            max_sources: `K`, the maximum number of sources per token and type, of which the
                nearest are kept; `None` keeps all.

        Returns:
            int32 array of shape `(T, E, K)` of source positions, nearest first, 0 = none. For
            the `sources` input of `MAGEGRU` and `DAGRNN`, call it on `forward_dag()`.

        Raises:
            ValueError: if there are edges of these types in both directions, or `types` is one
                string or repeats a type.
        """
        if isinstance(types, str):
            raise ValueError(f"`types` is one string, pass a list of types: [{types!r}].")
        # Before Python 3.12, a comprehension would add a frame and shift the warning's stacklevel.
        renamed = list(map(self._renamed, types))
        columns = {edge_type: column for column, edge_type in enumerate(renamed)}
        if len(columns) < len(renamed):
            raise ValueError(f"`types` repeats a type, name each once: {', '.join(renamed)}.")
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
        for (target, column), positions in incoming.items():
            nearest = sorted(positions, key=lambda source: abs(target - source))[:max_sources]
            table[target - 1, column, : len(nearest)] = nearest
        return table

    def _renamed(self, edge_type: str) -> str:
        """Returns the current name of a type, unless there are edges of the old one."""
        if edge_type.removesuffix(INVERSE) != _BEFORE or edge_type in self.types:
            return edge_type
        warnings.warn(
            f"The edge type {_BEFORE} is now {COREFERENCE}.", DeprecationWarning, stacklevel=3
        )
        return edge_type.replace(_BEFORE, COREFERENCE)


@renamed_arguments(entities="chains")
def join(
    sequences: Sequence[TypedEdges],
    order: Sequence[int] | str,
    chains: Sequence[ArrayLike] | None = None,
    type: str = COREFERENCE,
    seed: int | None = None,
) -> tuple[TypedEdges, list[int]]:
    """Concatenates several sequences, such as a passage and its question.

    Args:
        sequences: the edges of each sequence.
        order: the sequences' indices in reading order, such as `(1, 0)`, or `"random"`.
        chains: optional list of int arrays of shape `(T_i,)`, the chain of each token, with the
            same numbering in all sequences. The mentions of a chain are then joined across
            sequences.
        type: name of the edge type of those chains.
        seed: seed of the random order.

    Returns:
        The joined edges, and the offset that was added to the positions of each sequence.

    Raises:
        ValueError: if `order` is not a permutation, or `chains` do not have the lengths of the
            sequences.

    Example:
        >>> question, passage = map(keras_corefmem.graphs.TypedEdges.from_chains, ([0, 1], [1, 1]))
        >>> edges, offsets = keras_corefmem.graphs.join([question, passage], (1, 0))
        >>> edges.length, edges.edges, offsets
        (4, ((1, 2, 'coreference'),), [2, 0])
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
        lengths, numbered = [s.length for s in sequences], [len(np.asarray(c)) for c in chains]
        if numbered != lengths:
            raise ValueError(
                "`chains` must hold one number per token: expected lengths "
                f"{lengths}, got {numbered}."
            )
        edges += TypedEdges.from_chains(np.concatenate([chains[i] for i in order]), type).edges
    return TypedEdges(length, tuple(edges)), offsets
