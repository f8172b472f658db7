import pytest

from keras_corefmem.utils.names import did_you_mean


@pytest.mark.parametrize(
    "name, hint",
    [
        ("unit", " Did you mean 'units'?"),
        ("UNITS", " Did you mean 'units'?"),
        ("ga_coref_gr", " Did you mean 'ga-coref-gru'?"),
        ("x", ""),
    ],
)
def test_what_was_probably_meant(name, hint):
    assert did_you_mean(name, ["units", "ga-coref-gru"]) == hint
