"""Typed edges of examples as sources, beside those that Python loops of `TypedEdges` make."""

import dataclasses

import numpy as np
import pytest

from keras_corefmem.datasets import AnnotatedExample, Example
from keras_corefmem.graphs import TypedEdges, annotate, edge_types, join
from keras_corefmem.layers import MAGEGRU
from keras_corefmem.preprocessing import (
    CandidatePreprocessor,
    ReaderPreprocessor,
    StoryPreprocessor,
)
from keras_corefmem.preprocessing.encoding import edge_table
from keras_corefmem.preprocessing.encoding.edge_table import EdgeTable
from keras_corefmem.preprocessing.encoding.layout import ORDERS
from tests.support.oracles import recurrence as oracles

WORDS = list("abcdefgh")
TYPES = ["near", "coreference", "far", "far^-1"]
ROWS, WIDTHS = 5, {"passage": 12, "question": 6}
CHAINS = ("a", "b")


def random_examples(rng, edges=14):
    """Texts of random words, which repeat, with random edges of every type in both directions."""
    for _ in range(ROWS):
        words = [rng.choice(WORDS, rng.integers(3, width + 1)) for width in WIDTHS.values()]
        count = sum(map(len, words))
        ends = (rng.choice(count, 2, replace=False) + 1 for _ in range(edges))
        typed = [(*pair.tolist(), str(rng.choice(TYPES))) for pair in ends]
        yield Example((" ".join(words[0]),), " ".join(words[1]), "a", edges=typed)


def sources_of(example, order, joint, types, most):
    """Sources by part of one example, padded to `WIDTHS`, from `TypedEdges` alone."""
    texts = {"passage": example.passage.split(), "question": example.question.split()}
    first = len(texts["passage"])
    groups = [ORDERS[order]] if joint else [("passage",), ("question",)]
    numbers = {
        name: [1 + CHAINS.index(w) if w in CHAINS else 0 for w in texts[name]] for name in texts
    }
    result = {}
    for group in groups:
        padded = [np.resize(numbers[part] + [0] * 99, WIDTHS[part]) for part in group]
        empty = [TypedEdges(WIDTHS[part]) for part in group]
        chains, offsets = join(empty, range(len(group)), padded, "coreference")
        begin = dict(zip(group, offsets, strict=True))

        def place(position, begin=begin):
            part = "question" if position > first else "passage"
            return begin[part] + position - first * (part == "question") if part in begin else None

        moved = [(place(a), place(b), kind) for a, b, kind in example.edges]
        inside = [edge for edge in moved if None not in edge]
        dag = TypedEdges(chains.length, [*chains.edges, *inside]).forward_dag().edges
        # What is not named shares the column of its inverse.
        named = [(a, b, kind if kind in types else kind.removesuffix("^-1")) for a, b, kind in dag]
        table = TypedEdges(chains.length, named).sources(types, most)
        for part in group:
            result[part] = table[begin[part] :][: WIDTHS[part]]
    return result


def fit(examples, **options):
    return ReaderPreprocessor.fit(
        examples, entity_words=CHAINS, tokenizer="spaces", edge_types=TYPES, **options
    )


each_order = pytest.mark.parametrize(
    ("order", "joint"),
    [
        *(("question_first", True), ("passage_first", True), ("random", True)),
        *(("passage_first", False), ("random", False)),
    ],
)


@pytest.mark.parametrize("most", [1, 3])
@each_order
@pytest.mark.filterwarnings("ignore:edge .* joins passage and question")
def test_sources_of_random_typed_graphs(order, joint, most):
    examples = list(random_examples(np.random.default_rng(most)))
    preprocessor = fit(examples, order=order, joint=joint, max_sources=most)
    encoded = list(map(preprocessor.encode, examples))
    features = preprocessor.collate(encoded, ROWS + 1, *WIDTHS.values())
    for n, example in enumerate(examples):
        if order == "random":
            ids = np.concatenate([encoded[n].passage, encoded[n].question])
            order_of = ("question_first", "passage_first")[ids.sum() % 2]
        else:
            order_of = order
        for part, expected in sources_of(example, order_of, joint, TYPES, most).items():
            found = features[f"{part}_sources"]
            assert found.dtype == np.int32 and found.shape[2:] == (len(TYPES), most)
            np.testing.assert_array_equal(found[n], expected)
            assert not found[-1].any()
    nearest = [features[f"{part}_sources"][:, :, 1, 0] for part in WIDTHS]
    for part, antecedents in zip(WIDTHS, nearest, strict=True):
        np.testing.assert_array_equal(features[f"{part}_antecedents"], antecedents)


