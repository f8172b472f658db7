"""The spaCy component that answers questions about Docs."""

import dataclasses
import os
import textwrap

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import CandidateExample, Example, as_examples
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.graphs import annotate, from_doc
from tests.support.texts.annotated import PASSAGE, QUESTION, annotated_reader
from zoo.reading import read_examples
from zoo.serving import spacy_component
from zoo.serving.spacy_component import DocReader

spacy = pytest.importorskip("spacy")

pytestmark = pytest.mark.filterwarnings(
    "ignore:The reader does not know these words", "ignore:.*was trained on text that"
)
PROCESSES = """
import spacy
nlp = spacy.load(data["pipeline"])
docs = nlp.pipe(map(tuple, data["rows"]), as_tuples=True, n_process=2, batch_size=2)
result = [[doc._.answer, doc._.answers] for doc, _ in docs]
"""

WAITING = f"""
import keras
keras.ops.zeros(1)
try:{textwrap.indent(PROCESSES, "    ")}
except ValueError as error:
    result = str(error)
"""
tensorflow_only = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="it is TensorFlow that waits"
)


@pytest.fixture(scope="module")
def model():
    return annotated_reader()


@pytest.fixture(scope="module")
def nlp(model, tmp_path_factory):
    """A pipeline whose only component is the reader."""
    folder = str(tmp_path_factory.mktemp("reader") / "preset")
    model.save_to_preset(folder)
    nlp = spacy.blank("en")
    nlp.add_pipe("corefmem_reader", config={"model": folder, "top": 3})
    return nlp


def answers_of(reading):
    return reading.answer, list(map(list, zip(reading.answers, reading.probabilities, strict=True)))


def test_questions_come_with_docs_and_texts(nlp, model):
    assert model.preprocessor.local
    first, second, third = (nlp.make_doc(PASSAGE) for _ in range(3))
    first._.question = QUESTION
    second.user_data["question"] = "Then Tom saw"
    read = [nlp(doc) for doc in (first, second, third)]
    ((fourth, context),) = nlp.pipe([(PASSAGE, {"question": QUESTION})], as_tuples=True)
    expected = [answers_of(model.read(PASSAGE, q, top=3)) for q in (QUESTION, "Then Tom saw")]
    assert [(doc._.answer, doc._.answers) for doc in read] == [*expected, (None, None)]
    assert (fourth._.answer, fourth._.answers) == expected[0] and context == {"question": QUESTION}
    reading = nlp.get_pipe("corefmem_reader").ask(third, QUESTION)
    assert answers_of(reading) == expected[0] and third._.answer is None


def test_chains_of_docs_are_read(nlp, model):
    docs = [nlp.make_doc(PASSAGE) for _ in range(3)]
    # Tom and the second Mary.
    docs[1].spans["coref_clusters_1"] = [docs[1][3:4], docs[1][8:9]]
    for doc in docs:
        doc._.question = QUESTION
    plain, linked, again = list(nlp.pipe(docs))
    (expected,) = read_examples(model, as_examples([(docs[1], QUESTION)], answers=False), top=3)
    assert (linked._.answer, linked._.answers) == answers_of(expected)
    assert plain._.answers == again._.answers != linked._.answers


def test_docs_that_were_resolved_without_a_chain_are_read_so(nlp, model):
    docs = [nlp.make_doc(PASSAGE) for _ in range(2)]
    # What corefmem_resolver leaves on a Doc without chains.
    docs[1].spans["corefmem_resolver"] = []
    for doc in docs:
        doc._.question = QUESTION
    unresolved, resolved = nlp.pipe(docs)

    def annotator(texts):
        return (from_doc(nlp.make_doc(text)) for text in texts)

    expected = answers_of(model.read(PASSAGE, QUESTION, top=3, annotator=annotator))
    assert (resolved._.answer, resolved._.answers) == expected
    assert unresolved._.answers != resolved._.answers


