import dataclasses

import numpy as np
import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.preprocessing.reader_preprocessor import FEATURES, ReaderPreprocessor
from keras_corefmem.text import UNKNOWN

EXAMPLES = [
    Example(("Mary went to the kitchen.", "Mary took the milk."), "Where is Mary?", "kitchen"),
    Example(("Mary went to the garden.",), "Where is Mary?", "garden"),
    Example(("Mice fear wolves.",), "What is a mouse afraid of?", "wolf"),
]
ENTITIES = ("mary", "milk", "kitchen", "garden")


def fit(**options):
    return ReaderPreprocessor.fit(EXAMPLES, **{"entity_words": ENTITIES, **options})


def features(preprocessor, passage, question, width=None):
    ids = [preprocessor.ids_of_text(text) for text in (passage, question)]
    blank = np.zeros(width - len(ids[1]) if width else 0, "int32")
    found = preprocessor.features(ids[0][None], np.concatenate([ids[1], blank])[None])
    return {name: array[0] for name, array in found.items()}


def test_ids_answers_and_numbers():
    preprocessor = fit()
    assert preprocessor.answers == ["[unknown]", "garden", "kitchen", "wolf"]
    encoded = preprocessor.encode(dataclasses.replace(EXAMPLES[0], source="qa1_train.txt:3"))
    assert encoded.source == "qa1_train.txt:3"
    assert preprocessor.vocabulary.decode(encoded.question) == ["where", "is", "mary", "?"]
    assert len(encoded.passage) == 11 and encoded.passage.dtype == np.int32
    assert encoded.answer == 2


def test_new_words_and_new_answers_are_unknown():
    preprocessor = fit()
    encoded = preprocessor.encode(Example(("Mary went to the attic.",), "Where is Bob?", "attic"))
    assert encoded.answer == 0
    assert (encoded.passage == UNKNOWN).tolist() == [False] * 4 + [True, False]
    found = features(preprocessor, "Bob Bob went to the attic.", "Where is Bob?")
    for name in ("candidates", "passage_antecedents", "passage_chains", "question_antecedents"):
        assert not found[name].any(), name


def test_joint_positions_count_the_padded_columns_of_the_first_sequence():
    preprocessor = fit()
    text = "Mary took the milk. Mary left.", "Where is Mary?"
    found = features(preprocessor, *text)
    assert found["question_antecedents"].tolist() == [0, 0, 0, 0]
    assert found["passage_antecedents"].tolist() == [3, 0, 0, 0, 0, 5, 0, 0]
    assert found["question_chains"].tolist() == [0, 0, 1, 0]
    assert found["passage_chains"].tolist() == [1, 0, 0, 0, 0, 1, 0, 0]
    padded = features(preprocessor, *text, width=6)
    assert padded["passage_antecedents"].tolist() == [3, 0, 0, 0, 0, 7, 0, 0]
    assert padded["passage_sources"][:, 0, 0].tolist() == [3, 0, 0, 0, 0, 7, 0, 0]


def test_only_the_features_named_are_made():
    preprocessor = fit()
    texts = "Mary took the milk.", "Where is Mary?"
    ids = [preprocessor.ids_of_text(text)[None] for text in texts]
    every = preprocessor.features(*ids)
    assert set(every) == set(FEATURES) and len(FEATURES) == 10
    for names in (("question_sources", "candidates"), ("passage_chains",), ("passage",)):
        found = preprocessor.features(*ids, names)
        assert tuple(found) == names
        for name in names:
            np.testing.assert_array_equal(found[name], every[name])


@pytest.mark.parametrize(
    ("options", "question", "expected"),
    [
        ({"order": "passage_first"}, "Where is Mary?", [0, 0, 6, 0]),
        ({"joint": False}, "Mary is Mary?", [0, 0, 1, 0]),
    ],
)
def test_passages_that_come_first_or_stand_apart(options, question, expected):
    found = features(fit(**options), "Mary took the milk. Mary left.", question)
    assert found["passage_antecedents"].tolist() == [0, 0, 0, 0, 0, 1, 0, 0]
    assert found["question_antecedents"].tolist() == expected


