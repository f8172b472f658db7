"""Files that the package wrote, in a folder of their own, and what reads them."""

import contextlib
import functools
import json
import os
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any

import zoo
from keras_corefmem import corpora
from keras_corefmem.corpora.index import INDEX, PLAN, prepare_folder
from keras_corefmem.corpora.tfrecord import _checksum, to_example
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.graphs import annotate
from keras_corefmem.utils.files import load_json, write_json
from tests.support.results import RESULTS, trial_of
from zoo.training.progress import Progress

TEXT = "Mary met John in Rome. She likes him, and he likes her."
LOGS = {"accuracy": 0.5, "loss": 1.0, "val_accuracy": 0.5, "val_loss": 1.0}
CONFIG = "config.json"


@functools.cache
def reader() -> Any:
    return zoo.NGramClassifier.from_examples(simulator.simulate(1, 8))


@functools.cache
def annotation() -> Any:
    return next(iter(annotate([TEXT])))


def write_shard(folder: Path) -> None:
    (folder / "a.txt").write_text(TEXT + "\n")
    corpora.annotate_files([str(folder / "a.txt")], folder / "out", processes=0)


def write_plan(folder: Path) -> None:
    write_shard(folder)
    os.replace(folder / "out" / INDEX, folder / "out" / PLAN)
    shutil.copy(folder / "out" / PLAN, folder / PLAN)


def read_plan(path: Path) -> None:
    prepare_folder(path.parent, load_json(path.parents[1] / PLAN))


def write_record(folder: Path) -> None:
    (folder / "a.example").write_bytes(to_example(annotation(), {"year": 1813}))


def read_record(path: Path) -> None:
    """Reads a record whose checksums are right, whatever it holds."""
    record, shard = path.read_bytes(), path.with_name("a.tfrecord")
    length = struct.pack("<Q", len(record))
    shard.write_bytes(length + _checksum(length) + record + _checksum(record))
    list(corpora.read_shard(shard))


def write_fields(folder: Path) -> None:
    """Writes what the record of a question holds beside its text."""
    questions, splits = folder / "questions", simulator.load(1, train=1, valid=1, test=1)
    for path in corpora.write_questions(splits, questions).values():
        corpora.annotate_files([str(path)], path.with_suffix(""), processes=0)
    ((_, fields),) = corpora.read_shards(questions / "valid")
    (folder / "fields.json").write_text(json.dumps(fields))


def read_fields(path: Path) -> None:
    """Reads questions of which one record has these fields."""
    import tensorflow as tf

    part = path.with_name("questions") / "test"
    ((annotation, _),) = corpora.read_shards(path.with_name("questions") / "valid")
    example = tf.train.Example.FromString(to_example(annotation, {}))
    example.features.feature["fields"].bytes_list.value[:] = [path.read_bytes()]
    index = load_json(part / INDEX)
    shard = part / index["shards"][0]["name"]
    with tf.io.TFRecordWriter(str(shard)) as writer:
        writer.write(example.SerializeToString())
    index["shards"][0]["bytes"] = shard.stat().st_size
    write_json(part / INDEX, index)
    corpora.read_questions(part.parent)


def copy_preset(folder: Path) -> None:
    for path in (Path(zoo.__file__).parent / "presets").glob("qrn_babi_1.*"):
        shutil.copy(path, folder / path.name)


def copy_scores(folder: Path) -> None:
    (folder / "coreference").mkdir()
    shutil.copy(next((RESULTS / "coreference").glob("litbank*")), folder / "coreference/a.json")
    shutil.copy(next((RESULTS / "coreference").glob("gap*")), folder / "coreference/b.json")


def load_preset(path: Path) -> Any:
    return zoo.from_preset(path.stem, folder=path.parent)


def write_state(folder: Path) -> None:
    progress = Progress({}, folder, 2)
    progress.history = [LOGS]
    for name in ("epoch-0", "best"):
        reader().save_weights(progress.weights_file(name))
    progress.keep(reader(), ended=True)


def read_state(path: Path) -> None:
    progress = Progress({}, path.parent, 2)
    progress.restore(reader())
    progress.load(reader(), "best")


def write_config(folder: Path) -> None:
    """Writes what a `.keras` file says of its model."""
    reader().save(folder / "kept.keras")
    with zipfile.ZipFile(folder / "kept.keras") as archive:
        (folder / CONFIG).write_bytes(archive.read(CONFIG))


def read_config(path: Path) -> None:
    model = path.with_name("a.keras")
    with zipfile.ZipFile(path.with_name("kept.keras")) as old, zipfile.ZipFile(model, "w") as new:
        for name in old.namelist():
            new.writestr(name, path.read_bytes() if name == CONFIG else old.read(name))
    zoo.load(str(model))


def search_in(folder: Path) -> Any:
    from tuning.search import Search

    (folder / "own.json").write_text(json.dumps({"slots": [2, 3]}))
    options = {"space": str(folder / "own.json"), "tuner": "grid", "output": str(folder)}
    return Search("qdren", **options)


def write_search(folder: Path) -> None:
    from tuning.search import ERROR, OUTCOME, STARTS
    from tuning.tuners import make_oracle

    search = search_in(folder)
    search.start()
    oracle = make_oracle(search)
    oracle._set_project_dir(search.output, search.name)
    oracle.verbose = 0
    for score in (0.5, None):
        trial = oracle.create_trial("tuner0")
        trial.status = "INVALID" if score is None else "COMPLETED"
        if score is not None:
            oracle.update_trial(trial.trial_id, {"val_accuracy": score, "val_loss": 1.0})
        oracle.end_trial(trial)
    done, failed = map(search.trial_folder, search.started_trials())
    write_json(done / OUTCOME, trial_of("0000", study=f"searches/{search.name}"))
    write_json(done / "tested.json", trial_of("0000", test_accuracy=0.5))
    write_json(done / STARTS, {"epochs": 0, "times": 1})
    write_json(failed / ERROR, "ValueError: no")
    os.replace(folder / search.name, folder / "search")
    shutil.copytree(folder / "search", folder / "kept")


def read_search(path: Path) -> None:
    """Continues a search of which one file is another."""
    from tuning.tuners import make_oracle

    root = next(parent for parent in path.parents if parent.name == "search")
    content, search = path.read_bytes(), search_in(root.parent)
    shutil.rmtree(search.folder, ignore_errors=True)
    shutil.copytree(root.with_name("kept"), search.folder)
    (search.folder / path.relative_to(root)).write_bytes(content)
    if path.stem == "search":
        # Slow, for it reads the data.
        search.start()
    search.failures()
    with contextlib.suppress(ChildProcessError):
        search.count_start("0000")
    search.test_winner()
    search.under_way()
    oracle = make_oracle(search)
    oracle._set_project_dir(search.output, search.name)
    oracle.take_up()