def test_docs_are_read_with_the_quotation_marks_of_the_reader(nlp, model):
    passage = (
        "So \u201cMary\u201d met Tom (in Rome) \u2014 Mary\u2019s, he said. Then Mary left Rome."
    )
    question, docs = "But \u201cMary\u201d saw", [nlp.make_doc(passage) for _ in range(2)]
    for doc in docs:
        doc._.question = question
    docs[0].spans["corefmem_resolver"] = []
    for number, name in enumerate(("Mary", "Rome"), 1):
        places = [token.i for token in docs[1] if token.text == name]
        docs[1].spans[f"coref_clusters_{number}"] = [docs[1][n : n + 1] for n in places]
    apart, linked = nlp.pipe(docs)

    def annotator(texts):
        for each in annotate(texts, tokenized=True):
            yield dataclasses.replace(each, chains=())

    words = model.preprocessor.tokenizer(passage)
    assert {"``", "''", "-lrb-", "--", "'s"} <= set(words)
    expected = answers_of(model.read(passage, question, top=3, annotator=annotator))
    assert (apart._.answer, apart._.answers) == expected
    expected = answers_of(model.read(passage, question, top=3, annotator="exact"))
    assert (linked._.answer, linked._.answers) == expected


def test_docs_have_candidates_and_edges(nlp, model):
    # The reader leaves the underscores out.
    passage = f"_He said:_ {PASSAGE}"
    own, texts = model.preprocessor.tokenizer.cased(passage), [t.text for t in nlp(passage)]
    ends = ([words.index("Mary") + 1, words.index("Tom") + 1] for words in (own, texts))
    own_edges, edges = ([(*pair, "coreference")] for pair in ends)
    assert own_edges != edges
    known = {"candidates": ("Mary", "Tom")}
    asked = (passage,), QUESTION, "[unknown]"
    cases = [
        (
            {**known, "edges": edges},
            CandidateExample(*asked, **known, edges=own_edges, is_raw=True),
        ),
        ({"edges": edges}, Example(*asked, edges=own_edges, is_raw=True)),
        (known, CandidateExample(*asked, **known, is_raw=True)),
    ]
    seen = [nlp.get_pipe("corefmem_reader").ask(nlp.make_doc(passage), QUESTION)]
    for fields, example in cases:
        (expected,) = read_examples(model, [example], top=3)
        assert set(expected.answers) <= {"Mary", "Tom"} or "candidates" not in fields
        doc = nlp.make_doc(passage)
        doc.user_data |= {"question": QUESTION, **fields}
        row = (passage, {"question": QUESTION, **fields})
        ((other, _),) = nlp.pipe([row], as_tuples=True)
        for each in (nlp(doc), other):
            assert (each._.answer, each._.answers) == answers_of(expected)
        resolved = nlp.make_doc(passage)
        resolved.spans["corefmem_resolver"] = []
        resolved.user_data |= {"question": QUESTION, **fields}
        (linked,) = as_examples([resolved], answers=False)
        (apart,) = read_examples(model, [linked], top=3)
        assert nlp(resolved)._.answers == answers_of(apart)[1]
        seen += [expected, apart]
    odds = [reading.probability for reading in seen]
    assert len(set(np.round(odds, 7))) == len(odds)


def test_edges_of_docs_that_the_reader_cannot_place_are_refused(nlp):
    doc = nlp.make_doc("Mary-lrb-and-rrb-Tom left.")
    doc.user_data["edges"] = [(1, 4, "coreference")]
    with pytest.raises(ValueError, match="edges of a Doc do not fit the tokens of the reader"):
        nlp.get_pipe("corefmem_reader").ask(doc, QUESTION)


def test_docs_without_words_have_no_answers(nlp):
    rows = [("", QUESTION), (PASSAGE, QUESTION), (" \n", QUESTION), (PASSAGE, "  ")]
    rows = [(text, {"question": question}) for text, question in rows]
    docs = [doc for doc, _ in nlp.pipe(rows, as_tuples=True)]
    assert [doc.text for doc in docs] == [text for text, _ in rows]
    assert [doc._.answer is None for doc in docs] == [True, False, True, True]
    assert docs[0]._.answers is None
    with pytest.raises(ValueError, match="is empty"):
        nlp.get_pipe("corefmem_reader").ask(docs[0], QUESTION)


def test_docs_of_punctuation_have_no_answers(nlp):
    rows = [("... !", {"question": QUESTION}), (PASSAGE, {"question": QUESTION})]
    docs = [doc for doc, _ in nlp.pipe(rows, as_tuples=True)]
    assert [doc._.answer is None for doc in docs] == [True, False]


def test_texts_are_cut_no_more_often_than_read_cuts_them(nlp, monkeypatch):
    reader = nlp.get_pipe("corefmem_reader").reader
    cut, kind = [], type(reader.preprocessor.tokenizer)
    tokenize = kind.__call__
    monkeypatch.setattr(
        kind, "__call__", lambda self, text: cut.append(text) or tokenize(self, text)
    )
    reader.read(PASSAGE, QUESTION, top=3)
    expected, cut[:] = list(cut), []
    ((doc, _),) = nlp.pipe([(PASSAGE, {"question": QUESTION})], as_tuples=True)
    assert doc._.answer and cut == expected


