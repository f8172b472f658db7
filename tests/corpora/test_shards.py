import json

import pytest

from keras_corefmem.corpora import index, shards
from keras_corefmem.corpora.records import read_shards
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import Text
from tests.support.texts.shards import contents, write_folder

TEXTS = [Text(f"Text {n} is of Mary. We like Mary.", {"n": n}, f"a.txt:{n}") for n in range(7)]
NAMES = [f"shard-0000{n}.tfrecord" for n in range(3)]
PLAN = {"inputs": [{"name": "a.txt", "bytes": 3, "sha256": "00"}], "shard_size": 3}


def write(folder, texts=TEXTS, plan=PLAN):
    return write_folder(folder, texts, 3, plan=plan)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "out")
    return tmp_path / "out"


def test_split_numbers_equal_parts():
    chunks = list(shards.split_texts(iter(TEXTS), 3))
    assert [(number, len(texts)) for number, texts in chunks] == [(0, 3), (1, 3), (2, 1)]
    assert [text for _, texts in chunks for text in texts] == TEXTS
    assert list(shards.split_texts([], 3)) == []


def test_index(folder):
    content = json.loads((folder / "index.json").read_text())
    assert content["format"] == 1 and content["inputs"] == PLAN["inputs"]
    assert (content["texts"], content["shard_size"]) == (7, 3)
    assert [shard["texts"] for shard in content["shards"]] == [3, 3, 1]
    assert content["tokens"] == sum(len(annotation) for annotation, _ in read_shards(folder))
    assert [shard["name"] for shard in content["shards"]] == NAMES
    assert sorted(contents(folder)) == ["index.json", *NAMES]
    assert [fields for _, fields in read_shards(folder)] == [text.fields for text in TEXTS]


def test_a_complete_folder_is_left_as_it_is(folder):
    before = contents(folder)
    # From a process that was killed once the index was there.
    (folder / "plan.json").write_text(json.dumps({"format": 1, **PLAN}))
    assert write(folder) == (json.loads(before["index.json"]), [])
    assert contents(folder) == before


@pytest.mark.parametrize("complete", [True, False])
def test_missing_and_broken_shards_are_written_again(folder, complete):
    before = contents(folder)
    if not complete:
        (folder / "index.json").unlink()
        (folder / "plan.json").write_text(json.dumps({"format": 1, **PLAN}))
    (folder / "shard-00000.tfrecord").unlink()
    (folder / "shard-00001.tfrecord").write_bytes(before["shard-00001.tfrecord"][:-5])
    partial = folder / ".shard-00000.tfrecord-x1"
    partial.mkdir()
    (partial / "shard-00000.tfrecord").write_bytes(b"half")
    _, written = write(folder)
    assert written == ["shard-00000.tfrecord", "shard-00001.tfrecord"]
    assert contents(folder) == before


def test_other_plans_are_refused(folder):
    before = contents(folder)
    changed = {**PLAN, "inputs": [{**PLAN["inputs"][0], "sha256": "01"}]}
    with pytest.raises(ValueError, match="out holds records with other inputs: choose another"):
        index.prepare_folder(folder, changed)
    with pytest.raises(ValueError, match="other shard_size"):
        index.prepare_folder(folder, {**PLAN, "shard_size": 4})
    assert contents(folder) == before
    (folder / "index.json").write_text("{")
    with pytest.raises(ValueError, match="index.json:1: no JSON .*; choose another folder"):
        index.prepare_folder(folder, PLAN)
    (folder / "index.json").unlink()
    with pytest.raises(ValueError, match="holds shards, but no plan.json"):
        index.prepare_folder(folder, PLAN)


def test_a_plan_without_shards_is_replaced(tmp_path):
    for plan in (PLAN, {**PLAN, "shard_size": 4}):
        assert index.prepare_folder(tmp_path, plan) is None
        assert json.loads((tmp_path / "plan.json").read_text()) == {"format": 1, **plan}
    with pytest.raises(ValueError, match="no text in the input"):
        write(tmp_path, [])
    assert not (tmp_path / "index.json").exists()


def test_standard_input_is_compared_by_its_texts(tmp_path):
    unknown = {**PLAN, "inputs": [{"name": "standard input", "bytes": 0, "sha256": "e3"}]}
    known = {**PLAN, "inputs": [{"name": "standard input", "bytes": 9, "sha256": "12"}]}
    write(tmp_path, plan=known)
    assert index.prepare_folder(tmp_path, unknown) is None
    other = [TEXTS[0], TEXTS[1]._replace(text="Another one."), TEXTS[2]]
    for texts in (other, [TEXTS[0]._replace(fields={}), *TEXTS[1:3]]):
        with pytest.raises(ValueError, match="other texts than a.txt:0 and the following"):
            shards.annotate_shard(tmp_path, 0, texts, TextAnnotator())
    first, fresh = shards.annotate_shard(tmp_path, 0, TEXTS[:3], TextAnnotator())
    assert not fresh
    with pytest.raises(ValueError, match="shard-00001.tfrecord is of more texts than the input"):
        index.write_index(tmp_path, known, [first])


def test_verify(folder):
    assert index.verify_folder(folder) == index.read_index(folder)
    path = folder / "shard-00001.tfrecord"
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + b"?" + whole[41:])
    assert index.verify_folder(folder, hashes=False)
    with pytest.raises(ValueError, match="shard-00001.tfrecord: the content has changed; give the"):
        index.verify_folder(folder)
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match=rf"{len(whole) - 1} bytes of {len(whole)}, is it trunc"):
        index.verify_folder(folder)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="shard-00001.tfrecord: no such shard"):
        index.verify_folder(folder)


def test_errors_of_an_index(folder):
    (folder / "index.json").write_text('{"format": 2}')
    with pytest.raises(ValueError, match="index.json: format: Input should be 1 .*; give the `"):
        index.read_index(folder)
    (folder / "index.json").write_text('{\n"format')
    with pytest.raises(ValueError, match="index.json:2: no index of records"):
        index.read_index(folder)
    (folder / "index.json").unlink()
    with pytest.raises(FileNotFoundError, match="index.json: no such file"):
        index.read_index(folder)
    (folder / "plan.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="out is not complete: give the"):
        index.read_index(folder)


def test_paths(folder, tmp_path):
    paths = [folder / name for name in NAMES]
    assert index.shard_paths(folder) == paths
    assert index.shard_paths(f"{folder}/shard-*[12].tfrecord") == paths[1:]
    assert index.shard_paths(str(paths[0])) == paths[:1]
    with pytest.raises(FileNotFoundError, match=r"none\*: no such file, pass a folder or a patt"):
        index.shard_paths(tmp_path / "none*")


def test_more_shards_than_five_digits_number(tmp_path):
    entry = {"bytes": 0, "sha256": "", "texts": 1, "tokens": 1}
    names = [index.shard_name(number) for number in (99_999, 100_000, 100_001)]
    shards = [{"name": name, **entry} for name in reversed(names)]
    for name in names:
        (tmp_path / name).touch()
    written = index.write_index(tmp_path, PLAN, shards)
    assert [shard["name"] for shard in written["shards"]] == names
    assert index.shard_paths(tmp_path) == [tmp_path / name for name in names]
    assert index.shard_paths(f"{tmp_path}/shard-*") == [tmp_path / name for name in names]
