"""`corefmem annotate`, in one process and several, interrupted and killed."""

import concurrent.futures
import functools
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from keras_corefmem.corpora.index import shard_name
from keras_corefmem.corpora.records import read_shards
from keras_corefmem.graphs import Annotation
from tests.support.commands import printed, refused
from tests.support.texts.shards import contents

ROOT = Path(__file__).parents[3]
PROGRAM = [sys.executable, "-c", "import sys; from zoo import cli; sys.exit(cli.main())"]
SIZE, COUNT = 4, 300


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """300 texts, long enough that annotating all of them takes a second or more."""
    folder = tmp_path_factory.mktemp("inputs")
    texts = [f"We saw Mary{n}. " * 120 + f"Then Mary{n} left." for n in range(COUNT)]
    (folder / "a.txt").write_text("\n\n".join(texts[:100]))
    lines = [json.dumps({"text": text, "n": n}) for n, text in enumerate(texts[100:], 100)]
    (folder / "b.jsonl").write_text("\n".join(lines))
    return [str(folder / "a.txt"), str(folder / "b.jsonl")]


@pytest.fixture(scope="module")
def whole(inputs, tmp_path_factory):
    """The folder of an uninterrupted run of one process."""
    folder = tmp_path_factory.mktemp("whole")
    out = finish(start(inputs, folder, 1))
    assert f"Records: {folder}\n" in out
    assert "Complete: 300 texts, 145,200 tokens in 75 shards." in out
    return folder


def finish(process):
    out, error = process.communicate()
    assert (process.returncode, error) == (0, ""), error
    return out


def start(inputs, folder, processes):
    command = [*PROGRAM, "annotate", *inputs, "--output", str(folder)]
    command += ["--shard-size", str(SIZE), "--processes", str(processes)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Where tests run in the background, interruptions are ignored.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True, preexec_fn=heed, **pipes)


@pytest.fixture
def threads(monkeypatch):
    """Lets threads do the work of processes, where those are not the point."""

    def pool(count, context, begin):
        return concurrent.futures.ThreadPoolExecutor(count)

    monkeypatch.setattr(
        "keras_corefmem.corpora.writing.concurrent.futures.ProcessPoolExecutor", pool
    )


def end_half_way(inputs, folder, number):
    """Sends a signal to a run once two more shards are there; returns its status and errors."""
    before = len(list(folder.glob("shard-*")))
    process = start(inputs, folder, 1)
    try:
        while len(list(folder.glob("shard-*"))) < before + 2:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.001)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        workers = children.read_text().split() if children.exists() else []
        os.kill(process.pid, number)
        error = process.communicate()[1]
    finally:
        process.kill()
    deadline = time.monotonic() + 20
    while any(Path("/proc", worker).exists() for worker in workers):
        assert time.monotonic() < deadline, "a worker outlived the command"
        time.sleep(0.01)
    return process.returncode, error


@pytest.mark.thorough
def test_interrupted_killed_and_continued(inputs, whole, tmp_path):
    status, error = end_half_way(inputs, tmp_path, signal.SIGINT)
    assert status == 130
    assert error == "corefmem: interrupted; the same command continues.\n"
    interrupted = contents(tmp_path)
    assert "index.json" not in interrupted and not list(tmp_path.glob(".*"))

    status, _ = end_half_way(inputs, tmp_path, signal.SIGKILL)
    assert status == -signal.SIGKILL
    killed = {path.name for path in tmp_path.glob("shard-*")}
    assert len(interrupted) - 1 < len(killed) < COUNT // SIZE
    with pytest.raises(FileNotFoundError, match="is not complete"):
        read_shards(tmp_path)

    assert f"; {len(killed)} shards were there" in finish(start(inputs, tmp_path, 2))
    assert contents(tmp_path) == contents(whole)


def test_records_are_those_of_the_texts(inputs, whole):
    found = list(read_shards(whole))
    assert [annotation.text.split()[-2] for annotation, _ in found] == [
        f"Mary{n}" for n in range(COUNT)
    ]
    assert [fields for _, fields in found[100:]] == [{"n": n} for n in range(100, COUNT)]
    assert found[1][1] == {"source": "a.txt:3"}
    assert all(len(annotation.chains) == 1 for annotation, _ in found)


