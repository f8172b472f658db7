import dataclasses
import json
import random

import keras
import numpy as np
import pytest

from keras_corefmem.datasets import CandidateExample, Example, Sentence, simulator
from keras_corefmem.datasets.example import UNKNOWN_ANSWER
from keras_corefmem.preprocessing import (
    CandidatePreprocessor,
    LanguagePreprocessor,
    ReaderPreprocessor,
    SentencePreprocessor,
    StoryPreprocessor,
    WindowPreprocessor,
    get,
    pad,
)
from keras_corefmem.preprocessing.encoding.features import coarse_length
from keras_corefmem.preprocessing.fitting import fit_preprocessor

EXAMPLES = [
    Example(("Mary left the kitchen.", "John slept."), "Who slept?", "John", (2,)),
    Example(("John left.",), "Who left?", "Mary,John"),
]
SPANS = [CandidateExample(("New York is big .",), "it is big", "new york", candidates=["new york"])]
CLOZE = [Example(("@entity0 met @entity1 .",), "@placeholder met", "@entity0")]
TAGGED = [Sentence(("Dogs", "barked"), ("NNS", "VBD")), Sentence(("THE", "Cat"), ("DT", "NN"))]
LABELLED = [Sentence(("good", "film"), "positive"), Sentence(("Bad", "film", "!"), "negative")]
CASES = [
    (ReaderPreprocessor, EXAMPLES, {"entity_words": ["john"], "order": "passage_first"}),
    (ReaderPreprocessor, EXAMPLES, {"joint": False, "max_chains": 5, "unknown_types": 3}),
    (ReaderPreprocessor, EXAMPLES, {"entity_words": ["john"], "free_symbols": 3}),
    (CandidatePreprocessor, EXAMPLES, {"free_symbols": 2}),
    (CandidatePreprocessor, EXAMPLES, {"characters": True, "word_length": 3, "unknown_types": 4}),
    (CandidatePreprocessor, SPANS, {"order": "passage_first", "max_chains": 3}),
    (StoryPreprocessor, EXAMPLES, {"answer_words": True, "max_sentences": 3}),
    (StoryPreprocessor, EXAMPLES, {"answer_words": True, "free_symbols": 2}),
    (StoryPreprocessor, EXAMPLES, {"read_ends": False}),
    (WindowPreprocessor, CLOZE, {"half_width": 2, "max_windows": 7}),
    (SentencePreprocessor, TAGGED, {"characters": True, "word_length": 3}),
    (SentencePreprocessor, LABELLED, {"tokenizer": "words"}),
]
each = pytest.mark.parametrize(("cls", "examples", "options"), CASES)


def assert_same(copy, preprocessor, examples):
    assert type(copy) is type(preprocessor) and copy.get_config() == preprocessor.get_config()
    assert copy.answers == preprocessor.answers
    first, second = (list(map(p.encode, examples)) for p in (preprocessor, copy))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.answer, other.answer)
    first, second = preprocessor.collate(first, 3, 16, 8), copy.collate(second, 3, 16, 8)
    assert tuple(first) == tuple(second) == preprocessor.feature_names
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


@each
def test_preprocessors_survive_serialization(cls, examples, options):
    preprocessor = cls.fit(examples, **options)
    saved = json.loads(json.dumps(keras.saving.serialize_keras_object(preprocessor)))
    assert saved["registered_name"] == f"keras_corefmem>{cls.__name__}"
    assert_same(get(saved), preprocessor, examples)
    assert get(preprocessor) is preprocessor and get(None) is None
    # In version 0.1 the arguments alone told the class.
    config = preprocessor.get_config().items()
    old = {name.replace("word_chains", "entities"): value for name, value in config}
    assert_same(get(old), preprocessor, examples)


# Symbols of candidates and stories are those of readers, spans those of candidates.
GRAPHS = [case for n, case in enumerate(CASES) if n not in (3, 5, 7)]


@pytest.mark.parametrize(
    ("cls", "examples", "options"),
    [pytest.param(*c, marks=() if c in GRAPHS else pytest.mark.thorough) for c in CASES],
)
def test_graphs_make_the_same_features_of_text(cls, examples, options):
    tf = pytest.importorskip("tensorflow")
    preprocessor = cls.fit(examples, **options)
    names, strings = preprocessor.feature_names, preprocessor.strings
    rng, words = random.Random(2), "@entity0 @entity1 @placeholder Mary john slept . ? !".split()
    texts = [
        (" ".join(e.words),) if len(strings) == 1 else (e.passage, e.question) for e in examples
    ]
    for length in (1, 2, 3, 9, 40):
        passage, question = (" ".join(rng.choices(words, k=length)) for _ in range(2))
        texts.append((f"{passage} @entity0", f"{question} @placeholder")[: len(strings)])

    tables = preprocessor.graph_tables()

    @tf.function(input_signature=[tf.TensorSpec([None], "string")] * len(strings))
    def graph(*columns):
        tokens = map(preprocessor.tokenizer.graph, columns)
        return preprocessor.graph_features(list(tokens), tables, names)

    for batch in (texts, texts[:1], texts[3:]):
        columns = list(map(list, zip(*batch, strict=True)))
        rows = [preprocessor.encode_text(*row) for row in batch]
        lengths = [max(map(f, rows)) for f in (preprocessor.length, preprocessor.question_length)]
        if not issubclass(cls, StoryPreprocessor):
            lengths = coarse_length(lengths)
        features = graph(*map(tf.constant, columns))
        expected = preprocessor.collate(rows, len(rows), *lengths)
        if issubclass(cls, StoryPreprocessor):
            named = [list(zip(strings, row, strict=True)) for row in batch]
            ids = [preprocessor.ids_of_texts(pairs)[0] for pairs in named]
            padded = preprocessor.features(*(pad(each, 60) for each in zip(*ids, strict=True)))
        for name, array in expected.items():
            np.testing.assert_array_equal(features[name], array, err_msg=name)
            assert features[name].dtype == array.dtype
            if issubclass(cls, StoryPreprocessor):
                np.testing.assert_array_equal(padded[name], array, err_msg=name)


