"""Number of units of each edge type, from the `edge_units` argument of models."""

from collections.abc import Sequence
from typing import Any


def edge_widths(types: Sequence[str], units: Any) -> list[Any]:
    """Returns the units of each edge type: one number for all, or a sequence of them."""
    return list(units) if isinstance(units, list | tuple) else [units] * len(types)
