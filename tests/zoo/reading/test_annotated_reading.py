"""Reading of raw text by readers of annotated text."""

import dataclasses
import warnings

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import (
    CandidateExample,
    Example,
    Sentence,
    annotate_examples,
    as_examples,
)
from keras_corefmem.graphs import annotate
from keras_corefmem.text import Truecaser, get_tokenizer
from keras_corefmem.visualization.views import inspect_examples, token_views
from tests.support.texts.annotated import PASSAGE, QUESTION, SIZES, annotated_reader, questions
from zoo.reading import read_examples

pytestmark = pytest.mark.filterwarnings("ignore:The reader does not know these words")


@pytest.fixture(scope="module")
def model():
    return annotated_reader()


def test_an_annotator_gives_what_the_annotated_examples_give(model):
    examples = [*questions(3), Example((PASSAGE,), QUESTION, "rome")]
    readings = model.read(
        [e.passage for e in examples], [e.question for e in examples], annotator="exact"
    )
    cut = model.preprocessor.tokenizer.cased
    annotated = annotate_examples(examples, tokenizer=cut)
    assert any(annotated[-1].chain_ids)
    _, logits, _ = inspect_examples(annotated, model.preprocessor, model.inspect)
    for example, reading, row in zip(annotated, readings, logits, strict=True):
        answers = model.preprocessor.answers_of(model.preprocessor.encode(example))
        assert reading.answer == answers[np.argmax(row)]
        odds = np.exp(row - row.max())
        assert reading.probability == pytest.approx(max(odds) / sum(odds), abs=1e-5)
    with pytest.warns(UserWarning, match="was trained on text"):
        raw = model.read(PASSAGE, QUESTION)
    assert raw.probability != pytest.approx(readings[-1].probability, abs=1e-6)


def test_raw_text_has_the_tokens_of_training(model):
    answers = model.read(PASSAGE, QUESTION, top=99, annotator="exact").answers
    assert {"rome", "mary", "tom"} <= set(answers) and not {"rome.", "."} & set(answers)


def test_annotators_are_names_and_functions_and_truecasers_names(model, tmp_path):
    path = tmp_path / "truecaser.json"
    forms = {"mary": "Mary", "tom": "Tom", "rome": "Rome"}
    others = "so met in then left but saw".split()
    Truecaser(forms | dict(zip(others, others, strict=True))).save(path)
    expected = model.read(PASSAGE, QUESTION, annotator="exact")
    for truecase in (str(path), Truecaser.load(path)):
        lower = model.read(PASSAGE.lower(), QUESTION.lower(), 5, "exact", truecase)
        assert lower == expected

    def annotator(texts):
        return annotate(texts, tokenized=True)

    assert model.read(PASSAGE, QUESTION, annotator=annotator) == expected
    assert model.read([PASSAGE], QUESTION, annotator="exact") == [expected]


@pytest.mark.thorough
def test_a_model_says_what_it_was_trained_with(model, tmp_path):
    model.save(tmp_path / "reader.keras")
    loaded = zoo.load(tmp_path / "reader.keras")
    assert loaded.preprocessor.annotator == "exact" and loaded.preprocessor.truecase is None
    loaded.preprocessor.truecase = "novels.json"
    expected = (
        f"{loaded.name} was trained on text that exact annotated behind the truecaser "
        "novels.json; in other text it links repeated words alone: give annotator= and truecase= to"
    )
    with pytest.warns(UserWarning, match=expected) as record:
        loaded.read(PASSAGE, QUESTION)
    (warning,) = [each for each in record if "was trained" in str(each.message)]
    assert warning.filename == __file__
    with pytest.warns(UserWarning, match="annotate_examples makes of examples"):
        loaded.predict([{"passage": PASSAGE, "question": QUESTION}])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "was trained")
        loaded.read(PASSAGE, QUESTION, annotator="exact")
        loaded.predict(annotate_examples(questions(2), tokenizer=str.split))
        # It reads no chains.
        annotated_reader("gru").read(PASSAGE, QUESTION)


@pytest.mark.thorough
def test_examples_are_read_with_their_chains_and_candidates(model):
    (example,) = annotate_examples(questions(1), tokenizer=str.split)
    apart = dataclasses.replace(example, chain_ids=[0] * len(example.chain_ids))
    readings = read_examples(model, [example, apart])
    assert readings[0].probability != pytest.approx(readings[1].probability, abs=1e-7)
    some = dataclasses.replace(example, candidates=("mary", example.answer))
    assert set(read_examples(model, [some])[0].answers) == {"mary", example.answer}


def test_candidates_that_are_too_many_are_told():
    plain = questions()
    model = zoo.AttentionSumReader.from_examples(
        annotate_examples(plain, tokenizer=str.split), num_candidates=2, **SIZES
    )
    told = "chooses among the first 2 candidates or words of a passage; .* more num_candidates"
    with pytest.warns(UserWarning, match=told) as record:
        reading = model.read("Mary liked Rome.", "Whom?", annotator="exact")
    assert set(reading.answers) == {"mary", "liked"}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=told)
        model.read("Mary liked Mary", "Whom?", annotator="exact")
    assert [w.filename for w in record if "chooses among" in str(w.message)] == [__file__]
    names = ("mary", "liked", "rome")
    example = CandidateExample(["Mary liked Rome."], "Whom?", "rome", candidates=names)
    with pytest.warns(UserWarning, match=told):
        read_examples(model, [example], annotator="exact")


