"""Files of every form, mutated: readers answer with content, or with one error that names them."""

import functools
import itertools
import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest
from hypothesis import strategies

import zoo
from keras_corefmem import corpora, datasets, preprocessing
from keras_corefmem.corpora.text_annotator import TextAnnotator
from keras_corefmem.datasets import gap
from keras_corefmem.datasets.passages import cbt, cnn, emory, lambada, wikihop
from keras_corefmem.datasets.passages.novel_passages import file_grams
from keras_corefmem.datasets.sentences import penn, pos, sst
from keras_corefmem.datasets.stories import babi, simulator
from keras_corefmem.graphs.formats import conll, corenlp
from keras_corefmem.text import Truecaser, Vocabulary, load_word_vectors
from keras_corefmem.utils.files import BadFileError, load_json, write_json
from tests.fuzz import written as files
from tests.fuzz.mutations import MUTATIONS
from tests.fuzz.written import TEXT, annotation, load_preset, reader
from tests.support.results import record_trial
from tests.support.texts import samples
from tests.support.tiers import standing_for
from tuning.spaces import space_of
from zoo.cli.train import read_best
from zoo.configs.configurations import FOLDER, read_family
from zoo.experiments.folders import check_folder, history_of
from zoo.experiments.results import append_result
from zoo.experiments.studies import read_study
from zoo.hub import describe_data
from zoo.hub.folders import read_folder
from zoo.hub.presets import read_preset as read_card
from zoo.reports import read_labels
from zoo.reports.tables import tables_of

# Seconds that reading a file may take, and characters of an error.
SECONDS, LONGEST = 2, 2000


class Kind(NamedTuple):
    """A form of files: how one is made in a folder, and what reads it."""

    make: Callable[[Path], Path]
    read: Callable[[Path], Any]
    examples: int = 6


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


def find(path: Path) -> Callable[[str], Path]:
    return lambda name: path.with_name(name)


def naming(make: Callable[[dict], Any]) -> Callable[[Path], Any]:
    """What reads the configuration of something, which knows of no file."""

    def read(path: Path) -> Any:
        config = load_json(path, kind=dict[str, Any])
        try:
            return make(config)
        except ValueError as error:
            raise type(error)(f"{path}: {error}") from None

    return read


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
    **{
        "valid_accuracy": 0.5,
        "valid_loss": 1.0,
        "questions": {"test": 9},
        "settings": {},
        "test_wrong": [1, 3, 4],
    },
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
    "evaluation": Kind(
        written("a.jsonl", json.dumps({"text": TEXT}) + "\n"),
        # Long lines have millions of runs of words.
        lambda path: list(itertools.islice(file_grams(path), 100)),
    ),
    "pipeline": Kind(
        written("meta.json", '{"lang": "en", "name": "x", "version": "1"}'),
        lambda path: TextAnnotator(str(path.parent)).describe(),
    ),
    "truecaser": Kind(
        made("a.json", lambda f: Truecaser({"mary": "Mary"}).save(f / "a.json")), Truecaser.load
    ),
    "records": Kind(
        made("out/shard-00000.tfrecord", files.write_shard), lambda p: list(corpora.read_shard(p))
    ),
    "record": Kind(made("a.example", files.write_record), files.read_record),
    "fields of a question": Kind(made("fields.json", files.write_fields), files.read_fields),
    "index": Kind(
        made("out/index.json", files.write_shard), lambda p: corpora.verify_folder(p.parent)
    ),
    "plan": Kind(made("out/plan.json", files.write_plan), files.read_plan),
    "results": Kind(
        made("babi-1k.jsonl", lambda f: append_result(dict(RUN), f)),
        lambda path: tables_of("babi-1k", path.parent),
    ),
    "trials": Kind(
        made("searches/x.jsonl", lambda f: record_trial(f, 0, 0.5, 2, "x", test_accuracy=0.5)),
        lambda path: tables_of("searches/x", path.parents[1]),
    ),
    "coreference": Kind(
        made("coreference/a.json", files.copy_scores),
        lambda path: tables_of("coreference", path.parents[1]),
    ),
    "labels": Kind(written("a.tsv", "1\tcoreference\n2\tspeaker\n"), read_labels),
    "state": Kind(written("state.json", json.dumps(STATE)), lambda path: history_of(path.parent)),
    "run": Kind(
        written("run.json", json.dumps(RECORD, indent=1)),
        lambda path: check_folder(path.parent, RECORD, {}, (), "remove it"),
    ),
    "settings": Kind(
        written("settings.json", json.dumps({"epochs": 3, "seed": 0})),
        lambda path: check_folder(path.parent, {}, {"epochs": 3, "seed": 0}, (), "remove it"),
    ),
    "record of data": Kind(
        written("run.json", json.dumps(RECORD)),
        lambda path: describe_data(str(path.with_name("model.keras"))),
    ),
    "weights of a run": Kind(made("best.weights.h5", files.write_state), files.read_state),
    "weights of an epoch": Kind(made("epoch-0.weights.h5", files.write_state), files.read_state),
    "states of a run": Kind(made("state.json", files.write_state), files.read_state),
    **{
        name: Kind(made(f"search/{name}.json", files.write_search), files.read_search, 4)
        for name in ("search", "oracle", "trial_0000/trial", "trial_0001/trial")
    },
    **{
        name: Kind(made(f"search/trial_{name}.json", files.write_search), files.read_search, 4)
        for name in ("0000/outcome", "0000/tested", "0000/begun", "0001/error")
    },
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
        lambda path: read_best(str(path)),
    ),
    "card": Kind(made("qrn_babi_1.json", files.copy_preset), lambda p: read_card(p.stem, p.parent)),
    "preset": Kind(made("qrn_babi_1.json", files.copy_preset), load_preset, 4),
    "weights": Kind(made("qrn_babi_1.npz", files.copy_preset), load_preset, 4),
    "preset folder": Kind(
        made("p/config.json", lambda f: reader().save_to_preset(f / "p")),
        lambda path: zoo.from_preset(path.parent),
        4,
    ),
    "preprocessor of a preset": Kind(
        made("p/preprocessor.json", lambda f: reader().save_to_preset(f / "p")),
        lambda path: read_folder("p", find(path)),
    ),
    "weights of a preset": Kind(
        made("p/model.weights.h5", lambda f: reader().save_to_preset(f / "p")),
        lambda path: reader().load_weights(path),
    ),
    "weights of a model": Kind(
        made("a.weights.h5", lambda f: reader().save_weights(f / "a.weights.h5")),
        lambda path: reader().load_weights(path),
    ),
    "vocabulary": Kind(
        written("a.json", json.dumps({"words": ["a", "b"], "unknown_types": 2})),
        naming(Vocabulary.from_config),
    ),
    "preprocessor": Kind(
        made("a.json", lambda f: write_json(f / "a.json", reader().preprocessor.get_config())),
        naming(preprocessing.get),
    ),
    "configuration": Kind(made("config.json", files.write_config), files.read_config, 4),
    "model": Kind(
        made("a.keras", lambda f: reader().save(f / "a.keras")), lambda p: zoo.load(str(p)), 4
    ),
}

