import dataclasses

import keras
import numpy as np
import pytest

from keras_corefmem.datasets import CandidateExample, Example, as_examples, simulator
from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.graphs import Structure, attention_pairs
from keras_corefmem.preprocessing import get
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.preprocessing.encoding.features import target_name
from keras_corefmem.preprocessing.reader_preprocessor import ReaderPreprocessor
from tests.support.conformance.graphs import spaced_annotation

# He is John, in the question too; "old man" is a mention that the words do not tell.
FIRST = AnnotatedExample(
    ("John met Mary .", "He was , an old man , John said ."),
    "she liked him",
    "john",
    chain_ids=(1, 0, 2, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0, 1),
)
SECOND = AnnotatedExample(
    ("Mary slept .",), "so did", "mary", chain_ids=(1, 0, 0, 0, 0), source="b:2"
)
STORY = spaced_annotation(FIRST.passage, chains=[[(n, n + 1, n) for n in (0, 4, 7, 9, 11)]])
SPANS = dataclasses.replace(FIRST, candidates=("an old man", "mary", "john", "a dog"))


@pytest.fixture(scope="module")
def preprocessor():
    return CandidatePreprocessor.fit([FIRST, SECOND], order="passage_first")


def ids_of(preprocessor, text):
    return preprocessor.vocabulary.encode(text.split()).tolist()


@pytest.mark.parametrize("answer", ["Apple", "apple"])
def test_the_answer_is_the_candidate_that_has_the_mentions(answer):
    passage, candidates = ("the apple sells an Apple .",), ("pear", "Apple", "apple")
    example = CandidateExample(passage, "who sells ?", answer, candidates=candidates)
    preprocessor = CandidatePreprocessor.fit([example])
    encoded = preprocessor.encode(example)
    assert not preprocessor.spans and encoded.answer == 2
    pointed = preprocessor.collate([encoded], 1, 6, 3)["candidates"]
    assert pointed.tolist() == [[0, 2, 0, 0, 2, 0]]
    # Among candidates of several words too.
    spans = dataclasses.replace(example, candidates=(*candidates, "apple sells", "an apple"))
    preprocessor = CandidatePreprocessor.fit([spans])
    assert preprocessor.spans and preprocessor.encode(spans).answer == 2
    pointed = preprocessor.collate([preprocessor.encode(spans)], 1, 6, 3)["candidates"][0]
    places = [np.flatnonzero(column).tolist() for column in pointed.T]
    assert places == [[], [], [1, 4], [], [1, 2], [3, 4]]


def test_encodes_tokens_and_candidates(preprocessor):
    encoded = preprocessor.encode(FIRST)
    assert encoded.passage.tolist() == ids_of(preprocessor, FIRST.passage.lower())
    assert encoded.question.tolist() == ids_of(preprocessor, "she liked him")
    assert encoded.candidates == ("john", "met", "mary", "he", "was", "an", "old", "man", "said")
    assert encoded.answer == 1 and encoded.chain_ids.tolist() == list(FIRST.chain_ids)
    assert encoded.mentions[[0, 1, -2]].tolist() == [[0, 1, 1], [1, 2, 2], [11, 12, 1]]
    assert preprocessor.answers_of(encoded)[:3] == ["[unknown]", "john", "met"]


def test_sizes_come_from_the_examples(preprocessor):
    assert len(preprocessor.answers) == 1 + 9 and not preprocessor.spans
    assert CandidatePreprocessor.fit([SPANS]).spans
    assert len(CandidatePreprocessor.fit([SPANS, SECOND]).answers) == 1 + 4
    assert len(CandidatePreprocessor.fit([SPANS], num_candidates=2).answers) == 3
    few = CandidatePreprocessor.fit([FIRST], max_words=2)
    assert few.vocabulary.words == ["", "[unknown]", ",", "."]
    assert not CandidatePreprocessor.fit([FIRST], max_words=0).vocabulary.known
    often = CandidatePreprocessor.fit([FIRST], min_count=2)
    assert often.vocabulary.words[2:] == [",", ".", "john"]


def test_what_annotated_all_examples_is_remembered():
    examples = [
        dataclasses.replace(e, annotator="pipe", truecaser="case.json") for e in (FIRST, SECOND)
    ]
    preprocessor = CandidatePreprocessor.fit(examples)
    for known in (preprocessor, get(keras.saving.serialize_keras_object(preprocessor))):
        assert (known.annotator, known.truecase) == ("pipe", "case.json")
    mixed = CandidatePreprocessor.fit([*examples, SECOND])
    assert (mixed.annotator, mixed.truecase) == (None, None)
    assert CandidatePreprocessor.fit([SECOND], annotator="exact").annotator == "exact"


