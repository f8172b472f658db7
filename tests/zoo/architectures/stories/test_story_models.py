"""Memory networks of stories: pictures, retrieval, the end of passes."""

import numpy as np
import pytest

import zoo
from keras_corefmem.callbacks import Questions
from tests.support.events import read_events
from tests.support.model_cases import CASES, RETRIEVE, STORIES, features_of, make, shared


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["lstm", "ngram", "qdren-wind"])
def test_tensorboard_shows_the_sentences_where_there_is_attention(name, tmp_path):
    model = shared(name)
    for callback in model.tensorboard_callbacks(tmp_path, CASES[name].examples[:3]):
        if isinstance(callback, Questions):
            callback.write(0)
    tags = read_events(tmp_path / "validation").Tags()
    shown = [f"questions/attention/{n}" for n in (1, 2, 3)] if model.has_attention else []
    assert sorted(tags["images"]) == [
        "questions/answer_after_sentence/1",
        "questions/answer_after_sentence/2",
        *shown,
    ]
    assert "answers" in tags["tensors"]


def test_retrieval_reads_the_sentences_about_the_question():
    assert RETRIEVE.keys() <= set(zoo.EndToEndMemoryNetwork.arguments())
    model = make("memn2n", **RETRIEVE)
    attention = np.asarray(model.attend(features_of(model, STORIES)))
    kept = np.count_nonzero(np.any(attention != 0, axis=-1), axis=-1)
    counts = [len(example.sentences) for example in STORIES]
    np.testing.assert_array_equal(kept, np.minimum(counts, 4))
    for row, example in zip(attention, STORIES, strict=True):
        assert np.all(row[[fact - 1 for fact in example.supporting_facts]] != 0)
    rows = np.concatenate([model.preprocessor.encode(e).sentences for e in STORIES])
    words = model.preprocessor.vocabulary.words
    idf = np.asarray(model.get_layer("retrieve").idf)
    for word in ("mary", "went", "the"):
        count = np.sum(np.any(rows == words.index(word), axis=-1))
        expected = np.log((1 + len(rows)) / (1 + count))
        assert idf[words.index(word)] == pytest.approx(expected, abs=1 / 256)


@pytest.mark.thorough
def test_retrieval_of_the_whole_passage_changes_nothing():
    wide = make("qdren", retrieve=40)
    features = features_of(wide, STORIES[:8])
    both = (each.inspect(features) for each in (wide, shared("qdren")))
    for found, expected in zip(*both, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.thorough
def test_the_end_of_passes_stays_behind_the_sentences():
    options = {"end_of_passes": True, "attention": "softmax"}
    for retrieve in (None, 40):
        model = make("dmn", retrieve=retrieve, **options)
        attention = np.asarray(model.attend(features_of(model, STORIES[:4])))
        made = attention.any(axis=1)
        assert attention.shape == (4, 17, 3) and made[:, 0].all()
        assert np.all(attention[:, 16][made] > 0)
        np.testing.assert_allclose(attention.sum(axis=1)[made], 1, rtol=1e-5)


def test_columns_are_named():
    assert shared("dmn").columns() == ["pass 1", "pass 2", "pass 3"]
    assert shared("memn2n").columns()[0] == "hop 1"
    model = make("ren", slots=4, units=100)
    keys = model.get_layer("entity_memory").cell.keys
    assert model.columns() == ["slot 1", "slot 2", "slot 3", "slot 4"]
    words = ["mary", "kitchen", "mary"]
    rows = [model.preprocessor.vocabulary.words.index(word) for word in words]
    table = np.asarray(model.get_layer("word_embedding").embeddings)
    keys.assign(np.concatenate([3 * table[rows] + 0.1, -table[:1]]))
    assert model.columns() == ["slot 1 mary", "slot 2 kitchen", "slot 3 mary", "slot 4"]


def test_word_vectors_to_start_from(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("mary 1 1 1\nkitchen -1 -1 -1\n")
    model = make("qdren", spread=0, units=3, word_vectors=path)
    words = model.preprocessor.vocabulary.words
    table = np.asarray(model.get_layer("word_embedding").embeddings)
    assert table[words.index("mary")].tolist() == [1, 1, 1]
    assert table[words.index("kitchen")].tolist() == [-1, -1, -1] and not table[0].any()
    assert str(model.coverage).startswith(f"2 of {len(words) - 2} words have a vector; ")
    with pytest.raises(ValueError, match="3 numbers instead of 8"):
        make("lstm", embedding_dim=8, word_vectors=path)
    with pytest.raises(ValueError, match="EndToEndMemoryNetwork has no word vectors of its own"):
        make("memn2n", word_vectors=path)
    assert "word_vectors" in zoo.DynamicMemoryNetwork.arguments()
    assert "word_vectors" not in zoo.NGramClassifier.arguments()
