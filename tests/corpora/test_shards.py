import json

import pytest

from keras_corefmem.corpora import shards
from keras_corefmem.corpora.records import read_shards
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import Text

TEXTS = [Text(f"Text {n} is of Mary. We like Mary.", {"n": n}, f"a.txt:{n}") for n in range(7)]
PLAN = {"inputs": [{"name": "a.txt", "bytes": 3, "sha256": "00"}], "shard_size": 3}
ANNOTATE = TextAnnotator()


def write(folder, texts=TEXTS, plan=PLAN):
    """Writes a folder; returns its index and the names of the shards that were written now."""
    if (index := shards.begin(folder, plan)) is not None:
        return index, []
    done = [shards.annotate_shard(folder, *job, ANNOTATE) for job in shards.split(texts, 3)]
    index = shards.finish(folder, plan, [shard for shard, _ in reversed(done)])
    return index, [shard["name"] for shard, fresh in done if fresh]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "out")
    return tmp_path / "out"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_split_numbers_equal_parts():
    chunks = list(shards.split(iter(TEXTS), 3))
    assert [(number, len(texts)) for number, texts in chunks] == [(0, 3), (1, 3), (2, 1)]
    assert [text for _, texts in chunks for text in texts] == TEXTS
    assert list(shards.split([], 3)) == []


def test_index(folder):
    index = json.loads((folder / "index.json").read_text())
    assert index["format"] == 1 and index["inputs"] == PLAN["inputs"]
    assert (index["texts"], index["shard_size"]) == (7, 3)
    assert [shard["texts"] for shard in index["shards"]] == [3, 3, 1]
    assert index["tokens"] == sum(len(annotation) for annotation, _ in read_shards(folder))
    names = [f"shard-0000{n}.tfrecord" for n in range(3)]
    assert [shard["name"] for shard in index["shards"]] == names
    assert sorted(contents(folder)) == ["index.json", *names]
    assert [fields for _, fields in read_shards(folder)] == [text.fields for text in TEXTS]


def test_a_complete_folder_is_left_as_it_is(folder):
    before = contents(folder)
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
        shards.begin(folder, changed)
    with pytest.raises(ValueError, match="other shard_size"):
        shards.begin(folder, {**PLAN, "shard_size": 4})
    assert contents(folder) == before
    (folder / "index.json").write_text("{")
    with pytest.raises(ValueError, match="index.json:1: no JSON .* Choose another folder"):
        shards.begin(folder, PLAN)
    (folder / "index.json").unlink()
    with pytest.raises(ValueError, match="holds shards, but no plan.json"):
        shards.begin(folder, PLAN)


def test_a_plan_without_shards_is_replaced(tmp_path):
    shards.begin(tmp_path, PLAN)
    assert shards.begin(tmp_path, {**PLAN, "shard_size": 4}) is None
    assert json.loads((tmp_path / "plan.json").read_text())["shard_size"] == 4


def test_standard_input_is_compared_by_its_texts(tmp_path):
    unknown = {**PLAN, "inputs": [{"name": "standard input", "bytes": 0, "sha256": "e3"}]}
    known = {**PLAN, "inputs": [{"name": "standard input", "bytes": 9, "sha256": "12"}]}
    write(tmp_path, plan=known)
    assert shards.begin(tmp_path, unknown) is None
    other = [TEXTS[0], TEXTS[1]._replace(text="Another one."), TEXTS[2]]
    with pytest.raises(ValueError, match="other texts than a.txt:0 and the following"):
        shards.annotate_shard(tmp_path, 0, other, ANNOTATE)
    fields = [TEXTS[0]._replace(fields={}), *TEXTS[1:3]]
    with pytest.raises(ValueError, match="other texts"):
        shards.annotate_shard(tmp_path, 0, fields, ANNOTATE)
    first, fresh = shards.annotate_shard(tmp_path, 0, TEXTS[:3], ANNOTATE)
    assert not fresh
    with pytest.raises(ValueError, match="shard-00001.tfrecord is of more texts than the input"):
        shards.finish(tmp_path, known, [first])


def test_nothing_to_annotate(tmp_path):
    with pytest.raises(ValueError, match="no text in the input"):
        write(tmp_path, [])
    assert not (tmp_path / "index.json").exists()


def test_verify(folder):
    assert shards.verify(folder) == shards.read_index(folder)
    path = folder / "shard-00001.tfrecord"
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + b"?" + whole[41:])
    assert shards.verify(folder, hashes=False)
    with pytest.raises(ValueError, match="shard-00001.tfrecord: the content has changed; give the"):
        shards.verify(folder)
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match=rf"{len(whole) - 1} bytes of {len(whole)}, is it trunc"):
        shards.verify(folder)
    path.unlink()
    with pytest.raises(FileNotFoundError, match="shard-00001.tfrecord: no such shard"):
        shards.verify(folder)


def test_errors_of_an_index(folder):
    (folder / "index.json").write_text('{"format": 2}')
    with pytest.raises(ValueError, match="no index of format 1"):
        shards.read_index(folder)
    (folder / "index.json").write_text('{\n"format')
    with pytest.raises(ValueError, match="index.json:2: no JSON"):
        shards.read_index(folder)
    (folder / "index.json").unlink()
    with pytest.raises(FileNotFoundError, match="index.json: no such file"):
        shards.read_index(folder)
    (folder / "plan.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="out is not complete: give the"):
        shards.read_index(folder)


def test_paths(folder, tmp_path):
    names = [f"shard-0000{n}.tfrecord" for n in range(3)]
    assert shards.shard_paths(folder) == [folder / name for name in names]
    assert shards.shard_paths(f"{folder}/shard-*[12].tfrecord") == [folder / n for n in names[1:]]
    assert shards.shard_paths(str(folder / names[0])) == [folder / names[0]]
    with pytest.raises(FileNotFoundError, match=r"none\*: no such file, pass a folder or a patt"):
        shards.shard_paths(tmp_path / "none*")