def test_candidates_beyond_the_largest_number_are_lost(preprocessor):
    small = CandidatePreprocessor.fit([FIRST], num_candidates=2)
    encoded = small.encode(FIRST)
    assert encoded.candidates == ("john", "met") and encoded.answer == 1
    assert small.encode(dataclasses.replace(FIRST, answer="mary")).answer == 0
    features = small.collate([encoded], 1, 14, 3)
    assert features["candidates"].tolist() == [[1, 2, *[0] * 9, 1, 0, 0]]
    lost = dataclasses.replace(FIRST, answer="mary", source="a:1")
    with pytest.raises(ValueError, match="answer of a:1 is none .* num_candidates .now 2."):
        small.batches([small.encode(lost)], ["passage"], shuffle=True)


def test_chains_run_from_the_passage_into_the_question(preprocessor):
    rows = [preprocessor.encode(example) for example in (FIRST, SECOND)]
    features = preprocessor.collate(rows, 3, 16, 4)
    expected = [*[0] * 4, *[1, 0, 0, 0, 0], *[5, 0, 10, 0, 0]]
    assert features["passage_antecedents"][0, :14].tolist() == expected
    # Positions count the padded passage.
    assert features["question_antecedents"].tolist() == [[3, 0, 12, 0], [0] * 4, [0] * 4]
    assert features["question_chains"][0].tolist() == [2, 0, 1, 0]
    assert features["passage"].shape == (3, 16) and not features["passage"][2].any()
    assert features["candidates"][1].tolist() == [1, 2, *[0] * 14]


def test_text_without_annotation_links_words_that_were_answers(preprocessor):
    encoded = preprocessor.encode_text("Mary and John . Mary met him .", "then John")
    assert encoded.chain_ids.tolist() == [2, 0, 1, 0, 2, 0, 0, 0, 0, 1]
    assert encoded.answer == 0
    example = Example(["Mary and John ."], "then John", "Mary")
    assert preprocessor.encode(example).answer == 1


def test_spans():
    preprocessor = CandidatePreprocessor.fit([SPANS])
    encoded = preprocessor.encode(SPANS)
    assert encoded.candidates == SPANS.candidates and encoded.answer == 3
    mask = preprocessor.collate([encoded], 2, 15, 3)["candidates"]
    assert mask.shape == (2, 15, 5) and mask.dtype == bool and not mask[1].any()
    places = [np.flatnonzero(column).tolist() for column in mask[0].T]
    assert places == [[], [7, 8, 9], [2], [0, 11], []]


@pytest.mark.parametrize("answer", ["well - known singer", "well-known singer"])
def test_candidates_of_docs_may_be_their_tokens(answer):
    doc = pytest.importorskip("spacy").blank("en")("Ann met a well-known singer. Bob left.")
    fields = {"question": "Who left?", "candidates": ["Bob", answer], "answer": answer}
    (example,) = as_examples([(doc, fields)])
    preprocessor = CandidatePreprocessor.fit([example], tokenizer="words")
    encoded = preprocessor.encode(example)
    assert encoded.answer == 2 and encoded.mentions.tolist() == [[3, 5, 2], [6, 7, 1]]


def test_candidates_are_cut_once(monkeypatch):
    preprocessor, cut = CandidatePreprocessor.fit([SPANS]), []
    kind = type(preprocessor.tokenizer)
    tokenize = kind.__call__
    monkeypatch.setattr(kind, "__call__", lambda *args: cut.append(args[1]) or tokenize(*args))
    assert preprocessor.encode(SPANS).answer == 3
    assert cut == list(SPANS.candidates)


def test_refuses_candidates_of_several_words_where_words_are_pointed_at(preprocessor):
    with pytest.raises(ValueError, match="b:3: the candidate 'an old man' has several words, and"):
        preprocessor.encode(dataclasses.replace(SPANS, source="b:3"))
    # Those that the passage does not mention are pointed at nowhere.
    names = "los angeles", "mary", "john"
    absent = preprocessor.encode(dataclasses.replace(SPANS, candidates=names))
    assert absent.candidates == names and absent.mentions.tolist() == [
        [0, 1, 3],
        [2, 3, 2],
        [11, 12, 3],
    ]


def test_words_of_the_question_and_characters():
    asked = AnnotatedExample(("Anna saw Bob .",), "Bob saw", "anna", chain_ids=[0] * 6)
    preprocessor = CandidatePreprocessor.fit([asked], characters=True, word_length=3)
    names = ("passage", "question", "passage_asked", "passage_characters", "question_characters")
    features = preprocessor.collate([preprocessor.encode(asked)], 2, 5, 3, names)
    assert features["passage_asked"].tolist() == [[2, 1, 1, 2, 0], [0] * 5]
    decode = preprocessor.spelling.vocabulary.decode
    passage, question = (["".join(decode(row)) for row in features[name][0]] for name in names[3:])
    assert passage == ["ann", "saw", "bob", ".", ""] and question == ["bob", "saw", ""]
    assert features[names[4]].shape == (2, 3, 3)


