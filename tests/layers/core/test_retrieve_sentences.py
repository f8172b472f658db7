import keras
import numpy as np
import pytest

from keras_corefmem.layers import RestoreSentences, RetrieveSentences, inverse_sentence_frequency
from tests.support.conformance.evaluation import compiled, evaluate

WORDS = 12
CASES = [(1, 1), (3, 1), (4, 2), (5, 3), (9, 2), (40, 4)]


def oracle(sentences, question, idf, k, hops):
    """Positions of one passage by sets and sorting."""
    words = [set(sentence) - {0, 1} for sentence in sentences.tolist()]
    kept, in_question = [], set(question.tolist())
    for hop in range(1, hops + 1):
        share = {w: np.mean([w in words[n] for n in kept]) if kept else 0 for w in range(WORDS)}
        share |= dict.fromkeys(in_question, 1)
        match = [round(sum(idf[w] * share[w] for w in sentence), 9) for sentence in words]
        real = np.flatnonzero(sentences.any(axis=1))
        eligible = [n for n in real if match[n] > 0 or hop == hops]
        eligible.sort(key=lambda n: (n in kept, match[n], n), reverse=True)
        kept = eligible[: int(np.ceil(k * hop / hops))]
    return sorted(n + 1 for n in kept)


def random_passages(seed=0, batch=6, time=11, width=5):
    """Passages of 1 to `time` sentences with repeated and unknown words, and questions."""
    random = np.random.default_rng(seed)
    sentences = random.integers(1, WORDS, (batch, time, width), dtype="int32")
    sentences[np.arange(width) >= random.integers(1, width + 1, (batch, time, 1))] = 0
    sentences[np.arange(time) >= random.integers(1, time + 1, (batch, 1))] = 0
    question = random.integers(1, WORDS, (batch, width), dtype="int32")
    question[:, 3:] = 0
    return sentences, question


def make_layer(k, hops=1, seed=1):
    """A layer with random weights of words, few enough values for ties."""
    layer = RetrieveSentences(k, WORDS, hops)
    layer.build((None, None, 5), (None, 5))
    idf = np.random.default_rng(seed).integers(0, 4, WORDS) / 128
    layer.idf.assign(idf.astype("float32"))
    return layer, idf


@pytest.mark.parametrize(("k", "hops"), CASES)
def test_keeps_what_the_definition_says(k, hops):
    layer, idf = make_layer(k, hops)
    run, counts = compiled(layer), set()
    for seed in range(5):
        sentences, question = random_passages(seed)
        chosen, positions = run(sentences, question)
        assert chosen.shape == (6, k, 5) and positions.shape == (6, k)
        assert chosen.dtype == positions.dtype == np.int32
        for n in range(6):
            expected = oracle(sentences[n], question[n], idf, k, hops)
            counts.add(len(expected))
            expected += [0] * (k - len(expected))
            np.testing.assert_array_equal(positions[n], expected)
            padded = np.pad(sentences[n], [(1, 0), (0, 0)])
            np.testing.assert_array_equal(chosen[n], padded[expected])
    assert len(counts) > 1 or k == 1


def test_a_passage_checked_by_hand():
    # 2 mary, 3 took, 4 milk, 5 went, 6 garden, 7 john, 8 kitchen, 9 the
    sentences = [[2, 3, 9, 4, 0], [7, 5, 9, 8, 0], [2, 5, 9, 6, 0], [7, 5, 9, 6, 0], [0] * 5]
    sentences = np.array([sentences], "int32")
    question = np.array([[9, 4, 1, 0, 0]], "int32")
    idf = inverse_sentence_frequency(sentences[0, :4], WORDS)
    assert idf[9] == 0 and np.all(idf[:2] == 0)
    np.testing.assert_allclose(idf[[4, 2, 5]], np.log([5 / 2, 5 / 3, 5 / 4]), atol=1 / 256)
    expected = {(1, 1): [1], (2, 1): [1, 4], (2, 2): [1, 3]}
    expected |= {(3, 1): [1, 3, 4], (6, 1): [1, 2, 3, 4]}
    for (k, hops), positions in expected.items():
        layer, _ = make_layer(k, hops)
        layer.idf.assign(idf)
        output = keras.ops.convert_to_numpy(layer(sentences, question)[1])[0]
        assert output[output > 0].tolist() == positions


