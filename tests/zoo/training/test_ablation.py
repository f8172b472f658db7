import numpy as np
import pytest

from keras_corefmem.datasets import Splits
from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.graphs import learn_entity_words
from keras_corefmem.preprocessing import ReaderPreprocessor
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.text import get_tokenizer
from zoo import training
from zoo.training import Settings
from zoo.training.ablation import encode_examples
from zoo.training.batches import draw_examples

EXAMPLES = simulator.simulate(2, 30, seed=4)
LINKED = ("passage", "question", "candidates", "passage_antecedents", "question_antecedents")
TINY = {"units": 4, "embedding_dim": 4, "layers": 1}


@pytest.fixture(scope="module")
def preprocessor():
    entities = learn_entity_words(EXAMPLES, get_tokenizer("words"))
    return ReaderPreprocessor.fit(EXAMPLES, entity_words=entities, order="passage_first")


def collate(preprocessor, rows):
    lengths = (max(len(getattr(row, name)) for row in rows) for name in ("passage", "question"))
    return preprocessor.collate(rows, len(rows), *lengths, LINKED)


def drawn(preprocessor, mentions, seed=0, examples=EXAMPLES):
    """Entity number of every token of all examples."""
    rows = encode_examples(examples, preprocessor, mentions, seed)
    return np.concatenate([row.chain_ids for row in rows])


def test_all_mentions_or_none(preprocessor):
    shares = (encode_examples(EXAMPLES, preprocessor, share, 0) for share in (None, 1.0, 0.0))
    plain, every, none = (collate(preprocessor, rows) for rows in shares)
    for name, array in collate(preprocessor, list(map(preprocessor.encode, EXAMPLES))).items():
        np.testing.assert_array_equal(plain[name], array, name)
        np.testing.assert_array_equal(every[name], array, name)
        if name.endswith("antecedents"):
            assert array.any() and not none[name].any()
        else:
            np.testing.assert_array_equal(none[name], array, name)


def test_mentions_of_a_smaller_share_are_among_those_of_a_larger_one(preprocessor):
    every, most, some = (drawn(preprocessor, share) for share in (1.0, 0.8, 0.3))
    for less, more in ((some, most), (most, every)):
        kept = less > 0
        np.testing.assert_array_equal(less[kept], more[kept])
    counts = [np.count_nonzero(entities) for entities in (some, most, every)]
    assert counts[0] / counts[2] == pytest.approx(0.3, abs=0.05)
    assert counts[1] / counts[2] == pytest.approx(0.8, abs=0.05)
    assert (drawn(preprocessor, 0.3, seed=1) != some).any()


@pytest.mark.parametrize("mentions", [0.5, "random"])
def test_the_draw_does_not_depend_on_the_other_examples(mentions, preprocessor):
    rows = encode_examples(EXAMPLES, preprocessor, mentions, 7)
    backwards = encode_examples(EXAMPLES[::-1], preprocessor, mentions, 7)
    for row, again in zip(rows, backwards[::-1], strict=True):
        np.testing.assert_array_equal(row.chain_ids, again.chain_ids)
    # A vocabulary of fewer words numbers them otherwise, and keeps the same mentions.
    fewer = ReaderPreprocessor.fit(EXAMPLES[:5], entity_words=["mary"])
    alone = drawn(fewer, 0.5, 7, EXAMPLES[:5])
    known = drawn(fewer, 1.0, 7, EXAMPLES[:5]) > 0
    kept = drawn(preprocessor, 0.5, 7, EXAMPLES[:5]) > 0
    np.testing.assert_array_equal(alone[known] > 0, kept[known])


def test_random_mentions_are_as_many_at_other_tokens(preprocessor):
    rows = encode_examples(EXAMPLES, preprocessor, 1.0, 0)
    moved = encode_examples(EXAMPLES, preprocessor, "random", 0)
    for row, other in zip(rows, moved, strict=True):
        np.testing.assert_array_equal(np.sort(row.chain_ids), np.sort(other.chain_ids))
    words = np.concatenate([np.concatenate([row.passage, row.question]) for row in rows])
    entities = np.concatenate([row.chain_ids for row in moved])
    # One entity in eight is where its word is by chance.
    assert np.mean(preprocessor.word_chains[words][entities > 0] > 0) < 0.6
    assert np.count_nonzero(entities[words == preprocessor.vocabulary.encode(["."])[0]]) > 10


