"""NumPy's functions inside the graph of a SavedModel."""


class GraphNumpy:
    """`tf.experimental.numpy`, but for `take_along_axis`, whose graph has dozens of operations."""

    def __init__(self):
        import tensorflow as tf

        self._tf = tf

    def __getattr__(self, name):
        return getattr(self._tf.experimental.numpy, name)

    def take_along_axis(self, values, indices, axis):
        """`values[..., indices]` of each row.

        Args:
            values: array of shape `(..., T)`.
            indices: int array of shape `(..., N)`.
            axis: the last one.

        Raises:
            ValueError: if the axis is another.
        """
        values = self._tf.convert_to_tensor(values)
        if axis not in (-1, values.shape.rank - 1):
            raise ValueError(f"axis must be the last of {values.shape.rank}, got {axis}")
        return self._tf.gather(values, indices, batch_dims=values.shape.rank - 1)
