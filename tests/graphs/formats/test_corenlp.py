import copy
import json

import pytest

from keras_corefmem.graphs import Annotation, Mention
from keras_corefmem.graphs.formats.corenlp import (
    from_corenlp,
    read_corenlp,
    to_corenlp,
    write_corenlp,
)


def token(word, begin, before="", after=""):
    return {
        **{"word": word, "originalText": word, "pos": "X", "before": before, "after": after},
        **{"characterOffsetBegin": begin, "characterOffsetEnd": begin + len(word)},
    }


def sentence(edges, *tokens):
    edges = [{"dep": label, "governor": g, "dependent": d} for label, g, d in edges]
    return {"basicDependencies": edges, "tokens": tokens}


def mention(number):
    return {"id": number, "sentNum": number, "startIndex": 1, "endIndex": 2, "headIndex": 1}


# " Mary told him.\nShe left!"
EDGES = [("ROOT", 0, 2), ("nsubj", 2, 1), ("obj", 2, 3), ("punct", 2, 4)]
TOLD = token("Mary", 1, " ", " "), token("told", 6, " ", " "), token("him", 11, " ")
LEFT = token("She", 16, "\n", " "), token("left", 20, " ", "!")
SENTENCES = sentence(EDGES, *TOLD, token(".", 14, "", "\n")), sentence(EDGES[:2], *LEFT)
CONTENT = {"sentences": SENTENCES, "corefs": {"1": [mention(1), mention(2)]}}


def test_numbers_run_over_the_document_from_zero():
    annotation = from_corenlp(CONTENT)
    assert annotation.text == " Mary told him.\nShe left!"
    assert annotation.tokens == ("Mary", "told", "him", ".", "She", "left")
    assert annotation.sentences == (0, 4) and annotation.tags == ("X",) * 6
    assert annotation.governors == (1, 1, 1, 1, 5, 5)
    assert annotation.labels == ("nsubj", "ROOT", "obj", "punct", "nsubj", "ROOT")
    assert annotation.chains == ((Mention(0, 1, 0), Mention(4, 5, 4)),)


def test_the_text_may_be_given():
    text = " Mary told him.\nShe left! ..."
    assert from_corenlp(CONTENT, text).text == text
    with pytest.raises(ValueError, match="token 0, 'Mary', is not at character 1 .* 'ary' is"):
        from_corenlp(CONTENT, "Mary")


# "😀 Mary 𝐁 left": two of its characters are two units of UTF-16.
EMOJI = "\U0001f600 Mary \U0001d401 left \U0001f600"
UNITS = [(0, 2), (3, 7), (8, 10), (11, 15)]
CODE_POINTS = [(0, 1), (2, 6), (7, 8), (9, 13)]


def emoji(characters=UNITS, code_points=None):
    """The JSON for `EMOJI`, but its last word."""
    fields = token("", 0)
    words = [fields | {"word": w, "originalText": w} for w in EMOJI.split()[:-1]]
    for number, word in enumerate(words):
        word |= {"before": " " if number else "", "after": " "}
        word["characterOffsetBegin"], word["characterOffsetEnd"] = characters[number]
        if code_points is not None:
            word["codepointOffsetBegin"], word["codepointOffsetEnd"] = code_points[number]
    words[-1]["after"] = EMOJI[13:]
    return {"sentences": [{"tokens": words}]}


@pytest.mark.parametrize(
    "content",
    [
        emoji(),
        emoji(UNITS, CODE_POINTS),
        # CoreNLP up to 4.4.0.
        emoji(UNITS, UNITS),
        # Other writers.
        emoji(CODE_POINTS),
    ],
)
def test_offsets_count_utf_16(content):
    for text in (None, EMOJI):
        annotation = from_corenlp(content, text)
        assert annotation.text == EMOJI and annotation.tokens == tuple(EMOJI.split()[:-1])
        assert annotation.starts == (0, 2, 7, 9)


def test_what_is_between_tokens_is_measured_in_utf_16():
    first, second = token("Mary", 0), token("left", 8, "\U0001f600")
    content = {"sentences": [{"tokens": [first, second]}]}
    # One of the four units between is half a character, which spaces stand for.
    for before in ("\U0001f600", "\U0001f600 \U0001f600 x"):
        second["before"] = before
        annotation = from_corenlp(content)
        assert annotation.text == "Mary\U0001f600  left" and annotation.starts == (0, 7)


