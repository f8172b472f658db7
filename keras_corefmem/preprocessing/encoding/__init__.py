"""Examples as arrays of ids, edges and answers, in NumPy and in TensorFlow graphs."""
