"""Files of every form, mutated: readers answer with content, or with one error that names them."""

import functools
import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest
from hypothesis import strategies

import zoo
from keras_corefmem import corpora, datasets
from keras_corefmem.datasets import gap
from keras_corefmem.datasets.passages import cbt, cnn, emory, lambada, wikihop
from keras_corefmem.datasets.sentences import penn, pos, sst
from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.graphs import annotate
from keras_corefmem.graphs.formats import conll, corenlp
from keras_corefmem.text import Truecaser, Vocabulary, load_word_vectors
from tests.fuzz.mutations import MUTATIONS
from tests.support import samples
from tuning.spaces import space_of
from zoo.cli.train import read_preset
from zoo.configs.configurations import FOLDER, read_family
from zoo.experiments.folders import check_folder, history_of
from zoo.experiments.results import append_result, read_results
from zoo.experiments.studies import read_study
from zoo.hub.folders import read_folder

SECONDS = 2
TEXT = "Mary met John in Rome. She likes him, and he likes her."


class Kind(NamedTuple):
    """A form of files: how one is made in a folder, and what reads it."""

    make: Callable[[Path], Path]
    read: Callable[[Path], Any]
    examples: int = 12


def written(name: str, text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_text(text, "utf-8")
        return folder / name

    return make


def made(name: str, write: Callable[[Path], Any]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write(folder)
        return folder / name

    return make


def write_shard(folder: Path) -> None:
    (folder / "a.txt").write_text(TEXT + "\n")
    corpora.annotate_files([str(folder / "a.txt")], folder / "out", processes=0)


def copy_preset(folder: Path) -> None:
    for path in (Path(zoo.__file__).parent / "presets").glob("qrn_babi_1.*"):
        shutil.copy(path, folder / path.name)


@functools.cache
def reader() -> Any:
    return zoo.NGramClassifier.from_examples(simulator.simulate(1, 8))


def load_preset(path: Path) -> Any:
    return zoo.from_preset(path.stem, folder=path.parent)


def find(path: Path) -> Callable[[str], Path]:
    return lambda name: path.with_name(name)


ROW = {"passage": TEXT, "question": "Who likes John?", "answer": "Mary", "edges": [[1, 3, "x"]]}
PENN = "( (S (NP (DT the) (NN cat)) (VP (VBD sat))) )\n"
CONLLU = "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
PASSAGE = {"text": "Mary left . She met John .", "context_tokens": 3, "query_tokens": 3}
STATE = {
    "weights": "epoch-1",
    "random": [[1, 2]],
    "history": [{"accuracy": 0.5, "loss": 1.0, "val_accuracy": 0.5, "val_loss": 1.0}] * 2,
    "seconds": 1.5,
    "cpu_seconds": 2.5,
    "ended": True,
}
RUN = {
    **{
        "study": "babi-1k",
        "model": "qdren",
        "task": 1,
        "seed": 0,
        "tag": "",
        "command": "corefmem",
    },
    **{"valid_accuracy": 0.5, "valid_loss": 1.0, "questions": {"test": 9}, "test_wrong": [1, 3, 4]},
    **{"test_predicted": ["a", "b", "a"], "test_accuracy": 0.6, "backend": "jax"},
}
RECORD = {"dataset": "babi", "task": 1, "seed": 0, "settings": {"epochs": 3, "arguments": {}}}
GAP = "\t".join(gap.COLUMNS) + f"\nx-1\t{TEXT}\tShe\t23\tMary\t0\tTRUE\tJohn\t9\tFALSE\thttp://x\n"
CBT = "".join(f"{n} The cat sat .\n" for n in range(1, 21)) + "21 The XXXXX sat .\tcat\t\tcat|dog\n"

KINDS = {
    "babi": Kind(
        made("a.txt", lambda f: babi.write_file(simulator.simulate(1, 9), f / "a.txt")),
        babi.read_file,
    ),
    "lambada": Kind(written("a.txt", "mary left . she met john\n" * 3), lambada.read_file),
    "passages": Kind(written("a.jsonl", json.dumps(PASSAGE) + "\n"), lambada.read_passages),
    "cbt": Kind(written("a.txt", CBT), cbt.read_file),
    "cnn": Kind(made("questions/test/0000.question", samples.write_cnn), cnn.read_file),
    "wikihop": Kind(
        made("wikihop/dev.json", lambda f: samples.write_hops(f, "wikihop")), wikihop.read_file
    ),
    "emory": Kind(made("emory/dev.json", samples.write_emory), emory.read_file),
    "sst": Kind(written("a.txt", "(3 (2 It) (4 (2 's) (4 fun)))\n" * 3), sst.read_file),
    "trees": Kind(written("a.mrg", PENN * 3), lambda path: list(penn.read_trees(path))),
    "conllu": Kind(written("a.conllu", CONLLU * 3), pos.read_conllu),
    "penn": Kind(written("a.mrg", PENN * 3), pos.read_penn),
    "conll": Kind(
        made("a.conll", lambda f: conll.write_conll(f / "a.conll", [("a", annotation())])),
        conll.read_conll,
    ),
    "corenlp": Kind(
        made("a.json", lambda f: corenlp.write_corenlp(f / "a.json", annotation())),
        corenlp.read_corenlp,
    ),
    "gap": Kind(written("gap-test.tsv", GAP), gap.read_gap),
    "rows": Kind(written("a.jsonl", (json.dumps(ROW) + "\n") * 4), datasets.as_examples),
    "vectors": Kind(
        made("glove/glove.tiny.txt", samples.write_vectors),
        lambda path: load_word_vectors(path, Vocabulary(["the", "took"])),
    ),
    "texts": Kind(written("a.txt", TEXT + "\n"), lambda p: list(corpora.TextReader([str(p)]))),
    "json texts": Kind(
        written("a.jsonl", json.dumps({"text": TEXT, "id": 3}) + "\n"),
        lambda path: list(corpora.TextReader([str(path)])),
    ),
    "truecaser": Kind(
        made("a.json", lambda f: Truecaser({"mary": "Mary"}).save(f / "a.json")), Truecaser.load
    ),
    "records": Kind(
        made("out/shard-00000.tfrecord", write_shard), lambda p: list(corpora.read_shard(p))
    ),
    "index": Kind(made("out/index.json", write_shard), lambda p: corpora.verify_folder(p.parent)),
    "results": Kind(
        made("babi-1k.jsonl", lambda f: append_result(dict(RUN), f)),
        lambda path: read_results("babi-1k", path.parent),
    ),
    "state": Kind(written("state.json", json.dumps(STATE)), lambda path: history_of(path.parent)),
    "run": Kind(
        written("run.json", json.dumps(RECORD, indent=1)),
        lambda path: check_folder(path.parent, RECORD, {}, (), "remove it"),
    ),
    "study": Kind(
        made("sst.toml", lambda f: shutil.copy(FOLDER / "studies/sst.toml", f)), read_study
    ),
    "models": Kind(
        made("ga.toml", lambda f: shutil.copy(FOLDER / "models/ga.toml", f)), read_family
    ),
    "space": Kind(
        written("a.json", '{"units": [4, 8], "dropout": {"low": 0.1, "high": 0.3}}'),
        lambda path: space_of("qdren", str(path)),
    ),
    "best settings": Kind(
        written("best.json", json.dumps({"model": "qdren", "dataset": "babi", "settings": {}})),
        lambda path: read_preset(str(path)),
    ),
    "preset": Kind(made("qrn_babi_1.json", copy_preset), load_preset, 4),
    "weights": Kind(made("qrn_babi_1.npz", copy_preset), load_preset, 4),
    "preset folder": Kind(
        made("p/config.json", lambda f: reader().save_to_preset(f / "p")),
        lambda path: read_folder("p", find(path)).read_weights(),
    ),
    "model": Kind(
        made("a.keras", lambda f: reader().save(f / "a.keras")), lambda p: zoo.load(str(p)), 4
    ),
}


@functools.cache
def annotation() -> Any:
    return next(iter(annotate([TEXT])))


@functools.cache
def content_of(kind: str, folder: Path) -> tuple[Path, bytes]:
    folder.mkdir()
    path = KINDS[kind].make(folder)
    KINDS[kind].read(path)
    return path, path.read_bytes()


# Mutations of each kind; a few that are always the same where nothing is said.
WANTED = int(os.environ.get("COREFMEM_FUZZ", 0))


def seconds_to_read(kind: str, path: Path) -> float:
    began = time.process_time()
    try:
        KINDS[kind].read(path)
    except (ValueError, OSError) as error:
        # A preset is named without an ending; an index may find fault with what is beside it.
        names = path.name, str(path.parent), repr(path.stem)
        assert any(name in str(error) for name in names), error
    return time.process_time() - began


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_read_or_refused_by_name(kind, tmp_path):
    path, content = content_of(kind, tmp_path / "kind")

    @hypothesis.settings(
        max_examples=WANTED or KINDS[kind].examples,
        deadline=None,
        derandomize=not WANTED,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategies.sampled_from(MUTATIONS), strategies.integers(0, 2**32))
    def mutate(mutation, seed):
        path.write_bytes(mutation(content, random.Random(seed)))
        # What is imported takes its time once.
        assert seconds_to_read(kind, path) < SECONDS or seconds_to_read(kind, path) < SECONDS

    mutate()
