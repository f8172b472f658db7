"""Encoded questions about passages."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from keras_corefmem.preprocessing.encoding.edge_table import NO_EDGES


def mark_overlap(
    passage: np.ndarray,
    question: np.ndarray,
    words: Sequence[Sequence[str]] = ((), ()),
    is_unknown: Callable[[np.ndarray], np.ndarray] | None = None,
) -> np.ndarray:
    """Marks ids of a passage with 1 if the question has them too, else with 2: int8 `(T,)`.

    Unknown words share ids, so that those are compared as they are written, by the `words`.
    """
    common = np.isin(passage, question)
    if is_unknown is not None and common.any():
        overlap = set(words[1])
        for place in np.flatnonzero(common & is_unknown(passage)).tolist():
            common[place] = words[0][place] in overlap
    return np.where(common, 1, 2).astype("int8")


@dataclasses.dataclass(frozen=True)
class Encoded:
    """An example as ids."""

    passage: np.ndarray  # int32 (T,)
    question: np.ndarray  # int32 (Q,)
    answer: int  # 0 = unknown.
    source: str = ""
    # int32 (T + Q,): chain of each token of passage and question, 0 = none.
    chain_ids: np.ndarray = dataclasses.field(kw_only=True)
    # int32 (N, 3): see `EdgeTable.encode`.
    edges: np.ndarray = dataclasses.field(default_factory=lambda: NO_EDGES, kw_only=True)
    # The word that each free symbol stands for, or ""; empty if no word is unknown.
    symbols: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)
    # int8 (T,): see `mark_overlap`; by default of the ids alone.
    overlap: np.ndarray | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.overlap is None:
            object.__setattr__(self, "overlap", mark_overlap(self.passage, self.question))

    def part(self, name: str, values: Any) -> Any:
        """Returns the part for `"passage"` or `"question"` of values for the tokens of both."""
        count = len(self.passage)
        return values[:count] if name == "passage" else values[count:]
