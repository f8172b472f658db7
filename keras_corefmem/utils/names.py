"""Names as users write them."""

import difflib
import re
from collections.abc import Iterable


def close_names(name: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Returns the known names closest to a misspelt one, whatever its case, `-` or `_`."""
    folded = {_fold(each): each for each in known}
    return [folded[key] for key in difflib.get_close_matches(_fold(name), folded, count)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns `" Did you mean 'units'?"` to end an error, or `""` if no known name is close."""
    return "".join(f" Did you mean {each!r}?" for each in close_names(name, known))


def in_natural_order(names: Iterable[str]) -> list[str]:
    """Sorts names, comparing the numbers in them as numbers."""
    return sorted(names, key=natural_key)


def natural_key(name: str) -> tuple[list[tuple[str, int]], str]:
    """Returns a key that sorts names with the numbers in them by value."""
    parts = re.findall(r"(\D*)(\d*)", name)
    return [(word, int(number or 0)) for word, number in parts], name


def _fold(name: str) -> str:
    return name.lower().replace("-", "_")
