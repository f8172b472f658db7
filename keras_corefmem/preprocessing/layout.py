"""How passage and question follow each other in the sequences that a reader reads."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

ORDERS = {"question_first": ("question", "passage"), "passage_first": ("passage", "question")}
# Either of them, by the ids of each text.
RANDOM, PASSAGE_LEADS = "random", "passage_leads"
ORDERS[RANDOM] = ORDERS["question_first"]


def sequences(joint: bool, order: str) -> list[tuple[str, ...]]:
    """Names the parts of each sequence: passage and question, in order or apart."""
    return [ORDERS[order]] if joint else [(name,) for name in ORDERS[order]]


class Layout:
    """How the parts of a sequence follow each other, in each row of a batch."""

    def __init__(
        self, group: Sequence[str], widths: Mapping[str, Any], leads: Any = None, xp: Any = np
    ) -> None:
        self.group, self.widths, self.leads, self.xp = tuple(group), widths, leads, xp
        # The passage comes first where it leads.
        self.orders = [self.group] if leads is None else [self.group, self.group[::-1]]

    def join(self, parts: Mapping[str, Any]) -> Any:
        """Joins the parts `(batch, time)` of each row."""
        arrays = [
            self.xp.concatenate([parts[name] for name in order], axis=1) for order in self.orders
        ]
        return arrays[0] if self.leads is None else self.xp.where(self.leads, *arrays[::-1])

    def starts(self, count: int) -> dict[str, Any]:
        """Returns the position before each part, in each of the first `count` rows."""
        starts = [self._starts(order) for order in self.orders]
        if self.leads is None:
            return starts[0]
        leads = self.leads[:count, 0]
        return {name: np.where(leads, starts[1][name], starts[0][name]) for name in self.group}

    def _starts(self, order: Sequence[str]) -> dict[str, Any]:
        return {order[0]: 0, **dict.fromkeys(order[1:], self.widths[order[0]])}

    def split(self, array: Any) -> dict[str, Any]:
        """Splits an array `(batch, time of all, …)` into those of the parts."""
        cut = []
        for order in self.orders:
            ends = self._starts(order)
            cut.append({n: array[:, ends[n] : ends[n] + self.widths[n]] for n in order})
        if self.leads is None:
            return cut[0]
        shape = (slice(None), slice(None)) + (None,) * (len(array.shape) - 2)
        leads = self.leads[shape]
        return {name: self.xp.where(leads, cut[1][name], cut[0][name]) for name in self.group}
