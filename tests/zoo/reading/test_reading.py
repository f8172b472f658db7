import dataclasses
import warnings

import keras
import numpy as np
import pytest
import scipy

import zoo
from keras_corefmem.datasets import Example
from keras_corefmem.datasets.example import UNKNOWN_ANSWER
from tests.support.model_cases import make
from zoo import Reading
from zoo.reading import read, read_examples

PASSAGE = "Mary went to the kitchen. Zoë took the milk."


@pytest.fixture(scope="module")
def model(make_reader):
    return make_reader("coref_gru", answer_head="classification")


@pytest.fixture(scope="module")
def long_and_short(examples):
    """Forty passages and questions, of 6 to 200 tokens."""
    rows = [(" ".join(e.sentences * (n % 8 + 1)), e.question) for n in range(8) for e in examples]
    return [passage for passage, _ in rows], [question for _, question in rows]


def features_of(model, passage):
    ids = [model.preprocessor.ids_of_text(text)[None] for text in (passage, "Where is Mary?")]
    features = model.preprocessor.features(*ids)
    return {name: features[name] for name in model.features}


def test_examples_are_read_sentence_by_sentence():
    examples = [
        Example(("Mary went to the kitchen", f"John went to the {place}"), "Where is John", place)
        for place in ("garden", "office")
    ]
    model = zoo.EndToEndMemoryNetwork.from_examples(examples, units=4)
    expected = scipy.special.softmax(model.predict(examples, verbose=0)[:, 1:], axis=-1)
    readings = read_examples(model, examples)
    answers = model.preprocessor.answers[1:]
    for reading, probabilities in zip(readings, expected, strict=True):
        found = dict(zip(reading.answers, reading.probabilities, strict=True))
        assert found == pytest.approx(dict(zip(answers, probabilities, strict=True)), abs=1e-5)
    assert read_examples(model, []) == []


@pytest.mark.thorough
def test_probabilities_are_the_softmax_of_the_logits(model):
    logits = np.asarray(model(features_of(model, PASSAGE)))[0, 1:]
    expected = np.exp(logits) / np.exp(logits).sum()
    reading = model.read(PASSAGE, "Where is Mary?", top=99)
    assert isinstance(reading, Reading)
    numbers = [model.preprocessor.answer_numbers[answer] for answer in reading.answers]
    assert sorted(numbers) == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(reading.probabilities, expected[np.array(numbers) - 1], rtol=1e-4)
    assert reading.probabilities == tuple(sorted(reading.probabilities, reverse=True))
    assert (reading.answer, reading.probability) == (reading.answers[0], reading.probabilities[0])
    assert reading.unknown_words == ()


def test_one_string_goes_with_every_element_of_a_list(model):
    questions = ["Where is Mary?", "Where is Zoë?"]
    by_passage = model.read(PASSAGE, questions, top=2)
    assert [len(reading.answers) for reading in by_passage] == [2, 2]
    assert by_passage == model.read([PASSAGE] * 2, questions, top=2)
    assert model.read([PASSAGE], questions[0])[0].answer == by_passage[0].answer
    assert model.read([], []) == []


def test_batch_composition_and_padding_do_not_change_predictions(model, long_and_short):
    passages, questions = long_and_short
    together = model.read(passages, questions, top=5)
    assert len({reading.probability for reading in together}) > 20
    for n in (0, 7, 33, 39):
        alone = model.read(passages[n], questions[n])
        assert alone.answers == together[n].answers
        np.testing.assert_allclose(alone.probabilities, together[n].probabilities, atol=1e-5)


@pytest.mark.thorough
def test_many_texts_of_several_lengths_are_answered_in_their_order(model):
    # The last batch, which is not full, is read second.
    places = "kitchen", "garden"
    passages = [f"Mary went to the {places[n % 2]}." for n in range(70)] + [PASSAGE * 3]
    together = model.read(passages, "Where is Mary?")
    first, second, last = model.read([*passages[:2], passages[-1]], "Where is Mary?")
    for n, reading in enumerate(together):
        expected = last if n == 70 else (first, second)[n % 2]
        np.testing.assert_allclose(reading.probabilities, expected.probabilities, atol=1e-5)


