"""Coreference chains in HTML."""

import re

import pytest

from keras_corefmem.graphs import annotate
from keras_corefmem.visualization import chains_to_html

spacy = pytest.importorskip("spacy")


def test_mentions_are_labelled_by_chain_and_texts_escaped():
    doc = spacy.blank("en")("Mary & her dog <b> left; she ran.")
    doc.spans["coref_clusters_1"] = [doc[0:1], doc[2:3], doc[8:9]]
    doc.spans["coref_clusters_2"] = [doc[2:4]]
    html = chains_to_html(doc)
    assert re.findall(r">\s*(\d)\s*<", html) == ["1", "2", "1", "1"]
    assert "&amp;" in html and "&lt;" in html and "<b>" not in html
    assert len(set(re.findall(r"background: (#\w+)", html))) == 2


def test_annotations_and_texts_without_chains():
    repeated, plain = annotate(["Then Mary saw that Mary slept.", "Nobody slept."])
    assert len(re.findall(r">\s*1\s*<", chains_to_html(repeated))) == 2
    assert "Nobody slept" in chains_to_html(plain)
    assert chains_to_html(plain, page=True).startswith("<!DOCTYPE html>")
    assert "Mary" in chains_to_html(spacy.blank("en")("Mary slept."))
