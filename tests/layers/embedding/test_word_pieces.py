import keras
import numpy as np
import pytest
from keras import ops

import zoo
from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.graphs import annotate
from keras_corefmem.layers import WordPieces

FIRST, LAST = 8, 9
# By word; word 4 has no pieces, and those of the padding are not read.
PIECES = [[7, 7, 7], [1], [2, 3], [4, 5, 6], []]
WORDS = np.array([[3, 1, 2, 2, 0], [2, 4, 0, 0, 0], [1, 3, 4, 1, 3], [0, 0, 0, 0, 0]])


def make_backbone(named=False, layers=False, segments=False):
    """A small encoder, whose states depend on all pieces and their places, not on padding."""
    names = ["token_ids", "padding_mask", *["segment_ids"] * segments]
    inputs = {name: keras.Input((None,), dtype="int32", name=name) for name in names}
    x = keras.layers.Embedding(10, 6, embeddings_initializer="glorot_normal")(inputs["token_ids"])
    read = x * ops.cast(inputs["padding_mask"], "float32")[..., None]
    states = ops.tanh(ops.cumsum(read, axis=1) + 0.3 * ops.sum(read, axis=1, keepdims=True))
    if segments:
        states = states + ops.cast(inputs["segment_ids"], "float32")[..., None]
    outputs = [x, states] if layers else states
    return keras.Model(inputs, {"sequence_output": outputs} if named else outputs)


def expected(backbone, words, first, last, max_length):
    """The same word by word, each text without padding."""
    ends = [[end] if end is not None else [] for end in (first, last)]
    room = None if max_length is None else max_length - sum(map(len, ends))
    rows = []
    for text in words:
        pieces = [(t, piece) for t, word in enumerate(text) if word for piece in PIECES[word]]
        pieces = pieces[:room]
        ids = np.array([[*ends[0], *(piece for _, piece in pieces), *ends[1]]], "int32")
        inputs = {"token_ids": ids, "padding_mask": np.ones_like(ids)}
        inputs["segment_ids"] = np.zeros_like(ids)
        vectors = np.zeros((1, 6))
        if ids.size:
            states = backbone({name: inputs[name] for name in backbone.input})
            states = states["sequence_output"] if isinstance(states, dict) else states
            vectors = ops.convert_to_numpy(states)[0][len(ends[0]) :]
        rows.append(np.zeros((len(text), 6)))
        for t in range(len(text)):
            own = [n for n, (place, _) in enumerate(pieces) if place == t]
            if own:
                rows[-1][t] = vectors[own].mean(axis=0)
    return np.stack(rows)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("max_length", [None, 6, 100])
@pytest.mark.parametrize("ends", [(None, None), (FIRST, None), (None, LAST), (FIRST, LAST)])
def test_words_are_means_of_their_pieces(ends, max_length, named):
    backbone = make_backbone(named, segments=named)
    layer = WordPieces(backbone, PIECES, *ends, max_length)
    vectors = ops.convert_to_numpy(layer(WORDS))
    np.testing.assert_allclose(vectors, expected(backbone, WORDS, *ends, max_length), atol=1e-5)
    # More padding changes nothing.
    wider = ops.convert_to_numpy(layer(np.pad(WORDS, ((0, 1), (0, 3)))))
    np.testing.assert_allclose(wider[:4, :5], vectors, atol=1e-6)
    assert not wider[4].any() and not wider[:, 5:].any()


def test_layers_stay_apart():
    backbone = make_backbone(layers=True)
    vectors = ops.convert_to_numpy(WordPieces(backbone, PIECES, FIRST, LAST)(WORDS))
    assert vectors.shape == (4, 5, 2, 6)
    for n, output in enumerate(backbone.outputs):
        one = keras.Model(backbone.input, output)
        wanted = expected(one, WORDS, FIRST, LAST, None)
        np.testing.assert_allclose(vectors[:, :, n], wanted, atol=1e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("freeze", [True, False])
def test_a_reader_of_pieces_trains_and_is_saved(freeze, tmp_path):
    texts = [f"{a} met {b} . then {b} saw {a} ." for a, b in ("ab", "ba", "ac", "ca")]
    examples = [
        AnnotatedExample.from_annotation(annotation, 8, text.split()[-2])
        for text, annotation in zip(texts, annotate(texts, tokenized=True), strict=True)
    ]
    backbone = make_backbone(layers=True)

    def make_word_encoder(words):
        assert words[:2] == ["", "[unknown]"] and {"a", "met"} <= set(words)
        pieces = [[1 + n % 7, 2] for n in range(len(words))]
        return WordPieces(backbone, pieces, FIRST, LAST, 64)

    options = {"freeze_word_encoder": freeze, "units": 4, "characters": False}
    reader = zoo.BiDAFReader.from_examples(examples, make_word_encoder=make_word_encoder, **options)
    # XLA would compile for longer than the rest takes.
    reader.compile(jit_compile=keras.backend.backend() == "jax")
    before = [ops.convert_to_numpy(w) for w in backbone.weights]
    batches = reader.batches(examples, batch_size=4)
    reader.fit(batches, epochs=2, verbose=0)
    after = [ops.convert_to_numpy(w) for w in backbone.weights]
    assert all(map(np.array_equal, before, after)) == freeze
    # What makes a reader of a configuration leaves it as it is.
    if freeze:
        again = zoo.BiDAFReader.from_config(reader.get_config())
        assert again.count_params() == reader.count_params()
    reader.save(tmp_path / "reader.keras")
    loaded = zoo.load(tmp_path / "reader.keras")
    assert len(loaded.trainable_weights) == len(reader.trainable_weights)
    assert len(loaded.optimizer.variables) == len(reader.optimizer.variables)
    texts = "a met b . then b saw a", "a saw"
    assert loaded.read(*texts).probability == pytest.approx(reader.read(*texts).probability)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backbone": keras.layers.Embedding(3, 4)}, "functional model whose input is a dict"),
        ({"pieces": [[1], []]}, "of which one has some"),
        ({"pieces": [[], [1, -1]]}, "ids from 0"),
        ({"first": 1, "last": 2, "max_length": 2}, "must leave a piece between first and last"),
    ],
)
def test_rejects_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        WordPieces(**{"backbone": make_backbone(), "pieces": PIECES, **arguments})
