"""The recurrent baseline against its equations."""

import keras
import numpy as np
import pytest

from keras_corefmem.datasets.stories import simulator
from zoo import RecurrentReader

EXAMPLES = simulator.simulate(1, 12)
cells = pytest.mark.parametrize("cell", ["lstm", "gru"])


def make(cell, **options):
    keras.utils.set_random_seed(1)
    reader = RecurrentReader.from_examples(EXAMPLES, cell=cell, units=5, embedding_dim=4, **options)
    random = np.random.default_rng(1)
    reader.set_weights([random.normal(0, 0.6, weight.shape) for weight in reader.get_weights()])
    return reader


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def last_state(cell, vectors, kernel, recurrent_kernel, bias):
    """The state after all words: gates i, f, g, o of an LSTM; r, z, h̃ of a GRU."""
    h = c = np.zeros(len(recurrent_kernel))
    for x in vectors:
        a, b = x @ kernel + bias, h @ recurrent_kernel
        if cell == "lstm":
            i, f, g, o = np.split(a + b, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        else:
            (r, z, g), (ur, uz, ug) = np.split(a, 3), np.split(b, 3)
            z = sigmoid(z + uz)
            h = (1 - z) * h + z * np.tanh(g + sigmoid(r + ur) * ug)
    return h


@cells
def test_logits_follow_the_equations(cell):
    reader = make(cell)
    encoded = [reader.preprocessor.encode(example) for example in EXAMPLES]
    found = reader.predict_on_batch(reader.preprocessor.collate(encoded, len(encoded), 16))
    (table,) = reader.get_layer("word_embedding").get_weights()
    weights, (output, bias) = (reader.get_layer(name).get_weights() for name in (cell, "answer"))
    for example, logits in zip(EXAMPLES, found, strict=True):
        texts = example.passage, example.question
        words = np.concatenate(list(map(reader.preprocessor.ids_of_text, texts)))
        vectors = table[words].astype("float64")
        expected = last_state(cell, vectors, *weights) @ output + bias
        np.testing.assert_allclose(logits[1:], expected[1:], atol=1e-5)


def test_an_lstm_counts_words_wherever_padding_lies():
    reader = RecurrentReader(5, 2, 4, units=1, embedding_dim=3)
    layer, answer = reader.get_layer("lstm"), reader.get_layer("answer")
    # i = f = o = 1/2 and g = 1, so that c is 1 - 2^-n after n words.
    layer.set_weights([np.zeros((3, 4)), np.zeros((1, 4)), np.array([0, 0, 20, 0])])
    answer.set_weights([np.ones((1, 2)), np.zeros(2)])
    logits = reader.predict_on_batch(
        {
            "sentences": np.array(
                [[[2, 0, 0, 0], [0] * 4, [4, 3, 0, 0]], [[1, 0, 0, 0]] + 2 * [[0] * 4]]
            ),
            "question": np.array([[3, 0, 0, 0], [2, 4, 0, 0]]),
        }
    )
    np.testing.assert_allclose(logits[:, 1], np.tanh([15 / 16, 7 / 8]) / 2, atol=1e-6)


@cells
def test_l2_is_about_all_weights_but_biases(cell):
    reader = make(cell, l2=0.25)
    weights = [weight for weight in reader.get_weights() if weight.ndim > 1]
    assert len(weights) == 4
    expected = 0.25 * sum(np.sum(np.square(weight)) for weight in weights)
    assert float(sum(reader.losses)) == pytest.approx(expected, rel=1e-5)


def test_an_unknown_cell_is_refused():
    with pytest.raises(ValueError, match="cell: Input should be 'lstm' or 'gru' .got 'rnn'"):
        RecurrentReader(5, 2, 4, cell="rnn")