@each
@pytest.mark.parametrize("empty", ["", " "])
def test_empty_texts_are_refused(cls, examples, options, empty):
    preprocessor = cls.fit(examples, **options)
    texts = dict.fromkeys(preprocessor.strings, "@entity0 @placeholder")
    shown = "" if cls is CandidatePreprocessor else f": '{empty}'"
    for name in texts:
        with pytest.raises(ValueError, match=f"The {name} is empty{shown}. Give at least one word"):
            preprocessor.encode_text(*{**texts, name: empty}.values())


@pytest.mark.parametrize(
    ("cls", "examples", "name"),
    [
        (CandidatePreprocessor, EXAMPLES, "num_candidates"),
        (CandidatePreprocessor, EXAMPLES, "word_length"),
        (StoryPreprocessor, EXAMPLES, "max_sentences"),
        (WindowPreprocessor, CLOZE, "half_width"),
        (WindowPreprocessor, CLOZE, "max_windows"),
        (WindowPreprocessor, CLOZE, "max_words"),
        (SentencePreprocessor, TAGGED, "word_length"),
    ],
)
def test_sizes_that_are_too_small_are_refused(cls, examples, name):
    least = 1 + (cls is SentencePreprocessor)
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least {least}, got"):
        cls.fit(examples, **{name: least - 1})


@pytest.mark.parametrize("other", [{"units": 3}, "words", keras.layers.Dense(1)])
def test_other_things_are_refused(other):
    with pytest.raises(ValueError, match="preprocessor must be a keras_corefmem.preprocessing"):
        get(other)
    if isinstance(other, keras.layers.Layer):
        with pytest.raises(ValueError, match="preprocessor must be"):
            get(keras.saving.serialize_keras_object(other))


@each
def test_examples_without_answers_are_read_but_not_learned_from(cls, examples, options):
    unanswered = [dataclasses.replace(example, answer=UNKNOWN_ANSWER) for example in examples]
    with pytest.raises(ValueError, match="a.txt:3: no answer to learn"):
        cls.fit([examples[0], dataclasses.replace(unanswered[-1], source="a.txt:3")], **options)
    preprocessor = cls.fit(examples, **options)
    for example, other in zip(examples, unanswered, strict=True):
        answers = [np.asarray(preprocessor.encode(each).answer) for each in (example, other)]
        assert answers[0].shape == answers[1].shape and not answers[1].any()


def test_entities_of_stories_are_sorted_where_edge_types_say_so():
    stories, types = simulator.simulate(1, 60), ["coreference", "person", "place", "thing"]
    preprocessor, _ = fit_preprocessor(stories, edge_types=types)
    # Nobody carries things in this task.
    assert set(preprocessor.word_types) == {0, 2, 3} and preprocessor.max_sources == 1
    plain, _ = fit_preprocessor(stories)
    assert plain.word_types is None
    np.testing.assert_array_equal(preprocessor.word_types > 0, plain.word_chains > 0)
    own, _ = fit_preprocessor(stories, edge_types=["hero"], entity_words={"mary": "hero"})
    assert own.word_types.sum() == 1


def test_a_pointer_or_class_takes_lemmas_where_they_make_more_answers_words_of_passages():
    seen = Example(("Mice fear cats.",), "Who fears cats?", "mouse")
    asked = Example(("Mice fear cats.",), "Do mice fear cats?", "yes")
    preprocessor, head = fit_preprocessor([seen, asked], "pointer_or_class")
    encoded = preprocessor.encode(seen)
    assert head == "pointer_or_class" and encoded.answer in preprocessor.pointers[encoded.passage]
    plain, _ = fit_preprocessor([seen, asked], "pointer_or_class", language=None)
    assert encoded.answer not in plain.pointers[encoded.passage]
    assert fit_preprocessor([seen, asked])[1] == "classification"


def test_entities_are_learned_from_each_kind_of_questions_alone():
    # Together, "went" would be one.
    first, second = simulator.simulate(1, 20), simulator.simulate(13, 20)
    joined = [
        dataclasses.replace(example, kinds=(kind,))
        for kind, examples in (("1", first), ("13", second))
        for example in examples
    ]
    chained = []
    for examples in (first, second, joined):
        preprocessor, _ = fit_preprocessor(examples, "pointer_or_class")
        known = zip(preprocessor.vocabulary.known, preprocessor.word_chains[2:], strict=True)
        chained.append({word for word, chain in known if chain})
    assert chained[2] == chained[0] | chained[1]


@pytest.mark.parametrize(
    ("cls", "examples"),
    [
        (ReaderPreprocessor, EXAMPLES),
        (CandidatePreprocessor, EXAMPLES),
        (LanguagePreprocessor, TAGGED),
    ],
)
def test_numbers_of_words_that_are_none_are_refused(cls, examples):
    with pytest.raises(ValueError, match="max_words must be an integer of at least 0, got -1"):
        cls.fit(examples, max_words=-1)
    with pytest.raises(ValueError, match="min_count must be an integer of at least 0, got 'a'"):
        cls.fit(examples, min_count="a")


@pytest.mark.parametrize(("cls", "examples"), [case[:2] for case in CASES])
def test_iterators_are_not_learned_from(cls, examples):
    with pytest.raises(ValueError, match="give a list, not an iterator"):
        cls.fit(iter(examples))
