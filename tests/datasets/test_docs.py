"""Examples of spaCy Docs, with their chains, edges and named entities."""

import dataclasses

import pytest
import spacy

from keras_corefmem.datasets import AnnotatedExample, as_examples
from keras_corefmem.graphs import edges_of, from_doc
from keras_corefmem.text import get_tokenizer


@pytest.fixture
def doc():
    doc = spacy.blank("en")("Mary slept. She woke.")
    doc[3].is_sent_start = True
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[3:4]]
    return doc


def test_docs_with_clusters(doc):
    question = spacy.blank("en")("Where is she now, Ann?")
    question.spans["coref_clusters_1"] = [question[5:6]]
    words = "Where is Mary and she ?".split()
    expected = AnnotatedExample(
        ["Mary slept .", "She woke ."],
        " ".join(words),
        "bed",
        chain_ids=[1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0],
    )
    fields = {"question": "Where is Mary and she?", "answer": "bed"}
    for data in (
        [(doc, *fields.values())],
        [(doc, fields)],
        {"passage": [doc], **fields},
    ):
        assert as_examples(data) == [expected]
    doc.user_data |= fields
    assert as_examples(doc) == as_examples([doc]) == [expected]
    (example,) = as_examples([(doc, question, "bed")])
    assert example.chain_ids[6:] == (0, 0, 0, 0, 0, 2, 0)


def test_docs_and_rows_have_edges(doc):
    words = [token.text for token in doc]
    parsed = spacy.tokens.Doc(doc.vocab, words, heads=[1, 1, 1, 4, 4, 4], deps=["dep"] * 6)
    parsed.user_data = {"question": "Who woke?", "answer": "Mary", "edges": [(1, 8, "near")]}
    (example,) = as_examples(parsed)
    assert example.edges == ((1, 8, "near"),)
    dependencies = edges_of(example.structure, "dependency")
    assert dependencies.tolist() == [[2, 1], [2, 3], [5, 4], [5, 6]]
    question = spacy.tokens.Doc(doc.vocab, ["Who", "woke"], heads=[1, 1], deps=["dep"] * 2)
    for passage, before in ((parsed, [[2, 1], [2, 3], [5, 4], [5, 6]]), (doc, [])):
        (example,) = as_examples([(passage, {"question": question, "answer": "Mary"})])
        assert edges_of(example.structure, "dependency").tolist() == [*before, [8, 7]]
        assert len(example.chain_ids) == 8
    row = {"passage": "Mary slept.", "question": "Who?", "answer": "Mary", "edges": [[1, 2, "a"]]}
    lists = {name: [value, value] for name, value in row.items()}
    for data in (row, [row], lists):
        assert {each.edges for each in as_examples(data)} == {((1, 2, "a"),)}
    assert as_examples(lists) == as_examples([row, row])
    candidates, chains = {"candidates": ["Mary"]}, {"chain_ids": [0] * 3, "passage": "Mary slept"}
    for more in (candidates, chains):
        assert as_examples([{**row, **more}])[0].edges == ((1, 2, "a"),)
    with pytest.raises(ValueError, match=r"example 1: edge 1, \(2, 2, 'a'\), is a loop"):
        as_examples([row, {**row, "edges": [(2, 2, "a")]}])


def test_a_doc_may_hold_its_question(doc):
    fields = {"question_start": 12, "answer": "Mary"}
    (example,) = as_examples([(doc, fields)])
    assert (example.passage, example.question) == ("Mary slept .", "She woke .")
    assert example.chain_ids == (1, 0, 0, 1, 0, 0) and example.structure is not None
    with pytest.raises(ValueError, match="no token starts at character 13"):
        as_examples([(doc, {**fields, "question_start": 13})])
    empty = spacy.blank("en")(" ")
    for row, message in (
        ((empty, fields), "example 0: the passage is empty, give it a word"),
        ((doc, empty, "Mary"), "example 0: the question is empty, give it a word"),
    ):
        with pytest.raises(ValueError, match=message):
            as_examples([row])