@pytest.mark.parametrize("cls", [ReaderPreprocessor, CandidatePreprocessor])
def test_unknown_words_of_the_question_are_those_that_are_written_alike(cls):
    tf = pytest.importorskip("tensorflow")
    preprocessor = cls.fit([Example(("Mary left .",), "who left ?", "Mary")])
    texts, names = ("Zoe left mary . Ann slept .", "who met zoe ?"), ["passage_asked"]
    example, expected = Example((texts[0],), texts[1], "Mary"), [[1, 2, 2, 2, 2, 2, 2, 0]]
    for encoded in (preprocessor.encode(example), preprocessor.encode_text(*texts)):
        assert preprocessor.collate([encoded], 1, 8, 4, names)["passage_asked"].tolist() == expected
    tokens = [preprocessor.tokenizer.graph(tf.constant([text])) for text in texts]
    features = preprocessor.graph_features(tokens, preprocessor.graph_tables(), names)
    assert features["passage_asked"].numpy().tolist() == expected


def test_unknown_words_are_told_apart():
    preprocessor = CandidatePreprocessor.fit([FIRST], min_count=2, unknown_types=1000)
    encoded = preprocessor.encode(SECOND)
    unknown = np.unique(encoded.passage[preprocessor.vocabulary.is_unknown(encoded.passage)])
    words = set(SECOND.passage.split()) - {",", ".", "john"}
    assert len(unknown) == len(words) and not np.any(preprocessor.word_chains[unknown])


def test_refuses(preprocessor):
    with pytest.raises(ValueError, match="penn keeps capital letters, take penn_lower"):
        CandidatePreprocessor(["a"], [0], 1, tokenizer="penn")
    with pytest.raises(ValueError, match="The passage of b:2 has nothing but punctuation"):
        preprocessor.encode(dataclasses.replace(SECOND, sentences=(". .",), chain_ids=[0] * 4))


def test_targets_of_attention():
    structure = Structure.of(STORY)
    example = dataclasses.replace(FIRST, structure=structure)
    signals = ("coref_all", "dependency")
    preprocessor = CandidatePreprocessor.fit([example, SECOND], signals=signals[:1])
    # Five mentions have twenty pairs, at most two for each of 14 tokens.
    assert preprocessor.signals == {"coref_all": 2}
    # Nobody parsed them.
    with pytest.raises(ValueError, match="No training example has targets of dependency: annotate"):
        CandidatePreprocessor.fit([example, SECOND], signals=signals)
    preprocessor.signals["dependency"] = 1
    rows = [preprocessor.encode(example), preprocessor.encode_text("so . he slept", "who")]
    names = ("passage_sentences", *map(target_name, signals))
    sentences, every, parsed = preprocessor.collate(rows, 3, 16, 3, names).values()
    expected = [[1] * 4 + [2] * 10 + [0] * 2, [1, 1, 2, 2] + [0] * 12, [0] * 16]
    assert sentences.tolist() == expected
    assert every.shape == (3, 32, 2) and parsed.shape == (3, 16, 2)
    assert every[0, :20].tolist() == attention_pairs(structure, "coref_all").tolist()
    assert not every[0, 20:].any() and not every[1:].any() and not parsed.any()
    # A passage with more pairs than any in training.
    crowded = dataclasses.replace(rows[0], targets={"coref_all": np.ones((50, 2), "int32")})
    assert preprocessor.collate([crowded], 1, 16, 3, names)[names[1]].shape == (1, 64, 2)
    # Among others it decides the shape of all.
    roomy = preprocessor.with_target_room([rows[0], crowded])
    assert roomy.signals == {"coref_all": 4, "dependency": 1}
    assert roomy.collate(rows, 3, 16, 3, names)[names[1]].shape == (3, 64, 2)
    assert preprocessor.with_target_room(rows) is preprocessor


def test_targets_of_chains_without_annotation():
    story = Example(("Mary met Fred .", "Mary slept ."), "who slept", "mary")
    given = dataclasses.replace(story, chains=(0, 1, 0, 0, 0, 1, 0, 0, 1))
    signals = ("coref_all", "coref_previous")
    preprocessor = CandidatePreprocessor.fit([story, given], signals=signals)
    # One of seven tokens each.
    assert preprocessor.signals == {"coref_all": 1, "coref_previous": 1}
    for example, pair in ((story, [1, 5]), (given, [2, 6])):
        targets = preprocessor.encode(example).targets
        assert targets["coref_all"].tolist() == [pair, pair[::-1]]
        assert targets["coref_previous"].tolist() == [pair[::-1]]
    with pytest.raises(ValueError, match="No training example has targets of roles: annotate"):
        CandidatePreprocessor.fit([story], signals=["coref_all", "roles"])


def test_entities_of_stories_are_linked():
    stories = simulator.simulate(1, 40)
    fitted = CandidatePreprocessor.fit(stories, tokenizer="words")
    chains = dict(zip(fitted.vocabulary.words, fitted.word_chains.tolist(), strict=True))
    assert all(chains[word] for word in ("mary", "john", "kitchen")) and not chains["went"]
    own = CandidatePreprocessor.fit(stories, tokenizer="words", entity_words=["went"])
    chains = dict(zip(own.vocabulary.words, own.word_chains.tolist(), strict=True))
    # Answers always are.
    assert chains["went"] and chains["kitchen"] and not chains["mary"]
