"""Padded arrays of ids."""

from collections.abc import Sequence

import numpy as np


def pad(
    arrays: Sequence, width: int, count: int | None = None, inner: tuple[int, ...] = ()
) -> np.ndarray:
    """Stacks arrays of different lengths, padded with zeros at the end.

    Args:
        arrays: arrays `(n, *inner)` with n of at most `width`.
        width: length of each row.
        count: number of rows, those beyond the arrays zero; `None` for one an array.
        inner: further dimensions of each array.

    Returns:
        int32 array `(count, width, *inner)`.

    Raises:
        ValueError: if an array is longer than `width`.

    Example:
        >>> keras_corefmem.preprocessing.pad([[1, 2], [3]], 3)
        array([[1, 2, 0],
               [3, 0, 0]], dtype=int32)
    """
    result = np.zeros((len(arrays) if count is None else count, width, *inner), "int32")
    for row, array in zip(result, arrays, strict=count is None):
        row[: len(array)] = array
    return result


def check_ids(name: str, ids: np.ndarray, count: int) -> None:
    """Raises a ValueError, with feature, row and number, for ids outside 0 to `count - 1`."""
    outside = np.argwhere((ids < 0) | (ids >= count))
    if len(outside):
        raise ValueError(
            f"{name} of row {outside[0][0]} holds {ids[tuple(outside[0])]}, which the model does "
            f"not know: numbers go from 0 to {count - 1}. Encode with the model's own preprocessor."
        )
