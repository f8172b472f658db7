"""Time-major buffers that a loop fills row by row."""

import contextvars

import keras
from keras import ops

# Whether XLA may be used; without it, kernels keep to operations that other runtimes have too.
XLA = contextvars.ContextVar("xla", default=True)


def float_type(tensor):
    """Returns the type to compute in for a tensor or type: float64 stays, others become float32."""
    dtype = keras.backend.standardize_dtype(getattr(tensor, "dtype", tensor))
    return "float64" if dtype == "float64" else "float32"


def widen(tensor):
    """Casts a tensor to the type to compute in, see `float_type`."""
    return ops.cast(tensor, float_type(tensor))


def product(x, kernel):
    """Computes `x @ kernel` as one flat product."""
    if len(x.shape) == 2:
        return ops.matmul(x, kernel)
    flat = ops.matmul(ops.reshape(x, (-1, x.shape[-1])), kernel)
    return ops.reshape(flat, (*ops.shape(x)[:-1], kernel.shape[-1]))


def rows(buffer, start, count):
    """Returns `count` rows of a buffer from `start` on."""
    if isinstance(start, int) and buffer.shape[0] == count:
        return buffer
    shape = (count, *ops.shape(buffer)[1:])
    return ops.slice(buffer, (start, *[0] * (len(shape) - 1)), shape)


def missing_rows(count):
    """Returns how many rows to add to `count` rows: 1 if there are none, else 0.

    A loop over no rows would not compile.
    """
    # In an export of JAX, a length is a symbol that counts as nonzero.
    return 1 - ops.minimum(count, 1) if ops.is_tensor(count) else int(not count)


def with_rows(buffer, missing):
    """Appends rows of zeros to a buffer, if there is one, see `missing_rows`."""
    if buffer is None or (isinstance(missing, int) and not missing):
        return buffer
    return ops.pad(buffer, ((0, missing), *[(0, 0)] * (len(buffer.shape) - 1)))


def last_row(buffer, start=None, backward=False):
    """Returns the last row of a buffer, or its first if it was filled backward.

    If the buffer is empty, returns `start`, by default zeros.
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
    """Converts row numbers `(..., batch)` of a buffer to those of its flat form.

    The buffer is `(rows, batch, …)`, its flat form `(rows · batch, …)`.
    """
    batch = ops.shape(rows)[-1]
    return rows * batch + ops.arange(batch, dtype="int32")


def gather(buffer, index):
    """Gathers rows of a buffer `(rows, batch, width)` by `flat_index`: `index.shape + (width,)`."""
    width = buffer.shape[-1]
    flat = ops.take(ops.reshape(buffer, (-1, width)), ops.reshape(index, (-1,)), axis=0)
    return ops.reshape(flat, (*ops.shape(index), width))


def output_gradients(args, upstream):
    """Returns output gradients from what a backend passes to a `keras.ops.custom_gradient`."""
    upstream = args if upstream is None else upstream
    if len(upstream) == 1 and isinstance(upstream[0], (tuple, list)):
        return upstream[0]
    return upstream