# Files that people and other programs alone write, and what may be whole but of something else, or
# has no file of its own. Damage to all the rest is one error.
OTHERS = {*list(KINDS)[: list(KINDS).index("truecaser")], "space", "plan", "trials", "run"}
OTHERS |= {"settings", "vocabulary", "search", "preset", "preset folder", "preprocessor"}
OTHERS -= {"passages", "conll", "corenlp", "texts", "json texts", "pipeline"}


@functools.cache
def content_of(kind: str, folder: Path) -> tuple[Path, bytes]:
    folder.mkdir()
    path = KINDS[kind].make(folder)
    KINDS[kind].read(path)
    return path, path.read_bytes()


# Mutations of each kind; a few that are always the same where nothing is said.
WANTED = int(os.environ.get("COREFMEM_FUZZ", 0))


def seconds_to_read(kind: str, path: Path, folder: Path) -> float:
    began = time.process_time()
    try:
        KINDS[kind].read(path)
    except (ValueError, OSError) as error:
        # A preset is named without an ending; what is wrong may be what is beside a file.
        names = path.name, str(folder), path.stem if kind == "preset" else path.name
        assert any(name in str(error) for name in names), error
        assert len(str(error)) < LONGEST, error
        assert kind in OTHERS or isinstance(error, (BadFileError, OSError)), repr(error)
    return time.process_time() - began


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_read_or_refused_by_name(kind, tmp_path):
    path, content = content_of(kind, tmp_path / "kind")

    @hypothesis.settings(
        max_examples=WANTED or KINDS[kind].examples,
        deadline=None,
        # A failure says enough without minutes of making it smaller.
        phases=[hypothesis.Phase.generate],
        derandomize=not WANTED,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategies.sampled_from(MUTATIONS), strategies.integers(0, 2**32))
    def mutate(mutation, seed):
        path.write_bytes(mutation(content, random.Random(seed)))
        # What is imported takes its time once.
        place = kind, path, tmp_path / "kind"
        assert seconds_to_read(*place) < SECONDS or seconds_to_read(*place) < SECONDS

    mutate()


DIGITS = b"9" * 2_000_000
LONG_LINES = {
    "brackets": ("sst", lambda _: b"(A " * 10**6),
    "empty brackets": ("sst", lambda content: content + b"()" * 10**6),
    "words": ("sst", lambda content: content[:6] + b"a " * 10**6 + content[6:]),
    "a command": ("results", lambda content: content.replace(b"corefmem", b"()" * 10**6)),
    "a number": ("results", lambda content: content.replace(b'"seed":0', b'"seed":' + DIGITS)),
    "numbers": ("results", lambda content: content.replace(b'"1,3-4"', b'"' + DIGITS + b'"')),
}


@pytest.mark.parametrize("name", standing_for(LONG_LINES, set(LONG_LINES) - {"brackets"}))
def test_a_line_of_millions_of_characters_ends_no_reader(name, tmp_path):
    kind, lengthen = LONG_LINES[name]
    path, content = content_of(kind, tmp_path / "kind")
    path.write_bytes(lengthen(content))
    assert path.stat().st_size > 10**6
    errors = []

    def read():
        try:
            KINDS[kind].read(path)
        except ValueError as error:
            errors.append(str(error))

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    reading.join(30)
    assert errors and path.name in errors[0]
