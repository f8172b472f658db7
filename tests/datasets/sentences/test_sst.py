import collections

import pytest

from keras_corefmem.datasets.sentences import Sentence, sst

TREES = (
    r"(4 (3 (2 A) (3 (3 fine) (2 1\/2))) (2 -LRB-))",
    "(2 (4 Great) (2 ?))",
    "(0 (1 bad) (2 .))",
)


@pytest.fixture
def folder(tmp_path):
    """The official layout, whose test file is a copy of the first two training trees."""
    trees = tmp_path / "trees"
    trees.mkdir()
    (trees / "train.txt").write_text("\n".join(TREES) + "\n")
    (trees / "dev.txt").write_text(f"{TREES[1]}\n{TREES[2]}\n")
    (trees / "test.txt").write_text(f"{TREES[0]}\n{TREES[1]}\n")
    return tmp_path


def told(phrases):
    return [(" ".join(phrase.words), phrase.answer, phrase.is_root) for phrase in phrases]


WORST, BAD, NEUTRAL, GOOD, BEST = sst.CLASSES["fine"]


def test_every_phrase_is_read_behind_its_sentence(folder):
    phrases = sst.read_file(folder / "trees/train.txt")
    assert told(phrases) == [
        ("A fine 1/2 (", BEST, True),
        ("A fine 1/2", GOOD, False),
        ("A", NEUTRAL, False),
        ("fine 1/2", GOOD, False),
        ("fine", GOOD, False),
        ("1/2", NEUTRAL, False),
        ("(", NEUTRAL, False),
        ("Great ?", NEUTRAL, True),
        ("Great", BEST, False),
        ("?", NEUTRAL, False),
        ("bad .", WORST, True),
        ("bad", BAD, False),
        (".", NEUTRAL, False),
    ]
    assert phrases[-1].source == f"{folder / 'trees/train.txt'}:3"


@pytest.mark.parametrize("level", [".", "trees"])
def test_only_training_has_phrases(folder, level):
    splits = sst.load(folder / level)
    assert len(splits.train) == 13
    assert told(splits.valid) == [("Great ?", NEUTRAL, True), ("bad .", WORST, True)]
    assert told(splits.test) == [("A fine 1/2 (", BEST, True), ("Great ?", NEUTRAL, True)]
    (folder / "trees/test.txt").unlink()
    assert sst.load(folder).test == []


def test_binary_drops_what_is_neutral_and_neutral_sentences_whole(folder):
    splits = sst.load(folder, "binary")
    assert told(splits.train) == [
        ("A fine 1/2 (", GOOD, True),
        ("A fine 1/2", GOOD, False),
        ("fine 1/2", GOOD, False),
        ("fine", GOOD, False),
        ("bad .", BAD, True),
        ("bad", BAD, False),
    ]
    assert told(splits.valid) == [("bad .", BAD, True)]
    assert told(splits.test) == [("A fine 1/2 (", GOOD, True)]


def many_phrases(sentences=50, parts=8):
    return [
        Sentence((f"w{i}", f"w{j}"), "positive", is_root=j == 0)
        for i in range(sentences)
        for j in range(parts + 1)
    ]


@pytest.mark.parametrize("share, others", [(0, 0), (0.25, 100), (0.5, 200), (1, 400)])
def test_an_epoch_has_all_sentences_and_a_share_of_the_rest(share, others):
    phrases = many_phrases()
    chosen = sst.epoch_phrases(phrases, 0, share)
    roots = sum(phrase.is_root for phrase in chosen)
    assert (roots, len(chosen) - roots) == (50, others)
    in_order = iter(phrases)
    assert all(phrase in in_order for phrase in chosen)
    assert sst.epoch_phrases([], 0, share) == []
    with pytest.raises(ValueError, match="`share` is .* 0..1"):
        sst.epoch_phrases(phrases, 0, share - 1.1)


def test_every_epoch_draws_anew_by_its_seed():
    phrases = many_phrases()
    epochs = [sst.epoch_phrases(phrases, epoch, seed=3) for epoch in range(20)]
    assert epochs[4] == sst.epoch_phrases(phrases, 4, seed=3)
    assert epochs[4] != epochs[5] and epochs[4] != sst.epoch_phrases(phrases, 4, seed=4)
    counts = collections.Counter(phrase for epoch in epochs for phrase in epoch)
    # Of 400 phrases, one is drawn always or never with a chance below 1 in 1000.
    assert {counts[phrase] for phrase in phrases if phrase.is_root} == {20}
    assert all(0 < counts[phrase] < 20 for phrase in phrases if not phrase.is_root)


@pytest.mark.parametrize(
    "tree, message",
    [
        ("(3 (2 a) (5 b))", "'5' is no label of a phrase, .* labels 0..4"),
        ("(S (NN a) (NN b))", "'S' is no label of a phrase"),
        ("(3 (2 a) (-1 b))", "'-1' is no label of a phrase"),
        ("(3 (2 a) (2", "2 brackets are not closed .* truncated"),
    ],
)
def test_broken_files_are_named(folder, tree, message):
    (folder / "trees/dev.txt").write_text(f"{TREES[0]}\n{tree}\n{TREES[1]}\n")
    with pytest.raises(ValueError, match=f"dev.txt:2: .*{message}"):
        sst.load(folder)


def test_wrong_tasks(folder):
    with pytest.raises(ValueError, match="no task 'ternary', .*'binary', 'fine'"):
        sst.load(folder, "ternary")


@pytest.mark.parametrize(
    "task, sentences, phrases, valid",
    [
        ("fine", 8544, 318582, 1101),
        ("binary", 6920, 84440, 872),
    ],
)
@pytest.mark.thorough
def test_the_official_treebank_is_read_whole(real_data, task, sentences, phrases, valid):
    splits = sst.load(real_data("sst/trees/train.txt").parent, task)
    assert sum(phrase.is_root for phrase in splits.train) == sentences
    assert len(splits.train) == phrases
    assert len(splits.valid) == valid
    assert {phrase.answer for phrase in splits.train} == set(sst.CLASSES[task])
    chosen = sst.epoch_phrases(splits.train, 0)
    assert len(chosen) == sentences + round((phrases - sentences) / 2)
    assert splits.train[0].words[:4] == ("The", "Rock", "is", "destined")
