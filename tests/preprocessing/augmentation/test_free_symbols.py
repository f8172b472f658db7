import numpy as np
import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.preprocessing import (
    CandidatePreprocessor,
    ReaderPreprocessor,
    RenameEntities,
    StoryPreprocessor,
    UnseenEntities,
    augmentations,
    best_answer,
)

STORIES = simulator.simulate(2, 60)
WORDS = ("mary", "sandra", "daniel", "john", "kitchen", "garden", "office", "bathroom", "milk")
OPTIONS = {
    ReaderPreprocessor: {"entity_words": WORDS},
    StoryPreprocessor: {"answer_words": True, "max_sentences": 3},
    CandidatePreprocessor: {"tokenizer": "words"},
}
NEW = Example(
    ("Alice took the wug.", "Alice went to the den.", "Mary took the milk.", "Bob left the wug."),
    "Where is the wug?",
    "den",
)


def fit(cls, symbols=8):
    return cls.fit(STORIES, free_symbols=symbols, **OPTIONS[cls])


@pytest.mark.parametrize("cls", [ReaderPreprocessor, StoryPreprocessor])
def test_an_unknown_word_is_an_answer_of_its_own_spelling(cls):
    preprocessor = fit(cls)
    first, last = preprocessor.symbol_answers[0], preprocessor.symbol_answers[-1]
    for answer in ("den", "Alice", "Bob", "alice"):
        encoded = preprocessor.encode(Example(NEW.sentences, NEW.question, answer))
        number = np.ravel(encoded.answer)[0]
        assert first <= number <= last
        assert preprocessor.answers_of(encoded)[number].lower() == answer.lower()
    known = preprocessor.answers_of(encoded)
    assert {"Alice", "wug", "den", "Bob"} <= set(known) and known.count("") == 8 - 4
    assert [known[n] for n in (1, 2)] == preprocessor.answers[1:3]
    assert known[-1] == "[end]" or cls is ReaderPreprocessor
    unanswered = preprocessor.encode(Example(NEW.sentences, NEW.question, "attic"))
    assert np.ravel(unanswered.answer)[0] == 0
    raw = preprocessor.encode_text(NEW.passage, NEW.question)
    assert raw.symbols == encoded.symbols


def test_unknown_words_are_pointed_at_and_linked():
    preprocessor = fit(ReaderPreprocessor)
    encoded = preprocessor.encode(NEW)
    features = preprocessor.collate([encoded], 1, 32, 8)
    words = preprocessor.tokenizer(NEW.passage)
    pointed, chains = features["candidates"][0], encoded.chain_ids
    numbers = {word: n for n, word in enumerate(preprocessor.answers_of(encoded)) if word}
    for name in ("Alice", "wug", "den", "Bob"):
        places = [n for n, word in enumerate(words) if word == name.lower()]
        assert {pointed[n] for n in places} == {numbers[name]}
        assert len({chains[n] for n in places}) == 1 and chains[places[0]] > len(WORDS) - 1
    assert len(set(chains) - {0}) == 6
    question = encoded.passage[words.index("wug")]
    assert question == encoded.question[3]


@pytest.mark.parametrize("cls", [ReaderPreprocessor, StoryPreprocessor])
def test_symbols_that_are_no_word_of_a_text_are_not_its_answer(cls):
    preprocessor = fit(cls)
    known = preprocessor.answers_of(preprocessor.encode(NEW))
    steps = () if cls is ReaderPreprocessor else (1,)
    logits = np.zeros((*steps, len(known)), "float32")
    logits[..., known.index("")], logits[..., known.index("wug")] = 9, 5
    others = len(known) - known.count("") - 2
    answer, probability = best_answer(logits, known)
    assert (answer, probability) == ("wug", pytest.approx(1 / (1 + others * np.exp(-5))))


def test_a_text_of_more_unknown_words_has_no_answers_beyond_the_symbols():
    preprocessor = fit(ReaderPreprocessor, symbols=2)
    encoded = preprocessor.encode(NEW)
    assert sorted(encoded.symbols) == ["Alice", "wug"] and encoded.answer == 0


def test_local_answers_have_symbols_without_answers():
    preprocessor = fit(CandidatePreprocessor)
    encoded = preprocessor.encode(NEW)
    assert not preprocessor.symbol_answers and encoded.symbols == ()
    assert preprocessor.answers_of(encoded)[encoded.answer] == "den"
    assert len(set(encoded.passage[preprocessor.vocabulary.is_unknown(encoded.passage)])) == 4


@pytest.mark.parametrize("cls", OPTIONS)
def test_entities_get_names_that_were_never_seen(cls):
    preprocessor = fit(cls, symbols=20)
    (unseen,) = augmentations("unseen", STORIES, preprocessor)
    assert isinstance(unseen, UnseenEntities)
    shares, spelled = [], set()
    for seed, example in enumerate(STORIES):
        renamed = unseen(example, np.random.default_rng(seed))
        texts = [" ".join((*e.sentences, e.question, e.answer)) for e in (example, renamed)]
        pairs = set(zip(*(preprocessor.tokenizer.cased(text) for text in texts), strict=True))
        assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
        new = {new: old for old, new in pairs if old != new}
        assert all(word[:1].isupper() == old[:1].isupper() for word, old in new.items())
        assert preprocessor.unknown_words(texts[1]) == tuple(
            dict.fromkeys(w for w in preprocessor.tokenizer(texts[1]) if w in map(str.lower, new))
        )
        words = {word.lower() for word in preprocessor.tokenizer(texts[0])}
        shares.append(len(new) / len(words.intersection(unseen.place)))
        spelled |= set(new)
        encoded = preprocessor.encode(renamed)
        assert np.ravel(encoded.answer)[0] > 0
        answers = preprocessor.answers_of(encoded)
        assert answers[np.ravel(encoded.answer)[0]].lower() == renamed.answer.lower()
    assert min(shares) == 0 and max(shares) > 0.8 and 0.3 < np.mean(shares) < 0.7
    assert len(spelled) > 100


def test_names_and_things_may_be_unseen_alone():
    preprocessor = fit(ReaderPreprocessor)
    groups = RenameEntities.fit(STORIES, preprocessor, "types").groups
    for group in groups:
        members = {form for forms in group for form in forms}
        unseen = UnseenEntities([group], known=preprocessor.vocabulary.known, share=1.0)
        for example in STORIES[:9]:
            words = preprocessor.tokenizer.cased(f"{example.passage} {example.question}")
            renamed = unseen(example, np.random.default_rng(0))
            assert not members & set(preprocessor.tokenizer.cased(renamed.passage))
            others = set(words) - members
            assert others <= set(
                preprocessor.tokenizer.cased(f"{renamed.passage} {renamed.question}")
            )


def test_entities_of_several_forms_keep_their_names():
    unseen = UnseenEntities([[["cat", "cats"], "dog"]], share=1.0)
    example = Example(("Cats fear the dog.",), "Who fears?", "cat")
    renamed = unseen(example, np.random.default_rng(0))
    assert renamed.answer == "cat" and renamed.passage.startswith("Cats fear the ")
    assert "dog" not in renamed.passage


def test_unseen_names_need_free_symbols():
    with pytest.raises(ValueError, match="free_symbols=32"):
        augmentations("unseen", STORIES, fit(StoryPreprocessor, symbols=0))


@pytest.mark.parametrize("share", [-0.1, 1.5, "all"])
def test_shares_are_between_none_and_all(share):
    with pytest.raises(ValueError, match="share must be a number from 0 to 1"):
        UnseenEntities([["mary"]], share=share)
