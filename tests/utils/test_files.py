import pytest

from keras_corefmem.utils.files import (
    as_name,
    different_fields,
    load_json,
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


def test_names_of_files():
    assert as_name("a b/c: d_1.txt!") == "a-b-c-d_1.txt"
