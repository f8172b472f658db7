"""Encoded questions about passages."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_corefmem.preprocessing.edge_table import NO_EDGES


def mark_asked(passage: Sequence, question: Sequence) -> np.ndarray:
    """Returns 1 for each word of a passage that its question has too, 2 for others, int8 `(T,)`."""
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
    # The word that each of the free symbols is, "" for none; empty where no word is unknown.
    symbols: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)
    # int8 (T,): see `mark_asked`, of the words, of which unknown ones have one id; or of the ids.
    asked: np.ndarray | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.asked is None:
            by_ids = mark_asked(self.passage.tolist(), self.question.tolist())
            object.__setattr__(self, "asked", by_ids)

    def part(self, name: str, values: Any) -> Any:
        """Returns the values of the tokens of `"passage"` or `"question"`, of those of both."""
        count = len(self.passage)
        return values[:count] if name == "passage" else values[count:]
