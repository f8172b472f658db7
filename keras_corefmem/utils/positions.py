"""Checks of positions that edges come from: 1-based, 0 = none."""

import numpy as np


def check_antecedents(antecedents):
    """Refuses antecedents that do not lie before their token.

    Args:
        antecedents: int array of shape `(T,)` or `(B, T)`, 1-based positions, 0 = none.

    Raises:
        ValueError: naming the example and position where an antecedent points forward, to its
            own token, or out of range.
    """
    array = np.asarray(antecedents)
    check_positions(array if array.ndim > 1 else array[None], "Antecedent")


def check_sources(sources):
    """Refuses source positions that do not lie before their token.

    Args:
        sources: int array of shape `(T, E, K)` or `(B, T, E, K)`, 1-based positions, 0 = none.

    Raises:
        ValueError: naming the example and position where a source points forward, to its own
            token, or out of range.
    """
    array = np.asarray(sources)
    check_positions(array if array.ndim > 3 else array[None], "Source")


def check_positions(array, kind="Source"):
    """Refuses positions `(B, T, …)` that do not lie before the one they stand at.

    Raises:
        ValueError: as above; `kind` says of what.
    """
    length = array.shape[1]
    own = np.arange(1, length + 1).reshape((1, length) + (1,) * (array.ndim - 2))
    wrong = np.argwhere((array < 0) | (array >= own))
    if not len(wrong):
        return
    example, token = wrong[0][:2]
    found, position = int(array[tuple(wrong[0])]), int(token) + 1
    if found < 0 or found > length:
        fault = f"is out of range (0 = none, 1 to {length})"
    else:
        fault = "points to the token itself" if found == position else "points forward"
    raise ValueError(
        f"{kind} {found} of example {example} at position {position} {fault}: positions are "
        "1-based and must lie before their token."
    )