def test_a_complete_folder_needs_no_work(inputs, whole, capsys):
    before = contents(whole)
    out = printed(capsys, "annotate", *inputs, "--output", whole, "--shard-size", SIZE)
    assert "All there: 300 texts, 145,200 tokens in 75 shards." in out
    assert contents(whole) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["--shard-size", "5"], "other shard_size"),
        (["--shard-size", SIZE, "--tokenized"], "other tokenized"),
        (["--shard-size", SIZE, "--whole"], "whole texts whose name ends in .txt"),
    ],
)
def test_other_settings_are_refused(inputs, whole, capsys, changes, message):
    before = contents(whole)
    assert message in refused(capsys, "annotate", *inputs, "--output", whole, *changes)
    assert contents(whole) == before


def test_a_changed_input_is_refused(inputs, whole, tmp_path, capsys):
    changed = tmp_path / "a.txt"
    changed.write_text(Path(inputs[0]).read_text().replace("Mary7", "Mary8"))
    words = "annotate", changed, inputs[1], "--output", whole, "--shard-size", SIZE
    assert "other inputs: choose another folder, or remove that one" in refused(capsys, *words)


def test_a_bad_line_leaves_what_was_before_it(threads, tmp_path, capsys):
    path, folder = tmp_path / "a.jsonl", tmp_path / "out"
    path.write_text('{"text": "Mary left."}\n' * 5 + "{}\n")
    words = "annotate", path, "--output", folder, "--shard-size", 2, "--processes", 1
    assert f"{path}:6: give an object with a text" in refused(capsys, *words)
    written = {path.name for path in folder.iterdir()}
    assert written <= {"plan.json", shard_name(0), shard_name(1)}


