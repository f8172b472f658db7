import numpy as np
import pytest

from keras_corefmem.graphs import (
    TypedEdges,
    antecedents,
    check_antecedents,
    check_sources,
    inverse,
    join,
)

CHAINS = np.array([1, 0, 2, 1, 2, 0, 1])
# Two edges of one type into token 4, two successors of token 1, one edge from the right.
GENERAL = TypedEdges(5, ((1, 4, "dep"), (2, 4, "dep"), (1, 3, "dep"), (5, 2, "dep"), (3, 4, "x")))


def test_chains_become_edges():
    edges = TypedEdges.from_chains(CHAINS)
    assert edges.length == 7
    assert edges.edges == ((1, 4, "coreference"), (3, 5, "coreference"), (4, 7, "coreference"))
    assert edges.forward_dag() == edges
    backward = edges.backward_dag().edges
    assert backward == tuple((t, s, "coreference^-1") for t, s in ((4, 1), (5, 3), (7, 4)))
    np.testing.assert_array_equal(edges.sources(["coreference"])[:, 0, 0], antecedents(CHAINS))


def test_coreference_has_an_older_name():
    edges, older = TypedEdges.from_chains(CHAINS), TypedEdges(2, [(1, 2, "coref")])
    with pytest.warns(DeprecationWarning, match="coref is now coreference") as record:
        sources = edges.sources(["coref"])
    assert record[0].filename == __file__
    np.testing.assert_array_equal(sources, edges.sources(["coreference"]))
    with pytest.warns(DeprecationWarning, match="is now coreference"):
        assert edges.backward_dag().sources(["coref^-1"])[0, 0, 0] == 4
    assert older.sources(["coref"])[1].tolist() == [[1]]


def test_general_graph_is_read_once_in_each_direction():
    forward, backward = GENERAL.forward_dag(), GENERAL.backward_dag()
    assert forward.types == ("dep", "dep^-1", "x")
    assert (2, 5, "dep^-1") in forward.edges
    assert (5, 2, "dep") in backward.edges
    assert all(source < target for source, target, _ in forward.edges)
    assert all(source > target for source, target, _ in backward.edges)
    assert len(forward.edges) == len(backward.edges) == len(GENERAL.edges)
    assert {(t, s, inverse(e)) for s, t, e in forward.edges} == set(backward.edges)
    assert backward.forward_dag() == forward


def test_sources_list_the_nearest_first():
    sources = GENERAL.forward_dag().sources(("dep", "dep^-1"))
    assert sources.dtype == np.int32
    none = [[0, 0], [0, 0]]
    assert sources.tolist() == [none, none, [[1, 0], [0, 0]], [[2, 1], [0, 0]], [[0, 0], [2, 0]]]


def test_sources_can_be_limited_and_lack_a_type():
    sources = GENERAL.forward_dag().sources(("dep", "ner"), max_sources=1)
    np.testing.assert_array_equal(sources[..., 0], [[0, 0], [0, 0], [1, 0], [2, 0], [0, 0]])
    assert TypedEdges(3).sources(("coreference",)).shape == (3, 1, 1)
    assert GENERAL.forward_dag().sources(("x",), max_sources=4).shape == (5, 1, 4)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("dep", "is one string, pass a list of types: \\['dep'\\]"),
        (["x", "dep", "x"], "repeats a type"),
    ],
)
def test_types_of_sources_are_a_list_of_different_names(types, message):
    with pytest.raises(ValueError, match=message):
        GENERAL.forward_dag().sources(types)


def test_edges_are_a_set():
    edges = TypedEdges(3, ((2, 3, "b"), (1, 2, "a"), (2, 3, "b")))
    assert edges.edges == ((1, 2, "a"), (2, 3, "b"))


@pytest.mark.parametrize(
    "edge, message",
    [
        ((0, 1, "x"), "positions count from 1 to 3"),
        ((1, 4, "x"), "positions count from 1 to 3"),
        ((2, 2, "x"), "is a loop"),
        ((1.5, 2, "x"), r"edge 1 must be \(source, target, type\), .* got \(1.5, 2, 'x'\)"),
        (("a", 2, "x"), r"edge 1 must be \(source, target, type\)"),
        ((1, 2, 3), r"edge 1 must be \(source, target, type\)"),
    ],
)
def test_impossible_edges_are_refused(edge, message):
    with pytest.raises(ValueError, match=message):
        TypedEdges(3, (edge,))


