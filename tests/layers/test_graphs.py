"""The random graphs of the cases hold what is hard."""

import numpy as np
import pytest

from tests.support.fused import EDGES, NAMES, draw

TYPED = [name for name in NAMES if name == "dag" or name.startswith("mage")]


def edges_of(name, masked):
    """Every edge once: `(example, token, type, source)`."""
    (sources,) = draw(name, masked)[3].inputs
    sources = sources.reshape(*sources.shape[:2], *(sources.shape[2:] or (1, 1)))
    edges = zip(*np.nonzero(sources), sources[sources > 0], strict=True)
    return {(b, t, e, source) for b, t, e, _, source in edges}


def largest_number(keys):
    return np.unique(list(keys), axis=0, return_counts=True)[1].max()


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("name", ["coref", *TYPED])
def test_a_token_has_several_edges_of_one_type_in_and_out(name, masked):
    edges = edges_of(name, masked)
    incoming = largest_number((b, t, e) for b, t, e, _ in edges)
    assert incoming == (1 if name == "coref" else EDGES.get(name, 2))
    assert largest_number((b, e, source) for b, _, e, source in edges) > 1
    assert all(source <= t for _, t, _, source in edges)
