"""Which cases of a test stand for the others."""

import pytest


def standing_for(values, kept):
    """The values as parameters; those that are not kept belong to the thorough tests."""
    thorough = pytest.mark.thorough
    return [value if value in kept else pytest.param(value, marks=thorough) for value in values]
