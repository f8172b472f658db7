"""Limits of this process, as `ulimit` sets them."""

import contextlib
import sys
from unittest import mock

import pytest


@contextlib.contextmanager
def file_limit(size):
    """Lets files have at most some bytes; writing more fails as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        # What Python compiles would be cut off, and read so ever after.
        with mock.patch.object(sys, "dont_write_bytecode", True):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