def test_docs_have_named_entities():
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Mary"}])
    passage, plain = nlp("Mary slept"), spacy.blank("en")("Mary slept")
    cases = [
        (passage, "Was Mary here", ("PERSON", "", "", "PERSON", "")),
        (passage, nlp("Was Mary here"), ("PERSON", "", "", "PERSON", "")),
        (passage, plain, ("PERSON", "", "", "")),
        (plain, nlp("Mary"), ()),
    ]
    for doc, question, expected in cases:
        (example,) = as_examples([(doc, {"question": question, "answer": "Mary"})])
        assert example.named_entities == expected
    with pytest.raises(ValueError, match="2 named_entities for 4 tokens"):
        dataclasses.replace(
            example, named_entities=("", ""), question="Who slept", chain_ids=[0] * 4
        )


def test_readers_cut_docs_to_their_own_tokens():
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ann"}])
    doc = nlp("_\u201cAnn didn\u2019t.\u201d_ -- Her well-known dog did.")
    written = "_ \u201c Ann did n\u2019t . \u201d _ -- Her well - known dog did ."
    assert [token.text for token in doc] == written.split()
    doc[9].is_sent_start = True
    doc.spans["coref_clusters_1"] = [doc[2:3], doc[9:14]]
    # From "known" to "dog", and from "Ann" to the question.
    edges = [(13, 14, "near"), (3, 18, "far"), (11, 13, "inside")]
    fields = {"question": "Whose dog didn't?", "edges": edges, "supporting_facts": [2]}
    (example,) = as_examples([(doc, {**fields, "answer": "Ann"})])
    prose = example.recut(get_tokenizer("prose").cased)
    assert prose.sentences == ("`` Ann did n't . '' --", "Her well-known dog did .")
    assert prose.question == "Whose dog did n't ?" and prose.supporting_facts == (2,)
    assert prose.chain_ids == (0, 1, *[0] * 7, 1, *[0] * 3, 1, 0, 0, 0)
    assert prose.named_entities == ("", "PERSON", *[""] * 15)
    assert prose.edges == ((9, 10, "near"), (2, 14, "far"))
    assert prose.structure.mentions.tolist() == [[0, 1], [0, 9]]
    words = example.recut(get_tokenizer("words").cased)
    assert (
        words.sentences[1] == "Her well-known dog did ." and words.question == "Whose dog didn't ?"
    )
    # Its tokens are those of a tokenizer now.
    assert words.recut(str.split) is words
    # What was changed since is not undone, and what leaves the text is refused by readers.
    changed = dataclasses.replace(example, question="Whose cat did n't ?")
    far = dataclasses.replace(example, edges=[(1, 99, "near")])
    for each in (changed, far):
        assert each.recut(get_tokenizer("words").cased) is each
    beginning = example.beginning(1, str.split)
    assert beginning.recut(str.split) is beginning
    (whole,) = as_examples([(doc, {"question_start": doc[9].idx, "answer": "Ann"})])
    assert whole.recut(get_tokenizer("words").cased).question == words.sentences[1]


def test_readers_cut_merged_tokens():
    doc = spacy.blank("en")("Mary Ann saw New York . She left .")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.merge(doc[3:5])
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[4:5]]
    fields = {"question": "Who saw her?", "edges": [(3, 5, "seen_by")], "answer": "York"}
    (asked,) = as_examples([(doc, fields)])
    record = {"question_start": doc[4].idx, "answer": "York"}
    whole = AnnotatedExample.from_record(from_doc(doc), record)
    for example in (asked, whole):
        assert example.sentences[0].startswith("Mary\xa0Ann saw New\xa0York .")
        own = example.recut(get_tokenizer("words").cased)
        assert own.passage.startswith("Mary Ann saw New York .")
        assert own.chain_ids[:7] == (1, 0, 0, 0, 0, 0, 1)
        assert own.edges == (((4, 7, "seen_by"),) if example is asked else ())


def test_sentences_of_docs_keep_their_numbers():
    nlp = spacy.blank("en")
    doc = nlp("Ann ran. __ Bob sat. Ann ate.")
    for start in (0, 3, 5, 8):
        doc[start].is_sent_start = True
    fields = {"question": "Who?", "answer": "Ann", "supporting_facts": [1, 2, 4]}
    (example,) = as_examples([(doc, fields)])
    example = dataclasses.replace(example, documents=[1, 2, 3])
    assert example.sentences[1] == "_ _"
    prose = example.recut(get_tokenizer("prose").cased)
    assert prose.sentences == ("Ann ran .", "Bob sat .", "Ann ate .")
    assert prose.supporting_facts == (1, 3) and prose.documents == (1, 2)