def test_offsets_are_written_in_utf_16():
    annotation = from_corenlp(emoji())
    written = to_corenlp(annotation)
    for text in (None, annotation.text):
        assert from_corenlp(written, text) == annotation
    tokens = written["sentences"][0]["tokens"]
    for key, expected in (("characterOffset", UNITS), ("codepointOffset", CODE_POINTS)):
        assert [(t[f"{key}Begin"], t[f"{key}End"]) for t in tokens] == expected
    plain = to_corenlp(from_corenlp(CONTENT))["sentences"][0]["tokens"][0]
    assert "codepointOffsetBegin" not in plain


def test_offsets_of_other_words_are_refused(tmp_path):
    text = " Mary told him.\nShe left!"
    # Case, accents and quotation marks may differ.
    assert from_corenlp(CONTENT, text.upper()).tokens[0] == "MARY"
    for shifted, message in (
        (f" {text}", "token 0, 'Mary', is not at character 1 of the text, where ' Mar' is"),
        (text.replace(".", " "), r"token 3, '\.', is not at character 14 of the text"),
    ):
        path = tmp_path / "x.json"
        path.write_text(json.dumps(CONTENT))
        with pytest.raises(ValueError, match=f"{path}: {message}"):
            read_corenlp(path, shifted)
    content = copy.deepcopy(CONTENT)
    content["sentences"][0]["tokens"][1]["characterOffsetBegin"] = 4
    with pytest.raises(ValueError, match="token 1, 'told', begins at 4 where .* ends at 5"):
        from_corenlp(content)
    del content["sentences"][0]["tokens"][1]["characterOffsetEnd"]
    with pytest.raises(ValueError, match="not the JSON of CoreNLP.*'characterOffsetEnd'"):
        from_corenlp(content, text)


def test_parse_and_chains_may_lack():
    content = copy.deepcopy(CONTENT)
    del content["corefs"]
    for sentence in content["sentences"]:
        del sentence["basicDependencies"]
        for word in sentence["tokens"]:
            del word["pos"]
    annotation = from_corenlp(content)
    assert annotation.chains == annotation.governors == annotation.labels == annotation.tags == ()


def test_what_is_written_is_read_again(tmp_path):
    content = copy.deepcopy(CONTENT)
    for sentence in content["sentences"]:
        for word in sentence["tokens"]:
            word["ner"] = "PERSON" if word["word"] == "Mary" else "O"
    annotation = from_corenlp(content)
    assert annotation.named_entities == ("PERSON", *[""] * 5)
    write_corenlp(tmp_path / "x.json", annotation)
    assert read_corenlp(tmp_path / "x.json") == annotation
    written = json.loads((tmp_path / "x.json").read_text())
    assert written["corefs"]["1"][1] == {**mention(2), "text": "She"}
    root = written["sentences"][1]["basicDependencies"][1]
    assert (root["dep"], root["governor"], root["dependent"]) == ("ROOT", 0, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("sentences"), "not the JSON of CoreNLP.*'sentences'"),
        (lambda c: c["sentences"][0].update(tokens=[]), "a sentence has no tokens"),
        (
            lambda c: c["sentences"][1]["tokens"][0].update(characterOffsetBegin=10**12),
            "characterOffsetBegin is 1,000,000,000,000 where the token before ends at",
        ),
        (lambda c: c["corefs"]["1"][0].update(sentNum=3), "sentence 3 of a mention is none of the"),
        (lambda c: c["corefs"]["1"][0].update(headIndex=9), "is no mention in 6 tokens"),
        (lambda c: c["corefs"]["1"][0].pop("headIndex"), "not the JSON of CoreNLP.*'headIndex'"),
        (
            lambda c: c["sentences"][1]["basicDependencies"][1].update(governor=3),
            "token 3 of a dependency is not in its sentence of 2",
        ),
    ],
)
def test_other_json_raises_with_its_file(tmp_path, change, message):
    content = copy.deepcopy(CONTENT)
    change(content)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"{path}: .*{message}"):
        read_corenlp(path)


def test_truncated_files_raise(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(CONTENT)[:-9])
    with pytest.raises(ValueError, match="x.json:1: no CoreNLP JSON .*is the file truncated"):
        read_corenlp(path)
    with pytest.raises(FileNotFoundError, match="CoreNLP JSON"):
        read_corenlp(tmp_path / "none.json")


def test_what_crosses_sentences_has_no_place():
    fields = {"text": "a b", "tokens": "ab", "starts": (0, 2), "sentences": (0, 1)}
    with pytest.raises(ValueError, match="Token 1 depends on token 0 of another sentence"):
        to_corenlp(Annotation(**fields, governors=(0, 0), labels=("root", "x")))
    with pytest.raises(ValueError, match="Mention.*crosses the end of sentence 1"):
        to_corenlp(Annotation(**fields, chains=[[(0, 2, 0)]]))
