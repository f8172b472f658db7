"""Examples to ids, edges and features, and these to batches."""