PASSAGE, QUESTION = np.array([1, 0, 2, 1]), np.array([0, 2, 1])
SEQUENCES = [TypedEdges.from_chains(PASSAGE), TypedEdges.from_chains(QUESTION)]


@pytest.mark.parametrize("order, offsets", [((0, 1), [0, 4]), ((1, 0), [3, 0])])
def test_join_links_chains_across_the_border(order, offsets):
    joined = join(SEQUENCES, order, chains=[PASSAGE, QUESTION])
    whole = np.concatenate([(PASSAGE, QUESTION)[i] for i in order])
    assert joined == (TypedEdges.from_chains(whole), offsets)


def test_join_without_chains_only_shifts():
    joined, offsets = join([GENERAL, TypedEdges(2, ((2, 1, "y"),))], (1, 0))
    assert joined.length == 7 and offsets == [2, 0]
    assert set(joined.edges) == {(2, 1, "y")} | {(s + 2, t + 2, e) for s, t, e in GENERAL.edges}


def test_random_order_is_seeded():
    results = [join(SEQUENCES, "random", seed=seed) for seed in range(20)]
    assert results == [join(SEQUENCES, "random", seed=seed) for seed in range(20)]
    assert {tuple(offsets) for _, offsets in results} == {(0, 4), (3, 0)}


@pytest.mark.parametrize("order", [(0,), (0, 0), (1, 2), "reversed"])
def test_join_refuses_an_order_that_is_none(order):
    with pytest.raises(ValueError, match="`order` must be 'random' or an order"):
        join([TypedEdges(1), TypedEdges(1)], order)


def test_join_refuses_chains_of_another_length():
    with pytest.raises(ValueError, match=r"expected lengths \[4, 3\], got \[3, 4\]"):
        join([TypedEdges(4), TypedEdges(3)], (0, 1), chains=[QUESTION, PASSAGE])


def test_checks_pass_what_the_package_makes():
    sources = GENERAL.forward_dag().sources(("dep", "x"))
    for chains in (CHAINS, np.tile(CHAINS, (3, 1))):
        check_antecedents(antecedents(chains))
    for array in (sources, sources[None]):
        check_sources(array)


@pytest.mark.parametrize(
    "position, message",
    [
        (4, "points forward"),
        (3, "points to the token itself"),
        (9, "is out of range"),
        (-1, "is out of range"),
    ],
)
def test_wrong_antecedents_are_named(position, message):
    array = np.zeros((2, 5), "int32")
    array[1, 2] = position
    place = f"Antecedent {position} of example 1 at position 3 {message}"
    with pytest.raises(ValueError, match=place):
        check_antecedents(array)


@pytest.mark.parametrize("shape", [(), (3, 1, 1)])
def test_antecedents_of_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"antecedents must be \(B, T\) or without B, got shape"):
        check_antecedents(np.zeros(shape, "int32"))


@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (1, 3, 1, 1, 1)])
def test_sources_of_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"sources must be \(B, T, E, K\) or without B, got shape"):
        check_sources(np.zeros(shape, "int32"))


def test_edges_in_both_directions_are_no_table():
    edges = TypedEdges(3, ((1, 2, "a"), (3, 2, "a"), (3, 1, "b")))
    with pytest.raises(ValueError, match="forward and backward: call `sources` on `forward_dag"):
        edges.sources(("a", "b"))
    assert edges.forward_dag().sources(("a",)).any()


def test_wrong_sources_are_named():
    array = np.zeros((2, 5, 3, 2), "int32")
    array[1, 1, 2, 1] = 5
    for example, sources in ((1, array), (0, array[1])):
        place = f"Source 5 of example {example} at position 2 points forward"
        with pytest.raises(ValueError, match=place):
            check_sources(sources)
