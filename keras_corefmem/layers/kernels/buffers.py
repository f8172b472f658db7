"""Time-major buffers that a loop fills row by row."""

import contextvars

import keras
from keras import ops

# Whether XLA may be used: without it, only what other runtimes than TensorFlow's know too.
XLA = contextvars.ContextVar("xla", default=True)


def float_type(tensor):
    """The type to compute in, of a tensor or type: float64 stays, half precision is widened."""
    dtype = keras.backend.standardize_dtype(getattr(tensor, "dtype", tensor))
    return "float64" if dtype == "float64" else "float32"


def widen(tensor):
    """A tensor in the type to compute in."""
    return ops.cast(tensor, float_type(tensor))


def product(x, kernel):
    """`x @ kernel` as one flat product."""
    if len(x.shape) == 2:
        return ops.matmul(x, kernel)
    flat = ops.matmul(ops.reshape(x, (-1, x.shape[-1])), kernel)
    return ops.reshape(flat, (*ops.shape(x)[:-1], kernel.shape[-1]))


def rows(buffer, start, count):
    """Rows of a buffer from `start` on."""
    if isinstance(start, int) and buffer.shape[0] == count:
        return buffer
    shape = (count, *ops.shape(buffer)[1:])
    return ops.slice(buffer, (start, *[0] * (len(shape) - 1)), shape)


def missing_rows(count):
    """How many rows are added to so many: one to none, of which no loop would compile."""
    # A length that JAX exports is a symbol, and not 0.
    return 1 - ops.minimum(count, 1) if ops.is_tensor(count) else int(not count)


def with_rows(buffer, missing):
    """A buffer, or `None`, with rows of zeros behind it, see `missing_rows`."""
    if buffer is None or (isinstance(missing, int) and not missing):
        return buffer
    return ops.pad(buffer, ((0, missing), *[(0, 0)] * (len(buffer.shape) - 1)))


def last_row(buffer, start=None, backward=False):
    """The last row of a buffer, or its first where it was filled backward.

    Of no rows, it is `start`, zeros by default.
    """
    if buffer.shape[0]:
        return buffer[0 if backward else -1]
    row = ops.sum(buffer[:1] if backward else buffer[-1:], axis=0)
    if start is None:
        return row
    return ops.where(ops.shape(buffer)[0] > 0, row, ops.cast(start, row.dtype))


def write(buffer, start, rows):
    """Replaces the rows of a buffer from `start` on."""
    if not XLA.get() and keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        numbers = start + tf.range(tf.shape(rows)[0])
        return tf.tensor_scatter_nd_update(buffer, numbers[:, None], rows)
    return ops.slice_update(buffer, (start, *[0] * (len(buffer.shape) - 1)), rows)


def flat_index(rows):
    """Row numbers `(..., batch)` of a buffer `(rows, batch, …)`, as numbers of texts in a row."""
    batch = ops.shape(rows)[-1]
    return rows * batch + ops.arange(batch, dtype="int32")


def gather(buffer, index):
    """Rows of a buffer `(rows, batch, width)` by `flat_index`: `index.shape + (width,)`."""
    width = buffer.shape[-1]
    flat = ops.take(ops.reshape(buffer, (-1, width)), ops.reshape(index, (-1,)), axis=0)
    return ops.reshape(flat, (*ops.shape(index), width))


def output_gradients(args, upstream):
    """Gradients of the outputs from what a backend passes to a `keras.ops.custom_gradient`."""
    upstream = args if upstream is None else upstream
    if len(upstream) == 1 and isinstance(upstream[0], (tuple, list)):
        return upstream[0]
    return upstream
