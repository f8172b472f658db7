import pytest

from keras_corefmem.datasets import Splits
from keras_corefmem.datasets.sentences.pos import TaggedSentence
from keras_corefmem.datasets.sentences.sentence import Sentence, from_phrases, from_tagged, hold_out
from keras_corefmem.datasets.sentences.sst import Phrase


def with_phrases(count):
    sentences = []
    for n in range(count):
        sentences.append(Sentence((f"w{n}", "end"), "positive"))
        sentences += [Sentence((f"w{n}",), "neutral", is_root=False)] * (n % 3)
    return sentences


def test_phrases_and_tagged_sentences_become_sentences():
    phrase = Phrase(("fine", "film"), 4, True, "train.txt:3")
    splits = from_phrases(Splits([phrase], [], [Phrase(("bad",), 0, False)]))
    assert splits.train == [Sentence(("fine", "film"), "very positive")]
    assert splits.train[0].source == "train.txt:3" and splits.valid == []
    assert splits.test == [Sentence(("bad",), "very negative", is_root=False)]
    assert from_phrases(Splits([Phrase(("bad",), 0, True)], [], []), "binary").train == [
        Sentence(("bad",), "negative")
    ]
    tagged = from_tagged(Splits([], [TaggedSentence(("I", "go"), ("PRP", "VBP"), "a:1")], []))
    assert tagged.valid == [Sentence(("I", "go"), ("PRP", "VBP"))]


def test_sentences_are_held_out_with_their_phrases():
    sentences = with_phrases(50)
    train, held = hold_out(sentences, 0.2, seed=1)
    assert len(held) == 10 and all(sentence.is_root for sentence in held)
    starts = {sentence.words[0] for sentence in held}
    assert train == [s for s in sentences if s.words[0] not in starts]
    assert sum(s.is_root for s in train) == 40
    assert hold_out(sentences, 0.2, seed=1)[1] == held != hold_out(sentences, 0.2, seed=2)[1]


@pytest.mark.parametrize("share, count", [(0, 50), (1, 50), (0.1, 3), (0.1, 0)])
def test_neither_part_may_be_empty(share, count):
    with pytest.raises(ValueError, match=f"`share` is {share}: of {count} sentences"):
        hold_out(with_phrases(count), share)


def test_bad_sentences_are_refused():
    with pytest.raises(ValueError, match="f:2: a sentence has at least one word"):
        Sentence((), "positive", source="f:2")
    with pytest.raises(ValueError, match="f:3: 1 tags for 2 words, give one a word"):
        Sentence(("I", "go"), ("PRP",), source="f:3")