@pytest.mark.parametrize("hops", [1, 2])
def test_padding_and_company_change_nothing(hops):
    layer, _ = make_layer(4, hops)
    sentences, question = random_passages()
    read = compiled(layer)
    chosen, positions = read(sentences, question)
    padded = np.pad(sentences, [(0, 0), (0, 3), (0, 0)])
    for n in range(len(sentences)):
        for rows in (sentences, padded):
            alone = read(rows[n : n + 1], question[n : n + 1])
            np.testing.assert_array_equal(alone[0][0], chosen[n])
            np.testing.assert_array_equal(alone[1][0], positions[n])


def test_weights_are_exact_in_half_precision():
    random = np.random.default_rng(0)
    rows = random.integers(0, 4000, (3000, 6)) * (random.random((3000, 6)) < 0.9)
    idf = inverse_sentence_frequency(rows, 5000)
    counts = np.array([np.any(rows == w, axis=1).sum() for w in range(2, 50)])
    np.testing.assert_allclose(idf[2:50], np.log(3001 / (1 + counts)), atol=1 / 256)
    np.testing.assert_array_equal(idf.astype("float16").astype("float32"), idf)
    assert len(np.unique(idf)) > 5


def test_restores_rows_to_their_places():
    layer, _ = make_layer(4)
    sentences, question = random_passages()
    values = np.random.default_rng(2).normal(size=(6, 5, 3)).astype("float32")
    _, positions = evaluate(layer, sentences, question)
    expected = np.zeros((6, 12, 3), "float32")
    for n in range(6):
        for row, position in enumerate(positions[n]):
            if position:
                expected[n, position - 1] = values[n, row]
        expected[n, 11] = values[n, 4]
    output = evaluate(RestoreSentences(), values, positions, sentences)
    np.testing.assert_allclose(output, expected, rtol=1e-6)


def test_shapes_are_known_and_a_saved_model_keeps_its_weights(tmp_path):
    inputs = keras.Input((None, 5), dtype="int32"), keras.Input((5,), dtype="int32")
    retrieve = RetrieveSentences(4, WORDS, 2, name="retrieve")
    chosen, positions = retrieve(*inputs)
    values = keras.layers.Embedding(WORDS, 3)(chosen[..., 0])
    model = keras.Model(inputs, RestoreSentences()(values, positions, inputs[0]))
    assert model.output_shape == (None, None, 3) and chosen.shape == (None, 4, 5)
    idf = np.random.default_rng(3).integers(0, 400, WORDS) / 128
    retrieve.idf.assign(idf)
    inputs = random_passages()
    expected = model.predict_on_batch(inputs)
    assert np.any(expected != 0) and np.any(np.all(expected == 0, axis=-1))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.get_layer("retrieve").idf, idf)
    np.testing.assert_array_equal(loaded.predict_on_batch(inputs), expected)
    assert loaded.get_layer("retrieve").get_config() == retrieve.get_config()


def test_shapes_are_inferred_from_shapes():
    retrieve, restore = RetrieveSentences(4, WORDS), RestoreSentences()
    assert retrieve.compute_output_shape((2, None, 5), (2, 5)) == ((2, 4, 5), (2, 4))
    for values, time, restored in ((5, 12, 13), (None, 12, None), (5, None, None)):
        shapes = (2, values, 3), (2, 4), (2, time, 5)
        assert restore.compute_output_shape(*shapes) == (2, restored, 3)
        symbols = keras.KerasTensor(shapes[0]), *(keras.KerasTensor(s, "int32") for s in shapes[1:])
        assert restore(*symbols).shape == (2, restored, 3)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision_keeps_the_same(policy):
    idf = inverse_sentence_frequency(random_passages(time=40)[0][0], WORDS)
    sentences, question = random_passages(5, time=40)
    output = []
    for dtype in ("float32", policy):
        layer = RetrieveSentences(7, WORDS, 2, dtype=dtype)
        layer.build((None, None, 5), (None, 5))
        layer.idf.assign(idf)
        output.append(evaluate(layer, sentences, question)[1])
    np.testing.assert_array_equal(*output)
