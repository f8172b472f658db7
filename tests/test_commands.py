"""The commands of the README and the guides run, in the order of each page.

They run as they are given, on little data and in this process, so that `KERAS_BACKEND=` and
`--workers` change nothing: `test_reproduce` and `test_workers` have processes.
"""

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

import zoo
from keras_corefmem.datasets import simulator
from keras_corefmem.layers.kernels.compilation import uncompiled
from tests.support import little
from tests.support.commands import printed
from tests.support.pages import BLOCKS, COMMANDS, ROOT, lines_of, words_of
from tests.support.texts import samples
from tests.support.texts.tiny_babi import write_babi

# What else pages have a shell do, and why it is not done here.
LEFT_OUT = {
    "corefmem download": "fetches files: `test_babi_download` has a server of its own",
    "corefmem demo": "serves until it is stopped: `test_demo` starts it",
    "pip": "fetches packages: `.ci/wheel` installs the package and its extras",
    "python3": "makes a virtual environment, as `.ci/wheel` does",
    "source": "enters it",
    "python": "runs a program of the reader's on several machines",
    "pytest": "runs these tests",
    "tensorboard": "serves until it is stopped: `test_tensorboard_pages` starts it",
    "docker": "fetches an image: `test_readme` has what its server answers",
    "curl": "asks that server",
}
STANDS_FOR = {
    "path/that/train/printed/model.keras": "MODEL.keras",
    "RUN RUN": "dmn-sentiment-fine-1-seed-0 dmn-sentiment-fine-2-seed-0",
    " NAME ": " qdren-babi-task-05-random-seed-0 ",
    "--trials 12": "--trials 2",
}
# What each command prints; of reports, by their options.
PRINTED = {
    "train": r"\nBest of 1 epochs by validation: 1, .*\n\w+ accuracy: \S+% of \d+ \w+\n"
    r"[\s\S]+\nKeras model:  \S+\nSavedModel: .+\nAsk it:       corefmem predict ",
    "train --help": r"\n  edge_units [\s\S]+\n  units ",
    "evaluate": r"(^|\n)\S+( task \w+)?, (all|test|development): accuracy \S+%, \d+ of \d+ \w+\n",
    "predict": r'^\{"question": "Where is Alice\?", "answer": "\w+", "probability": [01]\.\d+, ',
    "explain": r"^[Ww]here \S.*\?\n\w+ \d+%\n",
    "export": r"^SavedModel: \S+\n$",
    "list": r"\n  ga-mage-gru  [\s\S]+\n  simulator  [\s\S]+\n  babi-1k  ",
    "search": r"\nBest of \d+ trials by validation: \d+, .*; its test accuracy: \S+%\n",
    "reproduce": r"\n\[1/1\] \S+-seed-9: valid \S+%, (test|dev) \S+%, \d+ s\n[\s\S]*\n\|---",
    "annotate": r"Mary#1 .*she#1|\nComplete: \d+ texts, \d+ tokens in 1 shards",
    "truecaser": r"^\d+ words of 4 files, [1-9]\d* with capitals",
    "passages": r"passages in \S+/train.jsonl",
    "report": r"^## babi-1k\n\n\|",
    "report --compare": r"^\| test error in % .*[\s\S]+ by exact McNemar tests ",
    "report --agreement": r"^\| seeds of one model \| pairs \| ",
    "report --labels": r"\n\| all with a label ",
    "report --gains": r"^\d+ of 1101 are answered right by ",
    "report --plots": r"^pictures/\S+\.png\n",
    "report --write": r"^Tables written to \S+\n",
}
# What is printed somewhere on a page besides, and names of files, which are there.
ANSWERS = {"README": ('"answer": "attic"', "\nkitchen "), "tensorboard": ("\nkitchen ",)}
WRITTEN = r"(?<![\w./-])(?!FILE)[\w./-]+(?:\.(?:png|svg|keras|json|jsonl)|/saved_model)\b"
# Pages of more than a minute on a busy core.
LONG = {"README", "real_data", "real_text"}


def pattern_of(words):
    names = (f"{words[0]} {word}" for word in words)
    return PRINTED[next((name for name in names if name in PRINTED), words[0])]


def is_left_out(words):
    return f"corefmem {words[0]}" in LEFT_OUT


