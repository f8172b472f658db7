"""What `keras.ops.custom_gradient` leaves to differ between backends."""


def upstream_gradients(args, upstream):
    """Gradients of the outputs, one each, from what a backend passes to a gradient function.

    Args:
        args: its positional arguments: the gradients, or a single tuple of them.
        upstream: its argument `upstream`, or `None` where the backend passes none.
    """
    upstream = args if upstream is None else upstream
    if len(upstream) == 1 and isinstance(upstream[0], (tuple, list)):
        return upstream[0]
    return upstream