@each_order
def test_edges_of_typed_words_are_those_that_are_read(order, joint):
    drawn = [each for seed in range(4) for each in random_examples(np.random.default_rng(seed))]
    examples = [dataclasses.replace(example, edges=()) for example in drawn]
    types = {"a": "person", "b": "thing", "c": "person"}
    options = {"tokenizer": "spaces", "order": order, "joint": joint, "max_sources": 2}
    preprocessor = ReaderPreprocessor.fit(
        examples, entity_words=types, edge_types=["person", "thing^-1"], **options
    )
    leads, kinds = order == "passage_first", set()
    for encoded in map(preprocessor.encode, examples):
        length, asked = len(encoded.passage), len(encoded.question)
        features = preprocessor.collate([encoded], 1, length, asked)
        places = {"passage": np.arange(length), "question": np.arange(length, length + asked)}
        first = features["passage_leads"][0, 0] if joint and order == "random" else leads
        joined = np.concatenate([places[part] for part in sorted(places, reverse=not first)])
        found = []
        for part, own in places.items():
            sources = features[f"{part}_sources"][0]
            for token, column, rank in np.argwhere(sources).tolist():
                source = (joined if joint else own)[sources[token, column, rank] - 1]
                found.append((source + 1, own[token] + 1, ("person", "thing")[column]))
        assert preprocessor.typed_edges(encoded) == sorted(found)
        kinds |= {kind for *_, kind in found}
    assert kinds == {"person", "thing"}


def test_a_layer_reads_them_as_the_oracle_does():
    rng = np.random.default_rng(7)
    examples = list(random_examples(rng))
    preprocessor = fit(examples, max_sources=4)
    encoded = list(map(preprocessor.encode, examples))
    features = preprocessor.collate(encoded, ROWS, *WIDTHS.values())
    order = ORDERS[preprocessor.order]
    ids, sources = (
        np.concatenate([features[part + end] for part in order], axis=1) for end in ("", "_sources")
    )
    units, table = (2, 1, 2, 1, 1), rng.normal(size=(len(preprocessor.vocabulary), 4))
    options = {"carry": "mixed", "shared": False, "edge_attention": True}
    x, mask = table[ids].astype("float32"), ids != 0
    layer = MAGEGRU(units, **options, bidirectional=True)
    output = np.asarray(layer(x, sources, mask=mask))
    for n, example in enumerate(examples):
        parts = sources_of(example, preprocessor.order, True, TYPES, 4)
        edges = np.concatenate([parts[part] for part in order])
        for cell, reverse, half in zip(
            layer.cells, (False, True), np.split(output[n], 2, -1), strict=True
        ):
            weights = {w.name: np.asarray(w, "float64") for w in cell.weights}
            wanted = oracles.mage_gru(
                x[n].astype("float64"), edges, mask[n], weights, units, *options.values(), reverse
            )
            np.testing.assert_allclose(half, wanted, atol=1e-5)


EXAMPLE = Example(("a b c",), "d", "a", edges=[(1, 3, "near")])


def test_room_is_for_nearly_all_edges():
    assert fit_near([(1, 3, "near")]).max_sources == 1
    assert fit_near([(1, 3, "near"), (2, 3, "near")]).max_sources == 2
    many = [(n, 8, "near") for n in range(1, 8)]
    with pytest.warns(UserWarning, match="43% of the edges are left out: .* up to 7 were seen"):
        assert fit_near(many).max_sources == 4
    # The same edge again is no other.
    assert fit_near([(1, 8, "near")] * 7).max_sources == 1
    assert fit_near(many, max_sources=7).max_sources == 7
    # One token in a hundred or more has two.
    some = [EXAMPLE] * 300
    some[1] = dataclasses.replace(EXAMPLE, edges=[(1, 3, "near"), (2, 3, "near")])
    assert fit_near(EXAMPLE.edges, some).max_sources == 1