def test_an_annotator_of_examples_leaves_their_candidates_and_edges():
    plain = [
        CandidateExample(e.sentences, e.question, e.answer, candidates=[e.answer, "left Rome"])
        for e in questions()
    ]
    plain = [dataclasses.replace(example, edges=[(1, 6, "near")]) for example in plain]
    examples = annotate_examples(plain, tokenizer=get_tokenizer("words").cased)
    options = {"encoder": "mage_gru", "edge_units": 1, "edge_types": ["coreference", "near"]}
    model = zoo.AttentionSumReader.from_examples(examples, **options, **SIZES)
    readings = read_examples(model, plain[:3], annotator="exact")
    assert readings == read_examples(model, examples[:3])
    for example, reading in zip(plain, readings, strict=False):
        assert set(reading.answers) == {*example.candidates}
    nothing = Example(plain[0].sentences, "\xad_", "mary", source="here")
    with pytest.raises(ValueError, match="The question of here has no tokens"):
        read_examples(annotated_reader(), [nothing], annotator="exact")


def test_docs_are_read_in_the_tokens_of_the_reader_on_every_path():
    nlp, rows = pytest.importorskip("spacy").blank("en"), []
    for example in questions():
        doc = nlp(f'Once "well-known" {example.passage} He didn\'t.')
        places = [token.i for token in doc if token.text == example.answer]
        doc.spans["coref_clusters_1"] = [doc[n : n + 1] for n in places]
        rows.append((doc, {"question": "Who didn't", "answer": example.answer}))
    texts = [(doc.text, *row.values()) for doc, row in rows]
    for name, local in (("prose", True), ("words", False)):
        own, plain = get_tokenizer(name), as_examples(texts)
        if local:
            plain = annotate_examples(plain, tokenizer=own.cased)
        options = {"tokenizer": name, "local_answers": local, **SIZES}
        keras.utils.set_random_seed(0)
        model = zoo.GatedAttentionReader.from_examples(rows, **options)
        keras.utils.set_random_seed(0)
        other = zoo.GatedAttentionReader.from_examples(plain, **options)
        assert model.preprocessor.vocabulary.known == other.preprocessor.vocabulary.known
        expected = other.predict(plain, verbose=0)
        np.testing.assert_allclose(model.predict(rows, verbose=0), expected, atol=1e-6)
        readings = read_examples(model, as_examples(rows))
        assert readings == read_examples(other, plain)
        views = token_views(as_examples(rows), model.preprocessor, model.inspect)
        assert [view.question for view in views] == [["Who", *own.cased("didn't")]] * len(rows)
        batches = model.batches(rows, 8, shuffle=True, augment="shuffle")
        # No word is unknown.
        assert all((batch["passage"] != 1).all() for batch, *_ in batches)


def test_examples_to_read_may_have_any_form(model):
    rows = [(PASSAGE, QUESTION), {"passage": PASSAGE, "question": QUESTION, "candidates": ["Tom"]}]
    with pytest.warns(UserWarning, match="was trained on text"):
        plain, (chosen,) = read_examples(model, rows[:1])[0], read_examples(model, iter(rows[1:]))
    assert set(chosen.answers) == {"Tom"} and "tom" in plain.answers
    assert read_examples(model, []) == []
    with pytest.raises(ValueError, match="is a single sentence, but the model answers questions"):
        read_examples(model, ["Mary slept."])
    sentences = [Sentence(("Mary", "slept"), ("NNP", "VBD"))]
    tagger = zoo.SentenceDynamicMemoryNetwork.from_examples(sentences, units=2, embedding_dim=2)
    with pytest.raises(ValueError, match="reads single sentences: give them to read"):
        read_examples(tagger, sentences)


def test_refuses_annotators_of_no_use(model):
    story = zoo.EndToEndMemoryNetwork.from_examples(questions())
    for reader, options, message in (
        (story, {"annotator": "exact"}, "for readers of annotated text, leave it out"),
        (story, {"truecase": "novels.json"}, "A truecaser is for an annotator: give that one too"),
        (model, {"truecase": "novels.json"}, "A truecaser is for an annotator: give that one too"),
        (model, {"annotator": "no_such_pipeline"}, "No spaCy pipeline 'no_such_pipeline'"),
    ):
        with pytest.raises(ValueError, match=message):
            reader.read(PASSAGE, QUESTION, **options)


@pytest.mark.thorough
def test_presets_of_lambada_cut_raw_text_as_their_passages_and_remember_their_annotator():
    reader = zoo.from_preset("ga_coref_gru_lambada")
    passage = 'Mary saw him. "I lived in Rome," said Mr. Hall. She didn\'t ask him.'
    question = "They spoke of"
    with pytest.warns(UserWarning, match="was trained on text that en_ud_small annotated behind"):
        raw = reader.read(passage, question, top=99)
    words = {"mary", "saw", "him", "rome", "mr.", "hall", "did", "n't", "ask"}
    assert words <= set(raw.answers) and not {"him.", "rome,", '"i', "``", "."} & set(raw.answers)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "was trained")
        assert reader.read(passage, question, annotator="exact").answer == raw.answer == "rome"