def test_docs_that_cannot_be_read_go_to_the_error_handler(model, tmp_path):
    model.save_to_preset(tmp_path / "preset")
    nlp = spacy.blank("en")
    config = {"model": str(tmp_path / "preset")}
    reader = nlp.add_pipe("corefmem_reader", "answers", config=config)
    rows = [(PASSAGE, {"question": question}) for question in (QUESTION, 3, QUESTION)]
    with pytest.raises(TypeError):
        list(nlp.pipe(rows, as_tuples=True))
    failed = []
    nlp.set_error_handler(lambda *failure: failed.append(failure))
    docs = [doc for doc, _ in nlp.pipe(rows, as_tuples=True)]
    assert len(docs) == 2 and all(doc._.answer is not None for doc in docs)
    ((name, component, (doc,), error),) = failed
    assert (name, component, doc.text) == ("answers", reader, PASSAGE)
    assert isinstance(error, TypeError) and reader.get_error_handler()(1, 2, [3], error) is None


def test_a_saved_pipeline_needs_no_other_file(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    component = loaded.get_pipe("corefmem_reader")
    assert component.handle == str(tmp_path / "pipeline" / "corefmem_reader") and component.top == 3
    docs = [pipeline.make_doc(PASSAGE) for pipeline in (nlp, loaded)]
    before, after = nlp(docs[0]), loaded(docs[1])
    assert before._.answers == after._.answers


@pytest.mark.thorough
def test_it_answers_in_several_processes(nlp, run_python, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    rows = [(PASSAGE, {"question": QUESTION}), (PASSAGE, {"question": "Then Tom saw"})] * 3
    expected = [[doc._.answer, doc._.answers] for doc, _ in nlp.pipe(rows, as_tuples=True)]
    data = {"pipeline": str(tmp_path / "pipeline"), "rows": rows}
    found = run_python(PROCESSES, data, tmp_path)
    assert [answer for answer, _ in found] == [answer for answer, _ in expected]
    for (_, ours), (_, theirs) in zip(found, expected, strict=True):
        assert dict(ours) == pytest.approx(dict(theirs), abs=1e-6)


def test_a_process_that_is_forked_from_one_that_read_is_refused(nlp):
    component = DocReader(nlp.get_pipe("corefmem_reader").handle)
    component._model, component._process = object(), os.getpid() + 1
    with pytest.raises(ValueError, match="before n_process split the work: load the pipeline anew"):
        component(nlp.make_doc(PASSAGE))


@tensorflow_only
def test_a_process_that_is_forked_from_one_that_ran_tensorflow_is_refused(nlp, monkeypatch):
    keras.ops.zeros(1)
    monkeypatch.setattr(spacy_component.DocReader, "forked_from_tensorflow", False)
    spacy_component._note_fork()
    with pytest.raises(ValueError, match="TensorFlow was in use before n_process split the work"):
        DocReader(nlp.get_pipe("corefmem_reader").handle).ask(nlp.make_doc(PASSAGE), QUESTION)
    # Where Keras runs on JAX, nothing waits for TensorFlow.
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    assert DocReader(nlp.get_pipe("corefmem_reader").handle).reader


@tensorflow_only
@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_processes_do_not_wait_for_the_threads_of_tensorflow(nlp, run_python, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    data = {"pipeline": str(tmp_path / "pipeline"), "rows": [(PASSAGE, {"question": QUESTION})] * 4}
    assert "would wait forever" in run_python(WAITING, data, tmp_path)


def test_models_without_questions_are_refused(tmp_path):
    sentences = [Sentence(("Mary", "slept"), ("NNP", "VBD"))]
    tagger = zoo.SentenceDynamicMemoryNetwork.from_examples(sentences, units=2, embedding_dim=2)
    tagger.save(tmp_path / "tagger.keras")
    component = DocReader(str(tmp_path / "tagger.keras"))
    with pytest.raises(ValueError, match="reads a sentence, but corefmem_reader needs a model"):
        component.ask(spacy.blank("en")("Mary slept."), "Who slept?")
    with pytest.raises(ValueError, match="top must be .* at least 1"):
        DocReader("qrn_babi_1", top=0)
