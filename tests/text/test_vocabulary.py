import collections
import json

import numpy as np
import pytest
import tensorflow as tf

from keras_corefmem.text import PADDING, UNKNOWN, Vocabulary
from keras_corefmem.text.vocabulary import hash_bucket


def test_words_have_ids_behind_the_specials_and_back():
    vocabulary = Vocabulary(["mary", "."])
    assert vocabulary.words == ["", "[unknown]", "mary", "."]
    assert len(vocabulary) == 4
    ids = vocabulary.encode([".", "john", "mary"])
    assert ids.dtype == np.int32
    np.testing.assert_array_equal(ids, [3, UNKNOWN, 2])
    assert vocabulary.decode([*ids, PADDING]) == [".", "[unknown]", "mary", ""]
    empty = vocabulary.encode([])
    assert (empty.shape, empty.dtype, vocabulary.decode(empty)) == ((0,), np.int32, [])


@pytest.mark.parametrize("outside", [-1, 3])
def test_decode_rejects_ids_outside(outside):
    with pytest.raises(ValueError, match=f"Id {outside} .* vocabulary of 3"):
        Vocabulary(["mary"]).decode([2, outside])


def test_from_tokens_orders_by_frequency_then_alphabet():
    token_lists = iter([["b", "c", "a"], ["c", "a", "d"], []])
    assert Vocabulary.from_tokens(token_lists).words[2:] == ["a", "c", "b", "d"]


def test_from_counts_is_from_tokens_counted():
    tokens = ["b", "c", "a", "[unknown]", "c", "a", "d"]
    for size in (None, 4):
        # The special of the text is no word.
        found = Vocabulary.from_counts(collections.Counter(tokens), size)
        assert "[unknown]" not in found.known
        assert found.words == Vocabulary.from_tokens([tokens], size).words


def test_max_size_counts_the_specials():
    vocabulary = Vocabulary.from_tokens([["b", "c", "a"], ["c"]], max_size=4)
    assert vocabulary.words[2:] == ["c", "a"]
    assert len(vocabulary) == 4
    with pytest.raises(ValueError, match="max_size"):
        Vocabulary.from_tokens([["a"]], max_size=2)


@pytest.mark.parametrize("word", ["", "[unknown]", "mary"])
def test_words_must_be_distinct(word):
    with pytest.raises(ValueError, match=f"{word!r}".replace("[", r"\[")):
        Vocabulary(["mary", word])


def test_words_are_strings():
    with pytest.raises(ValueError, match="`words` must be strings, got 3"):
        Vocabulary(["mary", 3])


def test_unknown_words_of_several_types():
    vocabulary = Vocabulary(["mary", "."], unknown_types=50)
    assert len(vocabulary) == 4 + 49 and vocabulary.known == ["mary", "."]
    new = [f"name{n}" for n in range(2000)]
    ids = vocabulary.encode([".", *new, "mary", *new])
    np.testing.assert_array_equal(ids[[0, 2001]], [3, 2])
    np.testing.assert_array_equal(ids[1:2001], ids[2002:])
    assert set(ids[1:2001]) == {UNKNOWN, *range(4, 53)}
    assert np.bincount(ids[1:2001]).max() < 80
    np.testing.assert_array_equal(vocabulary.is_unknown(ids), (ids == UNKNOWN) | (ids > 3))
    assert vocabulary.decode([3, 4, 52]) == [".", "[unknown 2]", "[unknown 50]"]


def test_types_are_those_of_a_graph():
    # What makes readers in a SavedModel see the same ids.
    new = ["claire", "जि", "don't", "x" * 200]
    buckets = tf.strings.to_hash_bucket_fast(new, 7).numpy()
    ids = Vocabulary(["mary"], unknown_types=7).encode(new)
    np.testing.assert_array_equal(ids, np.where(buckets == 0, UNKNOWN, 2 + buckets))


def test_text_that_spells_a_special_is_unknown_as_in_a_saved_model():
    spelled = ["[unknown]", "[unknown 2]", "[symbol 1]", ""]
    vocabulary = Vocabulary(["mary"], unknown_types=50)
    kinds = [hash_bucket(word, 50) for word in spelled]
    expected = [2 + kind if kind else UNKNOWN for kind in kinds]
    assert vocabulary.encode(spelled).tolist() == expected
    assert set(Vocabulary(["mary"], free_symbols=2).encode(spelled)) == {UNKNOWN}


def test_unknown_words_are_free_symbols_of_their_text():
    vocabulary = Vocabulary(["mary", "met", "."], free_symbols=3)
    assert vocabulary.words[2:] == ["mary", "met", ".", "[symbol 1]", "[symbol 2]", "[symbol 3]"]
    passage, question = "mary met ann , ann met bob .".split(), "bob met cid eve ann".split()
    ids = [vocabulary.decode(each) for each in vocabulary.encode_texts([passage, question])]
    # The known words sum to 2 + 3 · 3 + 4, which turns the symbols by 0; a fourth is unknown.
    names = {"ann": "[symbol 1]", "bob": "[symbol 2]", "cid": "[symbol 3]"}
    names |= dict.fromkeys((",", "eve"), "[unknown]")
    assert ids == [[names.get(word, word) for word in text] for text in (passage, question)]
    assert vocabulary.is_unknown(vocabulary.encode_texts([["mary", "ann"]])[0]).tolist() == [0, 1]
    assert Vocabulary.from_config(vocabulary.get_config()).words == vocabulary.words


def test_symbols_depend_on_the_known_words_alone():
    vocabulary = Vocabulary(["mary", "met", "."], free_symbols=5)
    first, second = (vocabulary.encode_texts([text.split()])[0] for text in ("ann met", "bob met"))
    np.testing.assert_array_equal(first, second)
    starts = {vocabulary.encode_texts([["ann", *["mary"] * n]])[0][0] for n in range(5)}
    assert starts == set(range(5, 10))


def test_symbols_and_types_of_unknown_words_exclude_each_other():
    with pytest.raises(ValueError, match="leave free_symbols or unknown_types out"):
        Vocabulary(["mary"], unknown_types=2, free_symbols=3)


@pytest.mark.parametrize("name", ["unknown_types", "free_symbols"])
@pytest.mark.parametrize("number", [-1, 1.5, "2", 100_001, 2**31])
def test_number_of_types_and_symbols(name, number):
    with pytest.raises(ValueError, match=rf"{name}\b.* (must be an integer of at least|may be)"):
        Vocabulary(["mary"], **{name: number})


def test_there_are_unknown_words_of_one_type_at_least():
    with pytest.raises(ValueError, match="unknown_types"):
        Vocabulary(["mary"], unknown_types=0)


def test_config_round_trip():
    vocabulary = Vocabulary(["mary", "जि", "."], 3)
    config = json.loads(json.dumps(vocabulary.get_config()))
    assert Vocabulary.from_config(config).words == vocabulary.words


@pytest.mark.parametrize("tokens", ["mary left", ["mary left"], [["mary"], "left"]])
def test_letters_are_not_taken_for_words(tokens):
    with pytest.raises(ValueError, match="Pass lists of tokens, got the string '.*left'"):
        Vocabulary.from_tokens(tokens)
