"""Tests of layers compile without optimization."""

import os

# Compiling takes far longer here than running.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
