"""Order of passage and question in the sequences that a reader reads."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

ORDERS = {"question_first": ("question", "passage"), "passage_first": ("passage", "question")}
# Either order, chosen by the ids of each text.
RANDOM, PASSAGE_LEADS = "random", "passage_leads"
ORDERS[RANDOM] = ORDERS["question_first"]


def sequences(joint: bool, order: str) -> list[tuple[str, ...]]:
    """Returns the parts of each sequence: passage and question, together in order or apart."""
    return [ORDERS[order]] if joint else [(name,) for name in ORDERS[order]]


def passage_leads(total: Any) -> Any:
    """Returns whether the passage comes first in random order, given the sum of a text's ids."""
    return total % 2 == 1


class Layout:
    """Order of the parts of a sequence in each row of a batch."""

    def __init__(
        self, group: Sequence[str], widths: Mapping[str, Any], leads: Any = None, xp: Any = np
    ) -> None:
        self.group, self.widths, self.leads, self.xp = tuple(group), widths, leads, xp
        # The second order is for rows where the passage leads.
        self.orders = [self.group] if leads is None else [self.group, self.group[::-1]]

    def choose(self, arrays: Sequence[Any]) -> Any:
        """Takes each row from the array of its order, among one `(batch, time, …)` per order."""
        if self.leads is None:
            return arrays[0]
        shape = (slice(None), slice(None)) + (None,) * (len(arrays[0].shape) - 2)
        return self.xp.where(self.leads[shape], arrays[1], arrays[0])

    def join(self, parts: Mapping[str, Any]) -> Any:
        """Concatenates the parts `(batch, time, …)` of each row in its order."""
        return self.choose(
            [self.xp.concatenate([parts[name] for name in order], axis=1) for order in self.orders]
        )

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
        """Splits an array `(batch, time of all, …)` into one array for each part."""
        cut = []
        for order in self.orders:
            ends = self._starts(order)
            cut.append({n: array[:, ends[n] : ends[n] + self.widths[n]] for n in order})
        return {name: self.choose([parts[name] for parts in cut]) for name in self.group}


def layouts_of(rows: Sequence[Any], joint: bool, order: str) -> list[Layout]:
    """Returns the layout of encoded examples in each sequence that a reader reads."""
    lengths = {name: np.array([len(getattr(row, name)) for row in rows]) for name in ORDERS[order]}
    leads = None
    if joint and order == RANDOM:
        totals = [int(row.passage.sum() + row.question.sum()) for row in rows]
        leads = passage_leads(np.array(totals)[:, None])
    return [Layout(group, lengths, leads) for group in sequences(joint, order)]