def test_annotated_chains_are_drawn_too():
    sentences, chains = ("mary met fred .", "she liked him"), (1, 0, 2, 0, 1, 0, 2, 0, 1)
    example = AnnotatedExample(sentences, "then mary", "left", chain_ids=chains)
    preprocessor = CandidatePreprocessor.fit([example])
    (row,) = encode_examples([example], preprocessor, 0.5, 1)
    kept = row.chain_ids > 0
    assert 0 < kept.sum() < 5
    np.testing.assert_array_equal(row.chain_ids[kept], np.array(example.chain_ids)[kept])
    np.testing.assert_array_equal(row.mentions[:, 0], [0, 1, 2, 4, 5, 6])


def test_training_questions_are_drawn_in_their_order():
    assert draw_examples(EXAMPLES, None, 0) is EXAMPLES
    assert draw_examples(EXAMPLES, 30, 0) == EXAMPLES
    numbers = [EXAMPLES.index(example) for example in draw_examples(EXAMPLES, 10, 3)]
    assert len(numbers) == 10 and numbers == sorted(numbers) and numbers != list(range(10))
    larger = draw_examples(EXAMPLES, 20, 3)
    assert all(EXAMPLES[n] in larger for n in numbers)
    assert draw_examples(EXAMPLES, 10, 4) != draw_examples(EXAMPLES, 10, 3)
    with pytest.raises(ValueError, match="train_size=31: there are 30 training questions"):
        draw_examples(EXAMPLES, 31, 0)


def test_settings_reach_all_parts_and_leave_the_model_alone():
    splits = Splits(EXAMPLES, EXAMPLES[:5], EXAMPLES[5:12])
    settings = {"seed": 3, "train_size": 10, "mentions": 0.0, "buckets": 1, "arguments": TINY}
    model, batches = training.prepare(splits, Settings("ga-coref-gru", **settings))
    assert [(part, found.count) for part, found in batches.items()] == [
        *(("train", 10), ("valid", 5), ("test", 7))
    ]
    for part in batches.values():
        assert not part[0][0]["passage_antecedents"].any()
    # What it knows comes from its own questions; text that it reads has all mentions.
    tokenize, known = get_tokenizer("words"), set(model.preprocessor.vocabulary.words[2:])
    words = {w for e in draw_examples(EXAMPLES, 10, 3) for w in tokenize(e.passage)}
    assert words <= known <= words | {w for e in EXAMPLES for w in tokenize(e.question)}
    features, *_ = model.batches(EXAMPLES)[0]
    assert features["passage_antecedents"].any()


@pytest.mark.parametrize("model", ["ga-gru", "memn2n"])
def test_a_model_that_reads_no_mentions_refuses_a_share_of_them(model):
    arguments = TINY if model == "ga-gru" else {}
    splits = Splits(EXAMPLES, EXAMPLES[:2], EXAMPLES[2:4])
    with pytest.raises(ValueError, match=f"mentions: {model} reads no mentions, .* ga-coref-gru"):
        training.prepare(splits, Settings(model, mentions=0.5, arguments=arguments))


@pytest.mark.parametrize("mentions", [-0.1, 1.01, True, "some", [0.5]])
def test_a_share_is_a_share(mentions):
    with pytest.raises(ValueError, match='mentions: .* a share from 0 to 1 or "random"'):
        Settings(mentions=mentions)


@pytest.mark.parametrize("size", [0, 2.5, "all"])
def test_a_number_of_questions_is_one(size):
    with pytest.raises(ValueError, match="train_size: Input should be"):
        Settings(train_size=size)


@pytest.mark.parametrize("task, count", [(1, 10), (2, 13), (3, 13)])
def test_a_hundred_questions_of_babi_are_enough_to_know_its_entities(task, count, babi_dir):
    splits = babi.load(babi_dir, task, "en-valid")
    found = [
        learn_entity_words(draw_examples(splits.train, size, 0), get_tokenizer("words"))
        for size in (100, 300, 900)
    ]
    assert len(found[2]) == count and found[0] == found[1] == found[2]
