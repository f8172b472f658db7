"""Drawn views: everything visible, readable and on the page."""

import io

import numpy as np
import pytest
from matplotlib.image import imread

from keras_corefmem.visualization import HeadView, TableView, TokenView, draw
from keras_corefmem.visualization.pictures import MANY, SIZE, _named, edge_colours
from tests.support.pictures import ATTENTION, TARGETS, WORDS, pixels


def test_long_passages_and_odd_tokens_stay_on_the_page():
    words = "$ naïve {x} a_very_long_token_that_goes_on_and_on \\alpha ^ % don't".split()
    sentences = [words * 3] + [words[:3]] * 80
    length = sum(map(len, sentences))
    attention = np.full(length, 1 / length)
    chains = np.arange(length) % 40
    heading = [("✗ kitchen 12%", "red"), ("right: garden", "black")]
    view = TokenView(sentences, attention, chains, ["who", "?"], [1, 0], heading, (2, 81))
    picture = draw(view)
    height, width, _ = pixels(picture).shape
    assert width > height / 2 and height < 2000


def test_long_questions_and_headings_keep_pictures_narrow():
    def tokens(count):
        question = ["word"] * count
        return TokenView([["a"]], np.zeros(1), [0], question, [0] * count, edges=[(1, 2, "x")])

    def table(count):
        heading = [("word tag, right: TAG", "red")] * count
        return TableView(["a"], np.zeros((1, 1)), ["b"], "word " * count, heading)

    short, long = (pixels(draw(tokens(count))).shape for count in (26, 400))
    assert long[1] == short[1] and long[0] > short[0] + 400
    short, long = (pixels(draw(table(count))).shape for count in (30, 4000))
    assert long[:2] == short[:2] and long[1] < 1400


def test_edges_are_arcs_by_type():
    def picture(edges, shares):
        words = [["a", "b"], ["c"]]
        return draw(
            TokenView(words, np.zeros(3), np.zeros(3, int), ["d"], [0], (), (), edges, shares)
        )

    near, far = (1, 2, "near"), (2, 4, "far")
    drawn = [picture(*each) for each in (((), {}), ([near], {}), ([near, far], {}))]
    drawn.append(picture([near, far], {"near": 0.25}))
    assert len(set(drawn)) == 4
    colours = edge_colours(TokenView([], [], [], [], [], (), (), [near, far]))
    assert list(colours) == ["far", "near"] and len(set(colours.values())) == 2


def test_attention_and_answers_are_visible():
    def brightness(weight):
        return pixels(draw(TokenView([["a", "b"]], [weight, 0], [0, 0], ["c"], [0]))).mean()

    assert brightness(1.0) < brightness(0.3) < brightness(0.0)
    heading = [("✓ two 90%", "green")]
    names = [f"answer{n}" for n in range(30)]
    sentences = ["A short one.", "A long one. " * 20]

    def page(probabilities):
        options = {"right": "answer7", "max_columns": 10}
        view = TableView(sentences, probabilities, names, "Which?", heading, (1,), **options)
        return pixels(draw(view))

    flat = np.full((2, 30), 1 / 30)
    sure = np.eye(30)[[3, 7]]
    assert page(flat).shape == page(sure).shape
    assert page(sure).mean() < page(flat).mean()


@pytest.mark.thorough
@pytest.mark.parametrize(("rows", "count"), [(3, 4), (70, 20), (30, 90), (5, 0)])
def test_gates_of_many_slots_and_sentences_stay_readable(rows, count):
    values = np.random.default_rng(0).random((rows, count))
    names = [f"slot {n} bathroom" for n in range(1, count + 1)]
    sentences = ["Mary journeyed to the bathroom."] * rows

    def page(values):
        view = TableView(sentences, values, names, "Where?", [("kitchen 9%", "black")])
        return pixels(draw(view))

    height, width, _ = page(values).shape
    assert height < 1800 and width < 2600
    if rows * count == 12:
        assert page(np.ones_like(values)).mean() < page(np.zeros_like(values)).mean()


def test_maps_stand_side_by_side():
    picture = imread(io.BytesIO(draw(HeadView(WORDS, [("coref_all", ATTENTION, TARGETS)]))))
    ink = np.min(picture[..., :3], axis=-1)
    halves = np.split(ink[:, : ink.shape[1] // 2 * 2], 2, axis=1)
    # Dark blue where a target is, lighter where attention is less than all.
    assert all(np.sum(half < 0.25) > 50 for half in halves)
    assert not np.allclose(*halves)
    two = imread(io.BytesIO(draw(HeadView(WORDS, [("a", ATTENTION, TARGETS)] * 2))))
    assert abs(two.shape[0] - 2 * picture.shape[0]) <= 1 and two.shape[1] == picture.shape[1]


def test_the_words_of_targets_are_named_at_maps_of_long_passages():
    wanted = np.zeros(140, bool)
    wanted[[3, 5, 77, 139]] = True
    named = _named(wanted)
    # One of two neighbours has room; others fill the gaps.
    assert named[:3] == [3, 77, 139] and len(named) > 8
    assert np.min(np.diff(np.sort(named))) >= 10
    assert sorted(_named(wanted[:12])) == list(range(12))


@pytest.mark.parametrize("columns", [6, 20])
def test_stories_are_readable_as_thumbnails(columns):
    sentences = ["mary journeyed to the kitchen ."] * 10
    tokens = [sentence.split() for sentence in sentences]
    where = ["where", "is", "mary", "?"]
    seen = TokenView(tokens, np.zeros(60), np.zeros(60, int), where, [0] * 4)
    names = [f"slot {n}" for n in range(columns)]
    table = TableView(sentences, np.zeros((10, columns)), names, "where is mary ?")
    heads = HeadView(WORDS, [("coref_all", ATTENTION, TARGETS)] * 2)
    # Pixels of a letter where TensorBoard shows the picture 290 pixels wide.
    sizes = (seen, 10, 9), (table, 10, 7 if columns <= MANY else 6), (heads, SIZE, 6)
    for view, size, least in sizes:
        assert 290 / pixels(draw(view)).shape[1] * 110 * size / 72 > least
