import pickle

import pytest

from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import Text
from keras_corefmem.graphs import annotators
from keras_corefmem.text.truecase import Truecaser


@pytest.fixture(scope="module")
def blank(tmp_path_factory):
    """The folder of a pipeline without a parser, which nothing can be resolved with."""
    import spacy

    folder = tmp_path_factory.mktemp("pipelines") / "blank"
    spacy.blank("en", meta={"name": "blank", "version": "1.2.3"}).to_disk(folder)
    return folder


def texts_of(*strings):
    return [Text(string, {}, f"a.txt:{n}") for n, string in enumerate(strings, 1)]


def test_it_annotates_as_annotate_does():
    strings = ["Mary left. We saw Mary.", "``I slept ,'' he said ."]
    for tokenized in (False, True):
        found = list(TextAnnotator(tokenized=tokenized)(texts_of(*strings)))
        assert found == list(annotators.annotate(strings, tokenized=tokenized))


def test_errors_name_the_place(monkeypatch):
    def annotate(texts, annotator, batch_size, *_):
        texts = list(texts)
        for n, text in enumerate(texts):
            # Like a pipeline, it fails before it gives the texts of the batch.
            batch = texts[n - n % batch_size :][:batch_size]
            if any("bad" in other for other in batch):
                raise KeyError("no such thing")
            yield text

    monkeypatch.setattr("keras_corefmem.corpora.text_annotator.annotate", annotate)
    texts = texts_of("a", "b", "c", "d", "a bad one", "f")
    with pytest.raises(ValueError, match=r"^a.txt:5: this text does not.*KeyError\('no such thing"):
        list(TextAnnotator(batch_size=3)(texts))


def test_errors_of_no_text_alone(monkeypatch):
    def annotate(texts, *_):
        if len(list(texts)) > 1:
            raise MemoryError("too much")
        yield from ()

    monkeypatch.setattr("keras_corefmem.corpora.text_annotator.annotate", annotate)
    with pytest.raises(ValueError, match="^a.txt:1 or behind it: .*too much"):
        list(TextAnnotator()(texts_of("a", "b")))


def test_a_pipeline_that_cannot_annotate(blank):
    with pytest.raises(ValueError, match="^The text has no .*parser"):
        list(TextAnnotator(str(blank))(texts_of("Mary left.")))


def test_descriptions(blank, tmp_path):
    exact = TextAnnotator().describe()
    assert exact["annotator"] == {"name": "exact"} and "spacy" not in exact["versions"]
    assert exact["truecaser"] is None and exact["tokenized"] is False
    found = TextAnnotator(str(blank)).describe()
    assert found["annotator"]["name"] == "en_blank" and "spacy" in found["versions"]
    assert found["annotator"]["version"] == "1.2.3"
    assert TextAnnotator(str(blank)).describe() == found
    (blank / "more").write_text("a word")
    assert TextAnnotator(str(blank)).describe()["annotator"] != found["annotator"]
    truecaser = tmp_path / "a.json"
    truecaser.write_text("{}")
    described = TextAnnotator(truecaser=str(truecaser)).describe()["truecaser"]
    assert described["name"] == "a.json" and described["bytes"] == 2
    assert TextAnnotator(truecaser="novels").describe()["truecaser"] == {"name": "novels"}


def test_errors_of_descriptions(tmp_path):
    for name in ("none_at_all", "sys", "json"):
        with pytest.raises(ValueError, match="pipeline"):
            TextAnnotator(name).describe()
    missing = TextAnnotator(truecaser=str(tmp_path / "none.json"))
    for use in (missing.describe, missing.load):
        with pytest.raises(FileNotFoundError, match="none.json: no such file"):
            use()


def test_it_is_small_when_pickled(blank):
    annotator = TextAnnotator(str(blank))
    annotator.load()
    assert pickle.loads(pickle.dumps(annotator)) == annotator
    assert len(pickle.dumps(annotator)) < 1000


def test_a_real_pipeline(real_data):
    pipeline = str(real_data("../models/en_ud_small"))
    annotator = TextAnnotator(pipeline, batch_size=2)
    strings = ["Mary said that she was late.", "The dog slept.", "John left. He was tired."]
    first, again = list(annotator(texts_of(*strings))), list(annotator(texts_of(*strings)))
    assert first == again == list(annotators.annotate(strings, pipeline, batch_size=2))
    assert first[0].governors and first[2].sentence_numbers[-1] == 1
    assert annotator.describe()["annotator"]["name"] == "en_ud_small"


def test_a_truecaser_finds_names_in_lower_case(tmp_path):
    path = tmp_path / "a.json"
    cased = "Then we saw Mary , and Mary saw us ."
    Truecaser.learn([cased] * 3).save(path)
    texts = texts_of("then mary left . we saw mary .")
    (plain,) = TextAnnotator(tokenized=True)(texts)
    (found,) = TextAnnotator(tokenized=True, truecaser=str(path))(texts)
    assert plain.chains == () and found.tokens == plain.tokens
    assert found.chains == (((1, 2, 1), (6, 7, 6)),)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1, got 0"):
        TextAnnotator(batch_size=0)
    with pytest.raises(ValueError, match="must be the name or path of a spaCy pipeline, which"):
        TextAnnotator(list)
