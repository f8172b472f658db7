import importlib
import logging

import pytest

from keras_corefmem.corpora.index import prepare_folder
from keras_corefmem.corpora.records import read_shards
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.corpora.texts import Text, TextReader
from keras_corefmem.corpora.writing import annotate_files
from tests.support.texts.shards import contents, write_folder

apache_beam = pytest.importorskip("apache_beam", reason="apache-beam is not installed")

beam = importlib.import_module("keras_corefmem.corpora.beam")


@pytest.fixture(autouse=True)
def quiet():
    """Keeps Beam from printing the errors that tests wait for."""
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)


@pytest.fixture
def inputs(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"We saw Mary. Mary is {n}.\n" for n in range(17)))
    (tmp_path / "b.jsonl").write_text('{"text": "Zoë left. We like Zoë.", "answer": "Zoë"}\n' * 6)
    return [str(tmp_path / "a.txt"), str(tmp_path / "b.jsonl")]


@pytest.fixture
def plan(inputs):
    return {"inputs": TextReader(inputs).describe(), "whole": False, "shard_size": 4}


def test_shards_are_those_of_one_process(inputs, plan, tmp_path):
    folder = tmp_path / "plain"
    written, _ = write_folder(folder, TextReader(inputs), 4, plan=plan)

    prepare_folder(tmp_path / "beam", plan)
    index = beam.run(inputs, tmp_path / "beam", TextAnnotator(), plan)
    assert index == written and len(index["shards"]) == 6
    assert contents(tmp_path / "beam") == contents(folder)

    removed = tmp_path / "beam" / "shard-00002.tfrecord"
    kept = removed.with_name("shard-00001.tfrecord")
    removed.unlink()
    time = kept.stat().st_mtime_ns
    beam.run(inputs, tmp_path / "beam", TextAnnotator(), plan)
    assert contents(tmp_path / "beam") == contents(folder)
    assert kept.stat().st_mtime_ns == time


def test_texts_of_another_source(tmp_path):
    texts = [(n, Text(f"Mary is {n}.", {"n": n}, f"row {n}")) for n in (4, 2, 0, 3, 1)]
    with apache_beam.Pipeline() as pipeline:
        rows = pipeline | apache_beam.Create(texts)
        rows | beam.AnnotateShards(tmp_path, 2, TextAnnotator())
    found = [fields["n"] for _, fields in read_shards(f"{tmp_path}/shard-*")]
    assert found == [0, 1, 2, 3, 4] and len(list(tmp_path.iterdir())) == 3


def test_errors_name_file_and_line(tmp_path, plan):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "Mary left."}\n{"text": 3}\n')
    with pytest.raises(ValueError, match="bad.jsonl:2: give an object with a text"):
        beam.run([str(path)], tmp_path / "out", TextAnnotator(), plan)
    with pytest.raises(ValueError, match="NoRunner"):
        beam.run([str(path)], tmp_path / "out", TextAnnotator(), plan, "NoRunner")
    assert not (tmp_path / "out" / "index.json").exists()


def test_errors_are_without_what_beam_adds(tmp_path, plan):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": 3}\n')
    with pytest.raises(ValueError, match=r'as {"text": "Mary left."}\.$'):
        beam.run([str(path)], tmp_path / "out", TextAnnotator(), plan)
    path.write_text("")
    with pytest.raises(ValueError, match=r"give a file with texts\.$"):
        beam.run([str(path)], tmp_path / "out", TextAnnotator(), plan)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Unable to fetch the job server.", "Unable to fetch the job server."),
        (
            "Pipeline failed in state FAILED: Traceback (most recent call last):\n  File\n"
            "OSError: a.txt [while running 'Read']\n\nDuring it\nValueError: no text "
            "[while running 'Index-ptransform-9']\n\n",
            "ValueError: no text",
        ),
        ("", "RuntimeError"),
    ],
)
def test_a_failing_runner_is_one_line(inputs, monkeypatch, tmp_path, message, said):
    def fail(self, *arguments):
        (tmp_path / "out/.shard-00000.tfrecord-x1").mkdir()
        raise RuntimeError(message)

    monkeypatch.setattr(apache_beam.Pipeline, "run", fail)
    with pytest.raises(ChildProcessError) as raised:
        annotate_files(inputs, tmp_path / "out", runner="PrismRunner")
    assert str(raised.value) == f"PrismRunner failed: {said}"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["plan.json"]


def test_workers_on_another_disk(inputs, monkeypatch, tmp_path):
    monkeypatch.setattr(apache_beam.Pipeline, "__exit__", lambda *_: None)
    with pytest.raises(FileNotFoundError, match="PrismRunner wrote no index.json here: all"):
        annotate_files(inputs, tmp_path / "out", runner="PrismRunner")


def test_options_of_a_runner(inputs, monkeypatch, tmp_path):
    given = []

    class Pipeline(apache_beam.Pipeline):
        def __init__(self, options):
            given.append(options.get_all_options(drop_default=True))
            super().__init__(options=options)

    monkeypatch.setattr(apache_beam, "Pipeline", Pipeline)
    runner = {"runner": "DirectRunner"}
    annotate_files(inputs, tmp_path / "out", **runner, flags=["--direct_num_workers", "2"])
    assert given[0]["direct_num_workers"] == 2
    with pytest.raises(ValueError, match="DirectRunner: argument --direct_num_workers: invalid"):
        annotate_files(inputs, tmp_path / "other", **runner, flags=["--direct_num_workers=x"])


def test_a_real_pipeline_on_real_texts(real_data, tmp_path):
    pipeline = str(real_data("../models/en_ud_small"))
    lines = real_data("lambada/lambada_development_plain_text.txt").read_text().splitlines()
    (tmp_path / "a.txt").write_text("\n".join(lines[:60]))
    inputs, annotator = [str(tmp_path / "a.txt")], TextAnnotator(pipeline, 16, tokenized=True)
    plan = {"inputs": [], "whole": False, "shard_size": 25}
    folders = [tmp_path / "plain", tmp_path / "beam"]
    _, written = write_folder(folders[0], TextReader(inputs), 25, annotator, plan)
    beam.run(inputs, folders[1], annotator, plan)
    assert contents(folders[0]) == contents(folders[1]) and len(written) == 3
    found = [annotation for annotation, _ in read_shards(folders[1])]
    assert [" ".join(annotation.tokens) for annotation in found] == [s.strip() for s in lines[:60]]
    assert sum(len(annotation.chains) for annotation in found) > 60