@pytest.mark.parametrize("joint", [True, False])
def test_room_is_for_edges_beside_those_of_chains(joint):
    # The chain of "a" leads into the third token too.
    example = Example(("a b a c",), "d", "a", edges=[(2, 3, "coreference")])
    options = {"entity_words": ["a"], "tokenizer": "spaces", "joint": joint}
    preprocessor = ReaderPreprocessor.fit([example], **options)
    assert preprocessor.max_sources == 2
    features = preprocessor.collate([preprocessor.encode(example)], 1, 4, 1)
    before = int(joint)
    wanted = [[0, 0], [0, 0], [before + 2, before + 1], [0, 0]]
    assert features["passage_sources"][0, :, 0].tolist() == wanted
    chained = dataclasses.replace(example, edges=[(1, 3, "coreference")])
    assert ReaderPreprocessor.fit([chained], **options).max_sources == 1


def fit_near(edges, more=(), **options):
    example = Example(("a b c d e f g h",), "d", "a", edges=edges)
    return ReaderPreprocessor.fit(
        [*more, example], tokenizer="spaces", edge_types=["near"], **options
    )


def test_coreference_alone_is_as_before():
    preprocessor = ReaderPreprocessor.fit(
        [dataclasses.replace(EXAMPLE, edges=())], entity_words=["a"], tokenizer="spaces"
    )
    assert (preprocessor.edge_types, preprocessor.max_sources) == (["coreference"], 1)
    # A user's coreference beside that of words.
    linked = dataclasses.replace(EXAMPLE, sentences=("a a c",), edges=[(4, 3, "coreference")])
    features = preprocessor.collate([preprocessor.encode(linked)], 1, 3, 1)
    assert features["passage_antecedents"].tolist() == [[0, 2, 1]]
    assert features["passage_sources"].shape == (1, 3, 1, 1)


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ((1, 5, "near"), r"b:2: edge 1, \(1, 5, 'near'\), leaves the text: .* have 4 tokens"),
        ((1, 3, "neer"), r"b:2: edge 1, .* does not know. Did you mean 'near'\? It reads near:"),
        ((1, 3, "coreference"), "has a type that the reader does not know. It reads near"),
    ],
)
def test_edges_that_do_not_fit_are_refused(edge, message):
    preprocessor = fit_near(EXAMPLE.edges)
    example = dataclasses.replace(EXAMPLE, edges=[edge], source="b:2")
    with pytest.raises(ValueError, match=message):
        preprocessor.encode(example)
    nameless = message.replace("b:2", "example 3 of 4")
    with pytest.raises(ValueError, match=nameless):
        preprocessor.encode_all([EXAMPLE] * 2 + [dataclasses.replace(example, source=""), EXAMPLE])


@pytest.mark.parametrize("kind", [ReaderPreprocessor, StoryPreprocessor])
def test_models_without_edge_types_leave_edges_unread(kind):
    with pytest.warns(UserWarning, match="types that the model does not read: near. Name them in"):
        preprocessor = kind.fit([EXAMPLE], tokenizer="spaces")
    bare = preprocessor.encode(dataclasses.replace(EXAMPLE, edges=()))
    features = [
        preprocessor.collate([each], 1, 3, 1) for each in (preprocessor.encode(EXAMPLE), bare)
    ]
    for name, array in features[0].items():
        np.testing.assert_array_equal(features[1][name], array)


@pytest.mark.parametrize("kind", [ReaderPreprocessor, CandidatePreprocessor])
def test_another_type_than_the_one_that_was_chosen_is_refused(kind):
    example = dataclasses.replace(EXAMPLE, source="b:2")
    with pytest.raises(ValueError, match=r"b:2: edge 1, .* does not know. It reads coreference:"):
        kind.fit([example], tokenizer="spaces", edge_types=["coreference"])
    bare = dataclasses.replace(EXAMPLE, edges=())
    preprocessor = kind.fit([bare], tokenizer="spaces", edge_types=["coreference"])
    with pytest.raises(ValueError, match=r"b:2: edge 1, .* does not know. It reads coreference:"):
        kind.from_config(preprocessor.get_config()).encode(example)


def test_a_table_of_more_than_coreference_takes_no_others():
    assert EdgeTable(["coreference", "coreference^-1"], 1).is_strict
    assert not EdgeTable(["coreference"], 1).is_strict


def test_one_warning_tells_of_edges_across_texts_that_are_read_apart():
    example = dataclasses.replace(EXAMPLE, source="b:2", edges=[(1, 3, "near"), (4, 1, "near")])
    with pytest.warns(UserWarning, match=r"b:2: edge 2, \(4, 1, 'near'\), joins passage") as found:
        preprocessor = fit_near([(1, 3, "near")], [example] * 3, joint=False)
        preprocessor.encode(example)
    assert len(found) == 1
    assert fit_near([(1, 3, "near")], [example]).max_sources == 1


