import pytest

from keras_corefmem.utils.files import (
    BadFileError,
    as_name,
    different_fields,
    load_json,
    naming_damage,
    read_text,
    replacing,
    replacing_folder,
    write_json,
)


def test_files_appear_whole_or_not_at_all(tmp_path):
    path = tmp_path / "folder" / "a.txt"
    with replacing(path) as partial:
        partial.write_text("old")
        assert partial.name == "a.txt" and not path.exists()
    with pytest.raises(IsADirectoryError, match="is a folder: give the name"), replacing(tmp_path):
        pass
    with pytest.raises(KeyError), replacing(path) as partial:
        partial.write_text("new")
        raise KeyError
    assert path.read_text() == "old" and list(path.parent.iterdir()) == [path]


def test_folders_are_swapped_whole(tmp_path):
    path = tmp_path / "outer" / "folder"
    for name in ("old", "new"):
        with replacing_folder(path) as partial:
            (partial / name).touch()
        assert [each.name for each in path.iterdir()] == [name]
    with pytest.raises(KeyboardInterrupt), replacing_folder(path) as partial:
        raise KeyboardInterrupt
    assert list(path.parent.rglob("*")) == [path, path / "new"]


def test_text_is_read_with_clear_errors(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\x85c")
    with pytest.raises(ValueError, match="a.txt: no UTF-8 text, pass a CoNLL file"):
        read_text(path, "CoNLL")
    path.write_bytes("\ufeffa\r\nb\u2028c".encode())
    assert read_text(path, "CoNLL") == "a\nb\u2028c"
    with pytest.raises(FileNotFoundError, match="pass the path of a CoNLL file"):
        read_text(tmp_path / "none", "CoNLL")
    with pytest.raises(OSError, match=" is a folder, pass the path of a CoNLL file"):
        read_text(tmp_path, "CoNLL")


def test_json_is_compared_by_field(tmp_path):
    path = tmp_path / "a.json"
    assert different_fields(path, {"a": 1}) == []
    write_json(path, {"a": 1, "b": [2], "c": 3})
    assert load_json(path) == {"a": 1, "b": [2], "c": 3}
    assert different_fields(path, {"a": 1, "b": (2,), "d": 4}) == ["d"]
    assert different_fields(path, {"a": 5, "c": 6}, lambda content: {"a": content["a"]}) == ["a"]
    path.write_text('{\n"a"')
    with pytest.raises(ValueError, match="a.json:2: no JSON .*; is the file truncated?"):
        load_json(path)


def test_one_error_names_file_key_and_remedy(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    for content, message in (
        ('{"a": "b"}', "a.json: a: Input should be a valid integer.*; write it again"),
        ("[" * 100_000, "a.json: no JSON .nested too deeply.; write it again"),
        ("9" * 5000, "a.json: no JSON .a number of too many digits.; write it again"),
        (b"\xff", "a.json: no UTF-8 text, pass a JSON file"),
    ):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(BadFileError, match=message):
            load_json(path, remedy="write it again", kind=dict[str, int])
    monkeypatch.setattr("keras_corefmem.utils.files.LARGEST", 3)
    path.write_text('{"a": 1}')
    with pytest.raises(BadFileError, match="a.json: 8 bytes, a JSON file may have 3"):
        load_json(path)


@pytest.mark.parametrize("error", [KeyError("a"), OSError("truncated.\nmore"), RuntimeError])
def test_damage_is_named_whatever_it_raises(error):
    with pytest.raises(BadFileError, match=r"^a.h5 is damaged \((.*)\); save it again$") as found:
        with naming_damage("a.h5", "save it again"):
            raise error
    assert "more" not in str(found.value)
    with pytest.raises(ImportError), naming_damage("a.h5", "save it again"):
        raise ImportError
    for message in ("a.h5: no", "configuration: no"):
        with pytest.raises(BadFileError, match="a.h5"), naming_damage("a.h5", "save it again"):
            raise BadFileError(message)


def test_names_of_files():
    assert as_name("a b/c: d_1.txt!") == "a-b-c-d_1.txt"
