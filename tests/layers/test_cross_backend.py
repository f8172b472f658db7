"""TensorFlow and JAX give the same states and gradients."""

import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

import keras_corefmem
from tests.support.conformance import cross_backend


@pytest.mark.thorough
@pytest.mark.skipif(keras.backend.backend() == "jax", reason="the run on TensorFlow compares both")
def test_backends_agree(tmp_path):
    pytest.importorskip("jax")
    root = Path(keras_corefmem.__file__).parents[1]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    process = subprocess.run(
        [sys.executable, cross_backend.__file__, str(tmp_path / "other.npz")],
        env={**os.environ, "KERAS_BACKEND": "jax", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    expected, results = np.load(tmp_path / "other.npz"), cross_backend.results()
    assert set(results) == set(expected.files)
    for name, array in results.items():
        np.testing.assert_allclose(array, expected[name], atol=1e-5, rtol=1e-5, err_msg=name)
