import hashlib
import io
import json
import sys

import pytest

from keras_corefmem.corpora.texts import Text, TextReader


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def test_lines_of_text(write):
    path = write("a.txt", "\ufeffMary left.\r\n\n  Zoë stayed. \n\t\nlast")
    assert list(TextReader([path])) == [
        Text("Mary left.", {"source": "a.txt:1"}, f"{path}:1"),
        Text("Zoë stayed.", {"source": "a.txt:3"}, f"{path}:3"),
        Text("last", {"source": "a.txt:5"}, f"{path}:5"),
    ]


def test_json_lines_keep_their_fields(write):
    line = {"text": " Zoë left. ", "answer": "Zoë", "candidates": ["a", "b"], "n": None}
    path = write("a.jsonl", json.dumps(line) + '\n\n{"text": "x"}\n')
    (first, second) = TextReader([path])
    assert first.text == " Zoë left. " and second == Text("x", {}, f"{path}:3")
    assert first.fields == {"answer": "Zoë", "candidates": ["a", "b"], "n": None}


def test_whole_files_and_their_order(write):
    paths = [write("b.txt", "one\ntwo\r\n"), write("a.txt", "three")]
    assert list(TextReader(paths, whole=True)) == [
        Text("one\ntwo\n", {"source": "b.txt"}, paths[0]),
        Text("three", {"source": "a.txt"}, paths[1]),
    ]
    assert [text.text for text in TextReader(paths)] == ["one", "two", "three"]


def test_reads_no_more_than_it_gives(write):
    path = write("a.txt", "one\ntwo\nthree\n")
    reader = TextReader([path])
    texts = iter(reader)
    assert (next(texts).text, reader.bytes_read) == ("one", 4)
    assert (next(texts).text, reader.bytes_read) == ("two", 8)
    assert list(texts) and reader.bytes_read == reader.size == 14


def test_description(write):
    path = write("a.txt", "Mary left.\n")
    digest = hashlib.sha256(b"Mary left.\n").hexdigest()
    assert TextReader([path]).describe() == [{"name": "a.txt", "bytes": 11, "sha256": digest}]


@pytest.mark.parametrize(
    ("content", "whole", "texts"),
    [
        (b"Mary left.\nShe slept.\n", False, ["Mary left.", "She slept."]),
        (b'{"text": "Mary left."}\n{"text": "b"}', False, ["Mary left.", "b"]),
        (b'\xef\xbb\xbf{"text": "a"}', False, ["a"]),
        (b'\r\n \n{"text": "a"}\n', False, ["a"]),
        (b'a\n{"text": "b"}\n', False, ["a", '{"text": "b"}']),
        (b"", False, []),
        (b"one\ntwo\n", True, ["one\ntwo\n"]),
        (b"\xef\xbb\xbfone\r\ntwo\r\n", True, ["one\ntwo\n"]),
    ],
)
def test_standard_input(monkeypatch, content, whole, texts):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    reader = TextReader(["-"], whole=whole)
    assert reader.size is None
    assert [text.text for text in reader] == texts
    (found,) = reader.describe()
    assert found["name"] == "standard input" and found["bytes"] == len(content)
    assert found["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"ok\n\xff\n", r"a.txt:2: no UTF-8"),
        ("a.jsonl", b'{"text": "a"}\n{"text": ', r"a.jsonl:2: no JSON .*truncated"),
        ("a.jsonl", b'["a"]', r'a.jsonl:1: give an object with a text, as {"text"'),
        ("a.jsonl", b'{"passage": "a"}', r"a.jsonl:1: give an object"),
        ("a.jsonl", b'{"text": 3}', r"a.jsonl:1: give an object"),
        ("a.jsonl", b'{"text": " "}', r"a.jsonl:1: give an object"),
        ("a.jsonl", b'{"text": "a\\ud800"}', r"a.jsonl:1: half of a surrogate pair"),
        (
            "a.jsonl",
            b'{"text": "a"}\n{"text": "b", "n": NaN}',
            r"a.jsonl:2: NaN and infinity are",
        ),
        ("a.jsonl", b'{"text": "a", "n": [-Infinity]}', r"a.jsonl:1: NaN and infinity are no JSON"),
        (
            "a.jsonl",
            b'{"text": "a", "n": {"m": 1e999}}',
            r"a.jsonl:1: NaN and infinity are no JSON",
        ),
        ("a.csv", b"a", r"a.csv: .* ends in .txt or .jsonl"),
    ],
)
def test_errors_name_file_and_line(write, name, content, message):
    path = write(name, content)
    with pytest.raises(ValueError, match=message):
        list(TextReader([path]))


def test_errors_of_inputs(write, tmp_path):
    with pytest.raises(FileNotFoundError, match="none.txt: no such file"):
        TextReader([str(tmp_path / "none.txt")])
    with pytest.raises(FileNotFoundError, match="a folder, pass a file of texts"):
        TextReader([str(tmp_path)])
    with pytest.raises(ValueError, match="give - once"):
        TextReader(["-", "-"])
    with pytest.raises(ValueError, match="whole texts whose name ends in .txt"):
        TextReader([write("a.jsonl", "{}")], whole=True)
    with pytest.raises(ValueError, match="a.txt: no text in the file"):
        list(TextReader([write("a.txt", " \n")], whole=True))