def test_types_that_do_not_fit_are_refused():
    examples = [EXAMPLE, dataclasses.replace(EXAMPLE, edges=[(1, 2, "far")])]
    message = r"No training example has an edge of type 'role'. There are far, near besides"
    with pytest.raises(ValueError, match=message):
        ReaderPreprocessor.fit(examples, tokenizer="spaces", edge_types=["far", "near", "role"])
    with pytest.raises(ValueError, match="'coref'. Did you mean 'coreference'"):
        ReaderPreprocessor.fit(examples, tokenizer="spaces", edge_types=["far", "coref"])
    linked = [dataclasses.replace(EXAMPLE, edges=[(1, 2, "coreference")])]
    with pytest.raises(ValueError, match="There are none besides coreference"):
        ReaderPreprocessor.fit(linked, tokenizer="spaces", edge_types=["role"])
    for types in ("near", [], ["near", "near"], [1], [["near"]], None):
        with pytest.raises(ValueError, match="edge_types must be a list of different names"):
            EdgeTable(types, 1)
    with pytest.raises(ValueError, match="max_sources must be an integer of at least 1"):
        fit_near(EXAMPLE.edges, max_sources=0)


def test_an_annotation_of_other_tokens_is_refused():
    (annotation,) = annotate(["a b.c d ."], tokenized=True)
    annotation = dataclasses.replace(annotation, typed_edges=[(1, 2, "near")])
    example = AnnotatedExample.from_annotation(annotation, 2, "a", source="c:1")
    preprocessor = fit_near(EXAMPLE.edges)
    assert preprocessor.encode(example).edges.tolist() == [[1, 2, 0]]
    cut = ReaderPreprocessor(["a"], ["a"], [0], [1], "words", edge_types=["near"])
    with pytest.raises(ValueError, match="c:1 was annotated as 4 tokens, but the reader cuts it"):
        cut.encode(example)


def test_a_type_of_annotations_is_added_in_one_place(monkeypatch):
    siblings = {"sibling": lambda structure: [(0, 2)] if structure.governors[2] == 1 else []}
    monkeypatch.setattr(edge_types, "EDGE_TYPES", edge_types.EDGE_TYPES | siblings)
    monkeypatch.setattr(edge_table, "EDGE_TYPES", edge_types.EDGE_TYPES)
    (plain,) = annotate(["Mary saw Tom . who"], tokenized=True)
    parsed = dataclasses.replace(plain, governors=[1, 1, 1, 1, 4], labels=["dep"] * 5)
    example = AnnotatedExample.from_annotation(parsed, question_start=4, answer="Mary")
    types = ["coreference", "sibling"]
    preprocessor = CandidatePreprocessor.fit([example], tokenizer="spaces", edge_types=types)
    features = preprocessor.collate([preprocessor.encode(example)], 1, 4, 1)
    assert np.argwhere(features["passage_sources"]).tolist() == [[0, 2, 1, 0]]
    assert features["passage_sources"][0, 2, 1, 0] == preprocessor.encode(example).edges[0, 0] + 1


def test_labels_of_dependencies_can_be_types():
    (plain,) = annotate(["Mary saw Tom . who left"], tokenized=True)
    labels = ["nsubj", "ROOT", "obj", "punct", "nsubj", "ROOT"]
    parsed = dataclasses.replace(plain, governors=[1, 1, 1, 1, 5, 5], labels=labels)
    typed = dataclasses.replace(parsed, typed_edges=parsed.edges(None, "labels").edges)
    example = AnnotatedExample.from_annotation(typed, question_start=4, answer="Mary")
    table = EdgeTable(["nsubj", "obj", "dependency"], 1)
    edges = table.encode(example, 6)
    assert edges[edges[:, 2] < 2].tolist() == [[2, 1, 0], [6, 5, 0], [2, 3, 1]]
    assert len(edges) == 7


def test_types_that_an_annotation_lacks_are_not_looked_for(monkeypatch):
    (annotation,) = annotate(["So Mary slept , then Mary left"], tokenized=True)
    example = AnnotatedExample.from_annotation(annotation, 4, "mary")
    names = []
    monkeypatch.setattr(
        edge_table, "edges_of", lambda _, name: names.append(name) or np.array([[1, 2]])
    )
    found = EdgeTable(["coreference", "near", "role"], 1).encode(example, 7)
    assert names == ["role"] and found.tolist() == [[1, 2, 2]]
