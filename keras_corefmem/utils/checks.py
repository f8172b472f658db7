"""Checks of sizes, lists, shares, shapes, characters, and edge positions (1-based, 0 = none)."""

import numbers
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike


def check_sizes(least: int = 1, where: str = "", /, **sizes: object) -> None:
    """Checks that sizes are integers of at least `least`."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, numbers.Integral) or size < least:
            raise ValueError(f"{name} must be an integer of at least {least}{where}, got {size!r}.")


def check_listed(**lists: object) -> None:
    """Checks that lists of strings are not one string, whose characters would be taken for them."""
    for name, value in lists.items():
        if isinstance(value, str):
            raise ValueError(f"`{name}` is one string, pass a list of {name}: {value!r:.80}.")


def check_characters(name: str, text: str) -> None:
    """Checks that a text has no lone surrogates, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} has half of a surrogate pair at character {error.start}, "
            f"{text[error.start]!r}: decode the text anew, or leave the character out."
        ) from None


def _is_number(value: object) -> TypeGuard[numbers.Real]:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_shares(**shares: object) -> None:
    """Checks that shares are numbers from 0 to 1."""
    for name, share in shares.items():
        if not (_is_number(share) and 0 <= float(share) <= 1):
            raise ValueError(f"{name} must be a number from 0 to 1, got {share!r}.")


def check_positive(**values: object) -> None:
    """Checks that values are positive numbers."""
    for name, value in values.items():
        if not (_is_number(value) and 0 < float(value) < np.inf):
            raise ValueError(f"{name} must be a positive number, got {value!r}.")


def shapes_agree(*shapes: tuple) -> bool:
    """Returns whether shapes have the same rank, and the same lengths where these are known."""
    known = [set(sizes) - {None} for sizes in zip(*shapes, strict=False)]
    return len(set(map(len, shapes))) == 1 and all(len(sizes) < 2 for sizes in known)


def check_shape(name: str, tensor: Any, **axes: int | None) -> None:
    """Checks the shape of a tensor, if there is one, against lengths of axes, `None` if unknown."""
    if tensor is None:
        return
    shape = tuple(tensor.shape)
    if not shapes_agree(shape, tuple(axes.values())):
        wanted = ", ".join(a if n is None else f"{a} {n}" for a, n in axes.items())
        raise ValueError(f"{name} must be ({wanted}), got shape {shape}.")


def check_antecedents(antecedents: ArrayLike) -> None:
    """Checks that antecedents lie before their token.

    Args:
        antecedents: int array of shape `(T,)` or `(B, T)`, 1-based positions, 0 = none.

    Raises:
        ValueError: naming the example and position where an antecedent points forward, to its
            own token, or out of range; or if the shape is another.

    Example:
        >>> keras_corefmem.graphs.check_antecedents([0, 0, 1, 3])
    """
    check_positions(_batch_of("antecedents", antecedents, 2), "Antecedent")


def check_sources(sources: ArrayLike) -> None:
    """Checks that the sources of edges lie before their token.

    Args:
        sources: int array of shape `(T, E, K)` or `(B, T, E, K)`, 1-based positions, 0 = none.

    Raises:
        ValueError: naming the example and position where a source points forward, to its own
            token, or out of range; or if the shape is another.

    Example:
        >>> keras_corefmem.graphs.check_sources([[[0, 0]], [[1, 0]], [[2, 1]]])
    """
    check_positions(_batch_of("sources", sources, 4))


def _batch_of(name: str, positions: ArrayLike, axes: int) -> np.ndarray:
    """Returns positions as an array of so many axes, of which the first may be missing."""
    array = as_positions(name, positions)
    if array.ndim not in (axes - 1, axes):
        shape = ", ".join("BTEK"[:axes])
        raise ValueError(f"{name} must be ({shape}) or without B, got shape {array.shape}.")
    return array if array.ndim == axes else array[None]


def check_position_type(name: str, dtype: str) -> None:
    """Checks that positions are integers, or floats that hold integers exactly."""
    if dtype.strip("u").strip("0123456789") != "int" and dtype not in ("float32", "float64"):
        raise ValueError(f"{name} must be integers, 1-based positions with 0 = none; got {dtype}.")


def as_positions(name: str, positions: ArrayLike) -> np.ndarray:
    """Returns positions as one array of numbers."""
    try:
        array = np.asarray(positions)
    except ValueError:
        raise ValueError(f"{name} must be one array; fill shorter rows up with 0.") from None
    check_position_type(name, array.dtype.type.__name__.strip("_"))
    return array


def check_positions(array: np.ndarray, kind: str = "Source") -> None:
    """Checks that all positions of an array `(B, T, …)` lie before their token."""
    length = array.shape[1]
    own = np.arange(1, length + 1).reshape((1, length) + (1,) * (array.ndim - 2))
    wrong = np.argwhere((array < 0) | (array >= own) | (array != np.floor(array)))
    if not len(wrong):
        return
    example, token = wrong[0][:2]
    source, position = array[tuple(wrong[0])], int(token) + 1
    if source != np.floor(source) or np.isinf(source):
        fault = "is not an integer"
    elif source < 0 or source > length:
        fault = f"is out of range (0 = none, 1 to {length})"
    else:
        fault = "points to the token itself" if source == position else "points forward"
    raise ValueError(
        f"{kind} {source:.12g} of example {example} at position {position} {fault}: positions are "
        "1-based and must lie before their token."
    )