def test_candidates_are_mentions_of_answers():
    preprocessor = fit()
    found = features(preprocessor, "The kitchen, the milk, the garden.", "Where is Mary?")
    assert found["candidates"].tolist() == [0, 2, 0, 0, 0, 0, 0, 1, 0]


def test_lemmas_join_words():
    lemmas = {"mice": "mouse", "wolves": "wolf"}
    words = ("mice", "mouse", "wolves")
    preprocessor = fit(entity_words=words, lemmatizer=lambda word: lemmas.get(word, word))
    found = features(preprocessor, "Mice fear wolves.", "What is a mouse afraid of?")
    assert found["candidates"].tolist() == [0, 0, 3, 0]
    assert found["passage_antecedents"].tolist() == [4, 0, 0, 0]


def test_chains_beyond_the_largest_number_are_none():
    preprocessor = fit(max_chains=1)
    found = features(preprocessor, "Milk Mary milk Mary", "Where is Mary?")
    assert found["question_chains"].tolist() == [0, 0, 1, 0]
    assert found["passage_chains"].tolist() == [0, 1, 0, 1]


def test_bad_input_is_refused():
    preprocessor = fit()
    encoded = preprocessor.encode(EXAMPLES[0])
    size = len(preprocessor.vocabulary)
    for name, ids in (("passage", [1, size]), ("question", [-1])):
        row = dataclasses.replace(encoded, **{name: np.array(ids, "int32")})
        message = f"{name} of row 1 holds {ids[-1]}, .* from 0 to {size - 1}"
        with pytest.raises(ValueError, match=message):
            preprocessor.collate([encoded, row], 4, 16, 8)
    with pytest.raises(ValueError, match="order must be one of question_first, .*; got 'last'"):
        fit(order="last")


def test_a_random_order_is_one_of_the_two():
    random, *fixed = (fit(order=order) for order in ("random", "question_first", "passage_first"))
    rows = [random.encode(example) for example in EXAMPLES]
    features = [each.collate(rows, 4, 16, 9) for each in (random, *fixed)]
    leads = features[0]["passage_leads"]
    assert leads.shape == (4, 1) and set(leads[:3, 0]) == {0, 1}
    for name in random.feature_names[3:-1]:
        for row, lead in enumerate(leads[:, 0]):
            np.testing.assert_array_equal(features[0][name][row], features[1 + lead][name][row])
    longer = random.collate(rows, 3, 32, 16)["passage_leads"]
    np.testing.assert_array_equal(longer, leads[:3])
    apart = fit(order="random", joint=False)
    assert "passage_leads" not in apart.feature_names


def test_types_of_words_are_edge_types():
    types = {"mary": "person", "milk": "thing", "kitchen": "place", "garden": "place"}
    options = {"entity_words": types, "order": "passage_first"}
    preprocessor = fit(**options, edge_types=["place", "coreference", "person"])
    texts = "Mary left the garden. Mary got milk.", "Is milk in the garden with Mary?"
    found = features(preprocessor, *texts)
    sources = np.concatenate([found[f"{part}_sources"] for part in ("passage", "question")])
    everything = np.concatenate([found[f"{part}_antecedents"] for part in ("passage", "question")])
    assert sources.shape[1:] == (3, 1)
    np.testing.assert_array_equal(sources[:, 1, 0], everything)
    words = preprocessor.tokenizer(" ".join(texts))
    for column, kind in ((0, "place"), (2, "person")):
        own = [types.get(word) == kind for word in words]
        np.testing.assert_array_equal(sources[:, column, 0], everything * own)
        assert sources[:, column].any()
    again = ReaderPreprocessor.from_config(preprocessor.get_config())
    np.testing.assert_array_equal(
        features(again, *texts)["passage_sources"], found["passage_sources"]
    )
    with pytest.raises(ValueError, match="No training example has an edge of type 'animal'"):
        fit(**options, edge_types=["animal", "person"])


def test_an_argument_by_both_of_its_names_is_refused():
    preprocessor = fit()
    config = preprocessor.get_config()
    chains = config.pop("word_chains")
    old = {**config, "entities": chains}
    assert ReaderPreprocessor.from_config(old).get_config() == preprocessor.get_config()
    with pytest.raises(ValueError, match="entities is the old name of word_chains"):
        ReaderPreprocessor.from_config({**old, "word_chains": []})
