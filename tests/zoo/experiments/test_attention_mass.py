import dataclasses

import numpy as np
import pytest

import zoo
from keras_corefmem.layers import attention_mass
from tests.support.model_cases import ANNOTATED, BIDAF, SPANS, TYPED, make, shared
from zoo.experiments.attention_mass import measure_attention_mass
from zoo.experiments.outcome import describe_test


def expected(reader, signal, examples):
    """Attention on targets, from what the reader shows of one batch."""
    features, *_ = reader.batches(examples, batch_size=len(examples))[0]
    attention = reader.look(features)[signal]
    pairs, mask = features[f"passage_targets_{signal}"], features["passage"] != 0
    rates, rows = (np.asarray(values) for values in attention_mass(attention, pairs, mask))
    return np.sum(rates * rows) / np.sum(rows)


@pytest.mark.thorough
def test_supervised_heads_are_measured_by_their_signals():
    reader = shared("bidaf-supervised")
    found = measure_attention_mass(reader, SPANS, batch_size=5)
    assert list(found) == ["coref_all", "dependency", "roles"]
    for signal, rate in found.items():
        assert rate == pytest.approx(expected(reader, signal, SPANS), abs=1e-5)


@pytest.mark.thorough
def test_heads_of_others_are_measured_by_every_signal():
    options = {**BIDAF, "characters": False, "units": 4, "embedding_dim": 6}
    options["self_attention"] = "early"
    plain = zoo.BiDAFReader.from_examples(ANNOTATED, **options)
    found = measure_attention_mass(plain, ANNOTATED)
    # Nor does it matter that batches have more pairs than the first ones.
    alone = measure_attention_mass(plain, ANNOTATED[::-1], ("coref_all",), batch_size=1)
    assert alone == {"coref_all": pytest.approx(found["coref_all"], abs=1e-5)}
    assert list(found)[:2] == ["dependency", "coref_all"] and len(found) == 5
    for signal in ("dependency", "narrative"):
        told = zoo.BiDAFReader.from_examples(ANNOTATED, **options, supervision=signal)
        told.set_weights(plain.get_weights())
        assert found[signal] == pytest.approx(expected(told, signal, ANNOTATED), abs=1e-5)


# `test_heads` has texts without targets of a signal.
@pytest.mark.thorough
def test_signals_without_targets_are_left_out():
    reader = shared("bidaf-supervised")
    bare = [
        dataclasses.replace(
            example,
            structure=dataclasses.replace(example.structure, mentions=np.zeros((0, 2), int)),
        )
        for example in SPANS
    ]
    assert list(measure_attention_mass(reader, bare)) == ["dependency", "roles"]


def test_readers_without_self_attention_have_none():
    assert measure_attention_mass(shared("bidaf-mage-gru"), ANNOTATED) == {}


# `test_edge_attention` has what is measured.
@pytest.mark.thorough
def test_attention_to_edges_is_among_the_results():
    reader = make("ga-mage-gru-typed", layers=1)
    measured = describe_test(reader, reader.batches(TYPED[:6], 4), TYPED[:6])["edge_attention"]
    types = ["sequence", "coreference", "near", "near^-1"]
    assert list(measured["shares"]) == list(measured["even"]) == types
    for shares in measured.values():
        assert sum(shares.values()) == pytest.approx(1) and min(shares.values()) > 0.01
    assert measured["shares"] != measured["even"]