def give(page, folder, request, capsys):
    """Puts what the commands of a page take for granted into a folder."""
    if page in ("flagship", "real_data", "searches"):
        babi = folder / "keras/datasets/tasks_1-20_v1-2"
        babi.mkdir(parents=True)
        write_babi(babi, range(1, 21), train=20, valid=10, test=10)
    if page in ("flagship", "real_data"):
        shutil.copytree(ROOT / "results", folder / "results")
    if page in ("real_data", "real_text"):
        samples.write_novels(folder / "path/to/novels")
        samples.write_lambada(folder / "data")
        write_pipeline(folder / "en_core_web_sm", request)
        write_rows(folder / "texts.jsonl", [{"text": "Mary said that she was late."}] * 3)
    if page == "real_data":
        shutil.copy(ROOT / "README.md", folder)
        (folder / "docs").mkdir()
        (folder / "labels.tsv").write_text("1\trequires coreference\n2\tnone\n")
        for seed, name in enumerate(("my", "my-valid", "other")):
            write_rows(folder / f"{name}.jsonl", map(vars, simulator.simulate(1, 40, seed)))
        (babi / "en-10k").symlink_to(babi / "en-valid")
        (folder / "path/to/babi").symlink_to(babi)
        for name in ("path/to/data", "path/to/cnn", "DIR"):
            (folder / name).symlink_to(folder / "data")
        write_data(folder / "data", capsys)


def write_rows(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)))


def write_pipeline(folder, request):
    """Writes a real pipeline of spaCy if there is one, otherwise one that knows two words."""
    try:
        nlp = request.getfixturevalue("ud_pipeline")
    except pytest.skip.Exception:
        nlp = pytest.importorskip("spacy").blank("en")
        ruler = nlp.add_pipe("attribute_ruler")
        for text, tag in (("Mary", "NNP"), ("she", "PRP"), ({"NOT_IN": ["Mary", "she"]}, "VBD")):
            ruler.add([[{"TEXT": text}]], {"TAG": tag, "DEP": "nsubj"})
    nlp.to_disk(folder)


def write_data(folder, capsys):
    """Writes the data sets that are not downloaded, LAMBADA with passages and their records."""
    written = folder / "passages", folder / "annotated/lambada"
    printed(capsys, "passages", "path/to/novels", "--output", written[0])
    words = "annotate", "--dataset", "lambada", "--data-dir", folder, "--output", written[1]
    printed(capsys, *words, "--annotator", "en_core_web_sm")
    # As many sentences as those of which `results/` has the answers.
    samples.write_published(folder, sentences=1101)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.thorough if page in LONG else pytest.mark.slow)
        for page, commands in COMMANDS.items()
        if not all(map(is_left_out, map(words_of, commands)))
    ],
)
def test_commands_of_a_page_run_in_order(page, tmp_path, request, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    little.do_little(monkeypatch)
    give(page, tmp_path, request, capsys)
    if page == "real_data":
        # Other pages write enough SavedModels.
        monkeypatch.setattr(zoo, "export", lambda model, folder: folder.mkdir())
    said, trained = "", ""
    for command in COMMANDS[page]:
        for name, text in {**STANDS_FOR, "MODEL.keras": trained}.items():
            command = command.replace(name, text)
        words = words_of(command)
        if is_left_out(words):
            continue
        with uncompiled():
            said += (out := printed(capsys, *words))
        assert re.search(pattern_of(words), out), f"{command}\n{out}"
        named = words[words.index("--output") + 1 :][:1] if "--output" in words else []
        files = [] if "--help" in words else re.findall(WRITTEN, out)
        for path in (*files, *named):
            assert Path(path).exists(), f"{command}\n{path}"
        if found := re.search(r"^Keras model:  (\S+)$", out, re.MULTILINE):
            trained = found[1]
            assert [*Path("tensorboard_logs", Path(trained).parent.name).glob("events*")]
    assert all(text in said for text in ANSWERS.get(page, ()))


def test_what_does_not_run_is_left_out_for_a_reason():
    shown = set()
    for page, language, text in BLOCKS:
        for line in lines_of(text) if page in COMMANDS and language == "" else ():
            for command in line.split("&&"):
                program = re.match(r"\s*(?:[A-Z_]+=\S+\s+)*(?:[\w.]*/)*(\w+) ", f"{command} ")
                shown |= {program[1]} if program else set()
    commands = {words_of(c)[0] for c in itertools.chain.from_iterable(COMMANDS.values())}
    known = {name.removeprefix("corefmem ") for name in LEFT_OUT}
    known |= {name.split()[0] for name in PRINTED}
    assert shown - {"corefmem"} | commands == known
