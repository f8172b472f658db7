"""Coreference chains as arrays: antecedents and chain numbers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keras_corefmem.utils.deprecation import renamed_arguments


@renamed_arguments(entities="chains")
def antecedents(chains: ArrayLike, xp: Any = np) -> np.ndarray:
    """Finds the antecedent of each token: the most recent earlier mention of the same entity.

    `y[t] = max{s : s < t, chains[s] == chains[t] != 0}`, 0 when there is none, with
    1-based positions. It is computed by sorting, without a loop over time.

    Args:
        chains: int array of shape `(..., T)`, the chain of each token, in any numbering, 0 = none.
        xp: `numpy`, or `tensorflow.experimental.numpy` to run the same code inside a graph.

    Returns:
        int32 array of shape `(..., T)`.

    Reference:
        `y_t` in [Dhingra et al., 2018](https://arxiv.org/abs/1804.05922).

    Example:
        >>> keras_corefmem.graphs.antecedents([7, 0, 7, 0, 7]).tolist()
        [0, 0, 1, 0, 3]
    """
    chains = xp.asarray(chains)
    order, rank, first = _sort_by_chain(chains, xp)
    previous = xp.concatenate([xp.zeros_like(order[..., :1]), order[..., :-1] + 1], axis=-1)
    previous = xp.take_along_axis(xp.where(first, 0, previous), rank, axis=-1)
    return xp.asarray(xp.where(chains == 0, 0, previous), dtype="int32")


@renamed_arguments(entities="chains")
def chain_ids(
    chains: ArrayLike, max_chains: int | None = None, xp: Any = np, singletons: bool = False
) -> np.ndarray:
    """Numbers the chains of a text by first appearance.

    Args:
        chains: int array of shape `(..., T)`, the chain of each token, in any numbering, 0 = none.
        max_chains: keep only chains 1 to `max_chains`; `None` keeps all.
        xp: `numpy`, or `tensorflow.experimental.numpy` to run the same code inside a graph.
        singletons: whether chains of a single mention are numbered too.

    Returns:
        int32 array of shape `(..., T)`: the chain of each token, 0 for tokens outside any
        chain, in chains of a single mention (unless `singletons`), or in chains beyond
        `max_chains`.

    Example:
        >>> keras_corefmem.graphs.chain_ids([9, 3, 5, 3, 0, 9]).tolist()
        [1, 2, 0, 2, 0, 1]
    """
    chains = xp.asarray(chains)
    order, rank, first = _sort_by_chain(chains, xp)
    # The n-th run of equal numbers in sorted order begins at starts[n - 1].
    starts = xp.argsort(xp.where(first, 0, 1), axis=-1, kind="stable")
    run = xp.cumsum(xp.where(first, 1, 0), axis=-1) - 1
    head = xp.take_along_axis(order, xp.take_along_axis(starts, run, axis=-1), axis=-1)
    head = xp.take_along_axis(head, rank, axis=-1)

    chosen = chains != 0
    if not singletons:
        last = xp.concatenate([first[..., 1:], xp.ones_like(first[..., :1])], axis=-1)
        chosen = chosen & ~xp.take_along_axis(first & last, rank, axis=-1)
    opens = chosen & xp.take_along_axis(first, rank, axis=-1)
    number = xp.cumsum(xp.where(opens, 1, 0), axis=-1)
    numbers = xp.where(chosen, xp.take_along_axis(number, head, axis=-1), 0)
    if max_chains is not None:
        numbers = xp.where(numbers > max_chains, 0, numbers)
    return xp.asarray(numbers, dtype="int32")


def _sort_by_chain(chains, xp):
    """Returns the stable order of tokens by chain, its inverse, and where chains begin in it."""
    order = xp.argsort(chains, axis=-1, kind="stable")
    rank = xp.argsort(order, axis=-1, kind="stable")
    number = xp.take_along_axis(chains, order, axis=-1)
    changes = number[..., 1:] != number[..., :-1]
    first = xp.concatenate([xp.ones_like(number[..., :1]) == 1, changes], axis=-1)
    return order, rank, first
