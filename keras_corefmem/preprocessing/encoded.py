"""Encoded questions about passages."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_corefmem.preprocessing.edge_table import NO_EDGES


def mark_asked(passage: Sequence, question: Sequence) -> np.ndarray:
    """Marks words of a passage with 1 if the question has them too, else with 2: int8 `(T,)`."""
    words = set(question)
    return np.array([1 if word in words else 2 for word in passage], "int8")


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
    # int8 (T,): `mark_asked` of the words, since unknown words share an id; by default of the ids.
    asked: np.ndarray | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.asked is None:
            by_ids = mark_asked(self.passage.tolist(), self.question.tolist())
            object.__setattr__(self, "asked", by_ids)

    def part(self, name: str, values: Any) -> Any:
        """Returns the part for `"passage"` or `"question"` of values for the tokens of both."""
        count = len(self.passage)
        return values[:count] if name == "passage" else values[count:]