def test_a_text_that_does_not_annotate(threads, tmp_path, capsys):
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    (tmp_path / "a.txt").write_text("Mary left.\n")
    words = "annotate", tmp_path / "a.txt", "--annotator", tmp_path / "blank", "--processes", 1
    assert "put a parser before" in refused(capsys, *words, "--output", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["plan.json"]


def test_standard_input(threads, monkeypatch, tmp_path, capsys):
    def run(check, content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        words = "--output", tmp_path, "--shard-size", 2, "--processes", 1
        return check(capsys, "annotate", "-", *words)

    run(printed, b"Mary left.\nJohn left.\nZoe left.\n")
    before = contents(tmp_path)
    (described,) = json.loads(before["index.json"])["inputs"]
    assert described["name"] == "standard input" and described["bytes"] == 32
    again = run(printed, b"Mary left.\nJohn left.\nZoe left.\n")
    assert contents(tmp_path) == before and "2 shards were there" in again
    error = run(refused, b"Mary left.\nJohn slept.\n")
    assert "shard-00000.tfrecord holds other texts" in error


def test_texts_are_printed(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("We met Zoë. Zoë left.\nThe end.\n")
    assert printed(capsys, "annotate", "We saw Mary. Mary saw us.", path) == (
        "We saw Mary#1 .\nMary#1 saw us .\n\nWe met Zoë#1 .\nZoë#1 left .\n\nThe end .\n"
    )
    words = "annotate", "--json", "--tokenized", "we saw Mary's friend .", path
    lines = printed(capsys, *words).splitlines()
    found = [Annotation.from_dict(json.loads(line)) for line in lines]
    assert found[0].tokens == ("we", "saw", "Mary's", "friend", ".")
    assert [annotation.text for annotation in found[1:]] == ["We met Zoë. Zoë left.", "The end."]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.txt"], "none.txt: no such file"),
        (["my novels/one of them.txt"], "one of them.txt: no such file"),
        (["./"], "./ is a folder: give the files in it"),
        (["Mary left.", "--whole"], "--whole is for .txt files, not for text 1"),
        (["none.jsonl", "--output", "out"], "none.jsonl: no such file"),
        (["A text.", "--output", "out"], "A text.: no such file, pass a file of texts"),
        ([" "], "Text 1 is empty"),
        (["a", "--processes", "2"], "--runner and --processes write: give --output"),
        (["a", "--runner", "DirectRunner"], "give --output"),
        (["a", "--output", "out", "--json"], "give one."),
        (["a", "--shard-size", "5"], "--shard-size 5 is of records: give --output"),
        (["a", "--task", "V"], "--task V is that of a --dataset: give both"),
        (["a", "--output", "out", "--shard-size", "0"], "--shard-size 0: give at least 1"),
        (["a", "--output", "out", "--processes", "0"], "--processes 0: give at least 1"),
        (["-", "--output", "out", "--runner", "DirectRunner"], "not standard input"),
        (["a", "--output", "out", "--runner", "x", "--processes", "2"], "processes of its own"),
        (["a", "--output", "out", "--runner-options", "--x 1"], "those of a --runner: give both"),
        (
            ["a", "--output", "out", "--runner", "DirectRunner", "--runner-options", "'--x"],
            "--runner-options '--x: No closing quotation",
        ),
        (["a", "--annotator", "none_at_all"], "No spaCy pipeline 'none_at_all'"),
        (["a", "--truecaser", "none.json"], "none.json: no such file"),
        ([], "Give texts, files or -, or a --dataset"),
        (["Mary left.", "--dataset", "lambada"], "Give texts, files or -, or a --dataset"),
        (["Mary left.", "--data-dir", "x"], "--data-dir x is that of a --dataset"),
        (["--dataset", "lambada"], "--dataset writes records: give --output"),
    ],
)
def test_errors_of_arguments(monkeypatch, tmp_path, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, "annotate", *words)
    assert list(tmp_path.iterdir()) == []


def test_beam_has_to_be_installed(monkeypatch, inputs, tmp_path, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = "annotate", *inputs, "--output", tmp_path / "out", "--runner", "DirectRunner"
    assert "pip install 'keras_corefmem[beam]'" in refused(capsys, *words)


def test_options_of_a_runner_are_split(monkeypatch, tmp_path, capsys):
    given = []

    def annotate(*arguments, progress, **options):
        given.append(options)
        return {"texts": 1, "tokens": 3, "shards": []}

    monkeypatch.setattr("keras_corefmem.corpora.annotate_files", annotate)
    options = "--flink_master host:8081 --job_name 'two words'"
    words = "annotate", "a.txt", "--output", tmp_path / "out", "--runner", "FlinkRunner"
    printed(capsys, *words, "--runner-options", options)
    assert given[0]["flags"] == ["--flink_master", "host:8081", "--job_name", "two words"]
    assert given[0]["runner"] == "FlinkRunner"
    printed(capsys, *words)
    assert given[1]["flags"] == []


# `test_beam` has the shards of its pipeline.
@pytest.mark.thorough
def test_beam_writes_the_same(inputs, whole, tmp_path, capsys):
    pytest.importorskip("apache_beam", reason="apache-beam is not installed")
    words = "--output", tmp_path, "--shard-size", SIZE, "--runner", "DirectRunner"
    out = printed(capsys, "annotate", *inputs, *words)
    assert "Complete: 300 texts, 145,200 tokens in 75 shards." in out
    assert contents(tmp_path) == contents(whole)


def test_a_killed_worker_is_told(monkeypatch, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("Mary left.\n")
    monkeypatch.setattr("keras_corefmem.corpora.writing._begin_worker", os.abort)
    words = "annotate", tmp_path / "a.txt", "--output", tmp_path / "out", "--processes", 1
    assert "was killed, perhaps for want of memory" in refused(capsys, *words)


def test_lines_a_minute_where_there_is_no_terminal(monkeypatch):
    from keras_corefmem.visualization import make_console
    from zoo.cli import progress

    now, file = [0.0], io.StringIO()
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Report(make_console(file)) as report:
        report.start(None)
        report.add({"texts": 20, "tokens": 1000}, True, 5)
        report.add({"texts": 20, "tokens": 1000}, False, 5)
        for now[0] in (10.0, 59.0, 60.0, 61.0, 100.0, 125.0):
            report.pulse()
    assert file.getvalue().splitlines() == [
        "20 texts, 0 texts/s, 17 tokens/s; 1 shards were there",
        "20 texts, 0 texts/s, 8 tokens/s; 1 shards were there",
    ]
