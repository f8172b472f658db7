"""Typed edges of examples as the sources of each token."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keras_corefmem.datasets.example import Example
from keras_corefmem.graphs.edge_types import EDGE_TYPES, base_type, check_edge_types, edges_of
from keras_corefmem.graphs.edges import COREFERENCE, INVERSE, inverse
from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.names import did_you_mean

# Numbers of sources of a type per token to choose from, and the share of the edges that the chosen
# one has to keep.
SOURCES, KEPT = (1, 2, 4), 0.99
PARTS = "passage", "question"
NO_EDGES = np.zeros((0, 3), "int32")


def warn_of_unread_edges(
    examples: Sequence[Example], types: Sequence[str] = (), stacklevel: int = 4
) -> None:
    """Warns if examples have edges of types that a model does not read."""
    present = {base_type(edge_type) for example in examples for *_, edge_type in example.edges}
    if unread := sorted(present.difference(map(base_type, types))):
        hint = "".join(did_you_mean(name, types) for name in unread)
        warnings.warn(
            f"The examples have edges of types that the model does not read: {', '.join(unread)}."
            f'{hint} Name them in edge_types of a reader with encoder="mage_gru".',
            stacklevel=stacklevel,
        )


class EdgeTable:
    """Table of the edge types that a reader reads, with the column of its sources for each.

    An edge whose source is read after its target is reversed. It goes to the column of its inverse
    type `TYPE^-1` or, if that is not among the types, to that of its own type.
    """

    def __init__(self, types: Sequence[str], max_sources: int, is_strict: bool = False) -> None:
        self.types = check_edge_types(types)
        self.limit(max_sources)
        self.bases = list(dict.fromkeys(map(base_type, self.types)))
        # If the user chose no types, edges of other types are ignored.
        self.is_strict = is_strict or self.types != [COREFERENCE]
        self._has_warned = False
        columns = {edge_type: column for column, edge_type in enumerate(self.types)}
        pairs = ((base, inverse(base)) for base in self.bases)
        self.columns = np.array(
            [[columns.get(a, columns.get(b)), columns.get(b, columns.get(a))] for a, b in pairs]
        )

    def limit(self, max_sources: int) -> None:
        """Sets the maximum number of edges of one type into a token."""
        check_sizes(max_sources=max_sources)
        self.max_sources = max_sources

    def warn_of_edges_across(self, example: Example, passage: int) -> None:
        """Warns once about edges between passage and question, which are read separately."""
        for number, (source, target, edge_type) in enumerate(example.edges, 1):
            read = base_type(edge_type) in self.bases
            if read and (source <= passage) != (target <= passage) and not self._has_warned:
                self._has_warned = True
                warnings.warn(
                    f"{self._named(example, number)} joins passage and question, which this reader "
                    "reads apart: it leaves such edges out. Give joint=True to a reader that can "
                    "read them as one sequence.",
                    stacklevel=4,
                )

    @staticmethod
    def _named(example: Example, number: int) -> str:
        start = f"{example.source}: " if example.source else ""
        return f"{start}edge {number}, {tuple(example.edges[number - 1])},"

    def column(self, base: str | None) -> int | None:
        """Returns the column of the edges of a type in reading order, `None` if it is not read."""
        return int(self.columns[self.bases.index(base), 0]) if base in self.bases else None

    def encode(self, example: Example, tokens: int) -> np.ndarray:
        """Encodes the edges of an example that has `tokens` tokens.

        Returns:
            int32 array `(N, 3)`: source and target, as 1-based positions through passage and then
            question, and the index of the type in `bases`.

        Raises:
            ValueError: if an edge of the example is outside the text or has another type, which is
                ignored if the user chose no types; or the annotation has other tokens.
        """
        edges = [self._number(n, *edge, example, tokens) for n, edge in enumerate(example.edges, 1)]
        own = np.array([edge for edge in edges if edge[2] >= 0], "int32").reshape(-1, 3)
        structure = getattr(example, "structure", None)
        if structure is None:
            return own
        groups = [NO_EDGES]
        present = {*EDGE_TYPES, *structure.edges}
        for number, base in enumerate(self.bases):
            for name, order in ((base, 1), (base + INVERSE, -1)):
                if name in present:
                    pairs = edges_of(structure, name)[:, ::order]
                    groups.append(np.insert(pairs, 2, number, axis=1))
        annotated, count = np.concatenate(groups), len(getattr(example, "chain_ids", ()))
        if len(annotated) and count != tokens:
            raise ValueError(
                f"{example.source or 'An example'} was annotated as {count} tokens, but the reader "
                f'cuts it to {tokens}: give it tokenizer="spaces" and local_answers=True.'
            )
        return np.concatenate([own, annotated])

    def check_known(self, bases: Sequence[str], examples: Sequence[Example]) -> None:
        """Checks that training examples have edges of each of some types."""
        missing: set[str] = set(bases)
        known: set[str] = set()
        for example in examples:
            structure = getattr(example, "structure", None)
            present = {base_type(edge_type) for *_, edge_type in example.edges}
            if structure is not None:
                present |= set(map(base_type, structure.edges))
                present |= {b for b in missing & EDGE_TYPES.keys() if len(edges_of(structure, b))}
            missing, known = missing - present, known | present
            if not missing:
                return
        for name in sorted(missing):
            hint = did_you_mean(name, {*known, *EDGE_TYPES, COREFERENCE} - {name})
            others = ", ".join(sorted(known - {COREFERENCE})) or "none"
            raise ValueError(
                f"No training example has an edge of type {name!r}.{hint} There are {others} "
                f"besides {COREFERENCE}: annotate the examples "
                "(keras_corefmem.datasets.annotate_examples), or give them edges."
            )

    def _number(self, place, source, target, edge_type, example, tokens):
        known = base_type(edge_type) in self.bases
        # If no types were chosen, `fit` has warned about these edges.
        if not known and self.is_strict:
            hint = did_you_mean(edge_type, self.types)
            raise ValueError(
                f"{self._named(example, place)} has a type that the reader does not know.{hint} It "
                f"reads {', '.join(self.types)}: name every type in edge_types."
            )
        if max(source, target) > tokens:
            raise ValueError(
                f"{self._named(example, place)} leaves the text: passage and question have "
                f"{tokens} tokens, count them from 1."
            )
        if edge_type.endswith(INVERSE):
            source, target = target, source
        return source, target, self.bases.index(base_type(edge_type)) if known else -1

    def oriented(
        self, rows: Sequence[Any], group: Sequence[str], starts: Mapping[str, Any]
    ) -> np.ndarray:
        """Converts the edges of encoded examples to positions in one sequence.

        Args:
            rows: the encoded examples.
            group: parts of the sequence; edges to other parts are left out.
            starts: position before the first token of each part, an integer or one for each row.

        Returns:
            int64 array `(N, 4)`: row, earlier token, later token, column.
        """
        counts = [len(row.edges) for row in rows]
        edges = np.concatenate([NO_EDGES, *(row.edges for row in rows)]).astype("int64")
        number = np.repeat(np.arange(len(rows)), counts)
        passage = np.array([len(row.passage) for row in rows], "int64")[number]
        begin = {part: np.broadcast_to(starts.get(part, 0), len(rows))[number] for part in PARTS}
        places, inside = [], np.ones(len(edges), bool)
        for position in edges.T[:2]:
            in_question = position > passage
            inside &= np.where(in_question, "question" in group, "passage" in group)
            shift = np.where(in_question, begin["question"] - passage, begin["passage"])
            places.append(position + shift)
        source, target = places
        columns = self.columns[edges[:, 2], (source > target).astype(int)]
        ends = np.minimum(source, target), np.maximum(source, target)
        return np.stack([number, *ends, columns], axis=1)[inside]

    def sources(self, edges: np.ndarray, count: int, time: int) -> np.ndarray:
        """Tabulates distinct edges `(N, 4)` as int32 `(count, time, types, max_sources)`.

        If more than `max_sources` edges of a type enter a token, the nearest ones are kept.
        """
        table = np.zeros((count * time * len(self.types), self.max_sources), "int32")
        row, source, target, column = edges.T
        cell = (row * time + target - 1) * len(self.types) + column
        # Sorted by cell and then by distance; NumPy's `unique` takes several times as long.
        keys = np.sort(cell * (time + 1) + target - source)
        keys = keys[np.diff(keys, prepend=-1) > 0]
        cell, distance = np.divmod(keys, time + 1)
        number = np.arange(len(cell))
        rank = number - np.maximum.accumulate(np.where(np.diff(cell, prepend=-1), number, 0))
        kept = rank < self.max_sources
        target = cell // len(self.types) % time + 1
        table[cell[kept], rank[kept]] = (target - distance)[kept]
        return table.reshape(count, time, len(self.types), self.max_sources)

    def of_chains(self, antecedents: Any, types: Any, xp: Any) -> Any:
        """Makes sources from antecedents, as edges of coreference and of the words' types."""
        if len(self.types) == self.max_sources == 1 and COREFERENCE in self.types:
            return antecedents[..., None, None]
        numbers = np.arange(len(self.types), dtype="int32")
        chosen = numbers == self.column(COREFERENCE)
        if types is not None:
            chosen = chosen | (types[..., None] == numbers + 1)
        first = np.arange(self.max_sources) == 0
        sources = xp.where(chosen, antecedents[..., None], 0)
        return xp.asarray(xp.where(first, sources[..., None], 0), dtype="int32")

    def with_chains(self, edges: np.ndarray, sources: np.ndarray) -> dict[str, np.ndarray]:
        """Merges edges into the sources of chains; returns the new sources and antecedents."""
        count, time = sources.shape[:2]
        row, token, column, rank = np.nonzero(sources)
        chained = np.stack([row, sources[row, token, column, rank], token + 1, column], axis=1)
        sources = self.sources(np.concatenate([edges, chained]), count, time)
        own = self.column(COREFERENCE)
        nearest = {} if own is None else {"antecedents": sources[:, :, own, 0]}
        return {"sources": sources, **nearest}

    @staticmethod
    def room(counts: np.ndarray) -> int:
        """Returns the least of `SOURCES` that keeps nearly all edges, given their count per cell.

        Warns if none of them does.
        """
        if not len(counts):
            return SOURCES[0]
        shares = {count: np.minimum(counts, count).sum() / counts.sum() for count in SOURCES}
        if enough := [count for count, share in shares.items() if share >= KEPT]:
            return enough[0]
        warnings.warn(
            f"{1 - shares[SOURCES[-1]]:.0%} of the edges are left out: of one type, the "
            f"{SOURCES[-1]} nearest into a token are read, though up to {counts.max()} were seen. "
            "Give max_sources to read more.",
            stacklevel=4,
        )
        return SOURCES[-1]