@pytest.mark.thorough
def test_texts_are_read_in_few_shapes(model, long_and_short, monkeypatch):
    shapes, inspect = set(), model.inspect

    def watched(features):
        shapes.add(features["passage"].shape)
        return inspect(features)

    monkeypatch.setattr(model, "inspect", watched)
    passages, questions = long_and_short
    for passage, question in zip(passages, questions, strict=True):
        model.read(passage, question)
    model.read(passages[:5], questions[:5])
    model.read(passages[:6], questions[:6])
    lengths = {len(model.preprocessor.tokenizer(passage)) for passage in passages}
    assert {rows for rows, _ in shapes} == {1, 8}
    assert max(lengths) <= max(length for _, length in shapes) and len(shapes) < len(lengths) / 2


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="JAX traces every shape")
def test_a_model_is_traced_once_whatever_the_length_of_texts(
    make_reader, long_and_short, monkeypatch
):
    model = make_reader("coref_gru", answer_head="classification")
    layer, traced = model.get_layer("split_1"), []
    call = layer.call

    def count(*args, **kwargs):
        traced.append(layer.name)
        return call(*args, **kwargs)

    monkeypatch.setattr(layer, "call", count)
    short, *_, long = sorted(long_and_short[0], key=len)
    shapes = [np.shape(model.attend(features_of(model, text))) for text in (short, long)]
    assert shapes[0] != shapes[1]
    model.read([short, long], "Where is Mary?")
    assert traced == ["split_1"]


def test_unknown_words_are_named_once(model):
    with pytest.warns(UserWarning, match="does not know these words: 'bob', 'slept'") as record:
        readings = model.read(["Bob slept.", "Bob went."], "Where is Bob?")
    (warning,) = [each for each in record if "does not know" in str(each.message)]
    assert str(warning.message).count("'bob'") == 1 and warning.filename == __file__
    assert [reading.unknown_words for reading in readings] == [("bob", "slept"), ("bob",)]
    with pytest.warns(UserWarning, match="'number19' and 5 more"):
        model.read(" ".join(f"number{n}" for n in range(25)), "Where is Mary?")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.read(PASSAGE, "Where is Mary?")


def test_refuses_half_of_a_surrogate_pair(model):
    with pytest.raises(ValueError, match=r"passage has half of a surrogate pair at character 5"):
        model.read("Mary \ud800 left.", "Who left?")
    with pytest.raises(ValueError, match=r"question\[1\] has half of .*: decode the text anew"):
        model.read("Mary left.", ["Who left?", "Who \udc80?"])


def test_refuses_empty_text(model):
    with pytest.raises(ValueError, match="^The passage is empty: ' '"):
        model.read(" ", "Where is Mary?")
    with pytest.raises(ValueError, match="^text 2 of 2: The question is empty: ''"):
        model.read([PASSAGE, PASSAGE], ["Where is Mary?", ""])
    with pytest.raises(ValueError, match="^page 7: The passage is empty: ''"):
        read(model, [PASSAGE, ""], "Where is Mary?", sources=["page 1", "page 7"])


def test_refuses_bad_arguments(model, make_reader):
    with pytest.raises(ValueError, match="2 passages, but 1 questions"):
        model.read([PASSAGE, PASSAGE], ["Where is Mary?"])
    with pytest.raises(ValueError, match="top must be an integer of at least 1, got 0"):
        model.read(PASSAGE, "Where is Mary?", top=0)
    table = np.array([["Mary left."]])
    for text in (None, 3, b"Mary left.", {"a": "b"}, {"Mary left."}, np.array("Mary left."), table):
        with pytest.raises(TypeError, match="passage must be a string or a list of strings, got"):
            model.read(text, "Where is Mary?")
    with pytest.raises(TypeError, match="passage and question: got 1 texts"):
        read(model, PASSAGE)
    with pytest.raises(TypeError, match=r"question\[1\] must be a string, got None"):
        model.read(PASSAGE, ["Where is Mary?", None])
    reader = make_reader("gru")
    with pytest.raises(ValueError, match="6 answers, but the model has .*num_answers=3"):
        type(reader).from_config({**reader.get_config(), "num_answers": 3})
    reader.preprocessor = None
    with pytest.raises(ValueError, match="has no preprocessor"):
        reader.read(PASSAGE, "Where is Mary?")


def test_chains_of_an_example_are_read_in_place_of_those_of_words(model):
    words = ["mary", "met", "john", ".", "who", "left", "?"]
    plain = Example(("Mary met John.",), "Who left?", UNKNOWN_ANSWER)
    encode = model.preprocessor.encode
    assert len(encode(plain).chain_ids) == len(words)
    own = tuple(encode(plain).chain_ids.tolist())
    (reading,) = read_examples(model, [plain])
    (same,) = read_examples(model, [dataclasses.replace(plain, chains=own)])
    assert same == reading
    other = dataclasses.replace(plain, chains=(7, 0, 7, 0, 7, 0, 0))
    assert encode(other).chain_ids.tolist() == [7, 0, 7, 0, 7, 0, 0]
    (changed,) = read_examples(model, [other])
    assert changed.probabilities != reading.probabilities
    with pytest.raises(ValueError, match="An example: 2 chains for 7 tokens of passage and que"):
        read_examples(model, [dataclasses.replace(plain, chains=(1, 1))])


def test_an_annotator_of_single_sentences_is_refused():
    with pytest.raises(ValueError, match="An annotator is for readers of annotated text, leave"):
        read(make("dmn-sentiment"), "a good film", annotator="exact")
