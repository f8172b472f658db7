import pytest

from keras_corefmem.datasets.sentences import Sentence, hold_out_sentences


def with_phrases(count):
    sentences = []
    for n in range(count):
        sentences.append(Sentence((f"w{n}", "end"), "positive"))
        sentences += [Sentence((f"w{n}",), "neutral", is_root=False)] * (n % 3)
    return sentences


def test_sentences_are_held_out_with_their_phrases():
    sentences = with_phrases(50)
    train, held = hold_out_sentences(sentences, 0.2, seed=1)
    assert len(held) == 10 and all(sentence.is_root for sentence in held)
    starts = {sentence.words[0] for sentence in held}
    assert train == [s for s in sentences if s.words[0] not in starts]
    assert sum(s.is_root for s in train) == 40
    assert hold_out_sentences(sentences, 0.2, seed=1)[1] == held
    assert hold_out_sentences(sentences, 0.2, seed=2)[1] != held


@pytest.mark.parametrize(
    "words, answer, message",
    [
        ((), "positive", "f:2: a sentence has at least one word"),
        ((), (), "f:2: a sentence has at least one word"),
        ("I go", "positive", "f:2: `words` is one string, pass a tuple of words"),
        (("I", "go"), ("PRP",), "f:2: 1 tags for 2 words, give one a word"),
    ],
)
def test_bad_sentences_are_refused(words, answer, message):
    with pytest.raises(ValueError, match=message):
        Sentence(words, answer, source="f:2")
