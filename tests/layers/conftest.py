"""Makes the helper modules of this folder importable by its tests."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# Compiling takes far longer here than running.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
