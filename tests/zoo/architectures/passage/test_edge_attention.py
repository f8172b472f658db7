import numpy as np
import pytest

import zoo
from keras_corefmem.callbacks import EdgeAttention
from tests.support.conformance.evaluation import QUICK
from tests.support.events import read_events
from tests.support.model_cases import ANNOTATED, TYPED, features_of, make
from zoo.architectures.passage.edge_attention import EdgeShares

TYPES = ["coreference", "near", "near^-1"]


def test_shares_are_means_over_the_tokens_that_read_edges():
    # Tokens 3 and 4 read forward, tokens 1 and 2 backward; another row has no edge.
    sources = np.zeros((2, 4, 2, 2), int)
    sources[0, 2, 0, 0], sources[0, 3, 0, 0], sources[0, 3, 1] = 1, 1, (1, 2)
    weights = np.where(sources[:, None] > 0, 0.25, 0.0) * np.ones((1, 2, 1, 1, 1))
    shares = EdgeShares(["a", "b"])
    shares.add({"encoder": (weights[1:], sources[1:])})
    assert shares.shares == shares.even == {"sequence": 1.0, "a": 0.0, "b": 0.0}
    shares.add({"encoder": (weights, sources)})
    # Four edges of each direction by four readers.
    assert shares.shares == {"sequence": 0.5, "a": 0.25, "b": 0.25}
    # Readers of 1 and 3 edges forward, of 3 and 1 backward: 1 and 4's first, and 2's.
    even = {"a": (1 / 2 + 1 / 4 + 2 / 4) / 4, "b": (2 / 4 + 1 / 4 + 1 / 2) / 4}
    assert {name: shares.even[name] for name in "ab"} == pytest.approx(even)
    assert sum(shares.even.values()) == pytest.approx(1)


@pytest.fixture(scope="module")
def model():
    return make("ga-mage-gru-typed", layers=1)


@pytest.fixture(scope="module")
def summing():
    """A reader that adds up what its edges bring."""
    options = {"encoder": "mage_gru", "units": 8, "edge_units": 1}
    types = "coreference", "dependency", "role", "narrative"
    return zoo.AttentionSumReader.from_examples(ANNOTATED, edge_types=types, **options)


def test_a_reader_tells_its_attention_to_edges_as_it_learns(model, tmp_path):
    features = features_of(model, TYPED[:6], 24)
    before = model.attend_to_edges(features)
    assert list(before) == ["sequence", *TYPES] and min(before.values()) > 0.01
    assert sum(before.values()) == pytest.approx(1)
    for cell in model.get_layer("encoder_1").cells:
        # All edges into a token are alike.
        cell.source_keys.assign(0 * cell.source_keys)
        cell.reader_keys.assign(0 * cell.reader_keys)
    even = model.attend_to_edges(features)
    assert even == pytest.approx(model.edge_shares(features).even) and even != before
    batches = model.batches(TYPED[:6], batch_size=4, buckets=(24,), question_length=4)
    assert model.attend_to_edges(batches) == pytest.approx(even)
    callback = EdgeAttention(tmp_path, TYPED[:6], model.preprocessor, model.attend_to_edges)
    callback.write(3)
    events = read_events(tmp_path / "validation")
    tags = [f"questions/edge_attention/{name}" for name in ("sequence", *TYPES)]
    written = {tag: events.Scalars(tag)[0] for tag in tags}
    assert {event.step for event in written.values()} == {3}
    assert sum(event.value for event in written.values()) == pytest.approx(1)


def test_attention_to_edges_is_in_the_history(model):
    model.compile(**QUICK)
    logs = model.fit(TYPED[:8], validation_data=TYPED[8:16], epochs=1, verbose=0).history
    shares = {name: logs[f"edge_attention_{name}"][0] for name in ("sequence", *TYPES)}
    assert shares == pytest.approx(model.attend_to_edges(model.batches(TYPED[8:16], 8)))


# `test_explain` shows both.
@pytest.mark.thorough
def test_views_have_the_edges_and_the_attention_to_them(model, summing):
    ((view,),) = model.views(TYPED[:1])
    assert view.edges == [(1, 7, "near"), (2, 7, "near"), (5, 1, "near"), (6, 15, "near")]
    assert set(view.edge_shares) == {"sequence", *TYPES}
    ((other,),) = summing.views(ANNOTATED[:1])
    assert {kind for *_, kind in other.edges} == {"dependency", "role", "narrative"}
    assert other.edge_shares == {}


def test_readers_that_sum_their_edges_have_no_attention_to_them(summing):
    with pytest.raises(ValueError, match="sums its edges: give it edge_attention=True"):
        summing.attend_to_edges({})
