"""A first week with data of one's own: JSON lines, a data set of the Hub, Docs of spaCy."""

import json

import datasets
import pytest
import spacy

import zoo
from keras_corefmem.datasets import as_examples, simulator

pytestmark = pytest.mark.slow

STORIES = simulator.simulate(1, 60)
ROWS = [{"context": e.passage, "question": e.question, "answer": e.answer} for e in STORIES]


def test_train_on_json_lines(tmp_path):
    path = tmp_path / "my.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    examples = as_examples(path)
    model = zoo.QueryReductionNetwork.from_examples(examples, units=8)
    history = model.fit(path, epochs=3, validation_split=0.2, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] and len(history["val_accuracy"]) == 3
    scores = model.evaluate(path, verbose=0, return_dict=True)
    assert model.predict(path, verbose=0).shape == (60, len(model.preprocessor.answers))
    readings = model.read(ROWS[0]["context"], [ROWS[0]["question"]])
    assert 0 <= scores["accuracy"] <= 1 and readings[0].answer in model.preprocessor.answers


def test_train_on_a_data_set_of_the_hub():
    data = datasets.Dataset.from_list(ROWS).train_test_split(20, seed=0)
    model = zoo.QueryReductionNetwork.from_examples(as_examples(data["train"]), units=8)
    model.fit(data["train"], validation_data=data["test"], epochs=1, verbose=0)
    whole = model.evaluate(as_examples(data["test"]), verbose=0, return_dict=True)
    assert model.evaluate(data["test"], verbose=0, return_dict=True) == whole
    renamed = data["test"].rename_column("context", "told")
    examples = as_examples(renamed, columns={"told": "passage"})
    assert examples == as_examples(data["test"])


def test_read_docs_of_spacy():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    docs = list(nlp.pipe(["Mary went to the office. She slept.", "John sat. He saw Ann."]))
    for doc in docs:
        pronoun = next(token.i for token in doc if token.text in ("She", "He"))
        doc.spans["coref_clusters_1"] = [doc[0:1], doc[pronoun : pronoun + 1]]
    rows = [(docs[0], "Who slept?", "Mary"), (docs[1], "Who saw Ann?", "John")]
    examples = as_examples(rows)
    model = zoo.GatedAttentionReader.from_examples(examples, layers=1, units=8, encoder="coref_gru")
    assert model.fit(examples, epochs=20, verbose=0).history["accuracy"][-1] == 1
    assert model.evaluate(rows, verbose=0, return_dict=True)["accuracy"] == 1
    unanswered = as_examples([row[:2] for row in rows], answers=False)
    assert model.predict(unanswered, verbose=0).shape[0] == 2
