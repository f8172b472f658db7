"""Batches of encoded examples, padded to few shapes, from memory, records and `tf.data`."""
