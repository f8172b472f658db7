"""The shown figures of speed and memory are those recorded, and reach their goals."""

import importlib
import itertools
import json
import pathlib
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest

ROOT = pathlib.Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
PEERS = {"memory_networks", "supervised_attention", "recurrence"}


@pytest.fixture
def records(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("records")


@pytest.fixture
def pages(records):
    return importlib.import_module("pages")


@pytest.fixture
def read(records):
    """A function that reads a record, and skips the test where there is none."""

    def find(name):
        content = records.read(name)
        if content is None:
            pytest.skip(f"python benchmarks/{name}.py was not run")
        return content

    return find


@pytest.fixture
def recurrence(read, records):
    """A function from values of rows to the milliseconds of the fastest."""
    times = read("recurrence")["times"]
    return lambda **values: records.fastest(times, **values)["ms"]


def test_all_pages_show_the_records(pages):
    texts = [path.read_text(encoding="utf-8") for path in pages.PAGES]
    assert [pages.fill(text) for text in texts] == texts
    benchmarks, layers, readme = ([m[1] for m in pages.MARKS.findall(text)] for text in texts)
    assert sorted(benchmarks) == sorted(pages.BENCHMARKS)
    assert layers == ["summary"] and readme == ["speed"]


def test_one_command_runs_all_benchmarks(pages):
    options = SimpleNamespace(
        torch="python", data_dir="data", annotator="en", scale=True, seed=1, quick=True
    )
    list_commands = runpy.run_path(str(FOLDER / "all.py"))["list_commands"]
    assert {name for name, _ in list_commands(options)} == pages.BENCHMARKS.keys() - {"study"}
    options.quick = False
    assert ("study", ["--data-dir", "data", "--seed", "1"]) in list_commands(options)
    published = {path.stem for path in FOLDER.glob("*.py") if "def make_table" in path.read_text()}
    assert published == pages.BENCHMARKS.keys()


def test_a_page_says_how_to_measure_what_is_not_recorded(records, pages, monkeypatch, tmp_path):
    monkeypatch.setattr(records, "HERE", tmp_path)
    assert pages.show("gpu") == "Not measured yet: run `python benchmarks/gpu.py`."
    missing = "Not measured yet: run `python benchmarks/all.py`."
    assert pages.show("summary") == pages.show("speed") == missing


def test_ratios_are_those_to_the_fastest_mode(records, pages, monkeypatch, tmp_path):
    monkeypatch.setattr(records, "HERE", tmp_path)
    gru, ours = "keras Bidirectional(GRU)", ("CorefGRU", "MAGEGRU, two edge types")
    times = {(gru, "XLA"): 40, (gru, "graph"): 20}
    times |= {(layer, mode): ms for layer in ours for mode, ms in (("XLA", 12), ("eager", 15))}
    rows = [
        {"backend": backend, "pass": "training step", "layer": layer, "mode": mode}
        | {"length": length, "ms": ms, "median": 2 * ms}
        for backend in ("TensorFlow", "JAX")
        for length in (100, 1000)
        for (layer, mode), ms in times.items()
    ]
    content = {"times": rows, "memory": [], "command": "run", "cores": 2, "load": [0.5, 2]}
    content["versions"] = {"keras": "3.15", "torch": "2.13"}
    (tmp_path / "recurrence.json").write_text(json.dumps(content))
    table = pages.show("recurrence")
    cells = "| 0.60, XLA | – | – | 0.60, XLA | – |"
    assert f"| JAX | training step | CorefGRU {cells}" in table
    assert "| CorefGRU | eager | 15.0 / 30.0 | – | – | 15.0 / 30.0 | – |" in table
    assert table.endswith("Keras 3.15, PyTorch 2.13, load 0.5 before and 2.0 after.")
    assert "`keras.layers.Bidirectional(GRU)` | XLA; graph | 60% |" in pages.show("summary")
    assert "60% at 1,000 tokens on JAX (Keras: graph)" in pages.show("speed")


def test_the_pages_of_other_benchmarks_are_tables(records):
    waits = {"SavedModel, 1 string": {"seconds": 0.004, "median": 1.26}}
    make_table = importlib.import_module("latency").make_table
    assert "| SavedModel, 1 string | 4.0 ms | 1.3 s |" in make_table({"figures": waits})
    rows = [{"annotator": "exact", "processes": n, "seconds": 9 / n} for n in (1, 2)]
    make_table = importlib.import_module("annotation").make_table
    table = make_table({"texts": 5000, "rows": rows, "scale": None})
    assert "| `exact` | 9.0 | 4.5 | 2.00 |" in table and "not measured yet" in table


def test_figures_are_minimum_and_median_of_turns(records):
    numbers = iter([3.0, 9.0, 1.0, 7.0, 2.0, 8.0])
    cases = [lambda: {"a": next(numbers)}, lambda: {"b": next(numbers)}]
    found = importlib.import_module("processes").measure_in_turn(cases, 3)
    assert found["a"] == {"seconds": 1, "median": 2} and found["b"] == {"seconds": 7, "median": 8}


# A figure that reaches its goal at last fails its test, until its mark is taken away.
missed = pytest.mark.xfail(reason="the goal is missed, as the page shows", strict=True)


@pytest.mark.parametrize(
    "backend, kind, length, mode, goal",
    [
        pytest.param("TensorFlow", "training step", 100, "XLA", 0.65, marks=missed),
        pytest.param("TensorFlow", "training step", 100, "graph", 0.65, marks=missed),
        pytest.param("TensorFlow", "training step", 100, "eager", 0.65, marks=missed),
        pytest.param("TensorFlow", "training step", 1000, "XLA", 0.6, marks=missed),
        ("TensorFlow", "training step", 1000, "graph", 0.6),
        pytest.param("TensorFlow", "training step", 1000, "eager", 0.6, marks=missed),
        pytest.param("TensorFlow", "forward", 100, "graph", 0.8, marks=missed),
        pytest.param("TensorFlow", "forward", 1000, "graph", 0.8, marks=missed),
        pytest.param("JAX", "training step", 100, "XLA", 0.75, marks=missed),
        pytest.param("JAX", "training step", 1000, "XLA", 0.75, marks=missed),
    ],
)
def test_coref_gru_beside_the_fastest_gru_of_keras(recurrence, backend, kind, length, mode, goal):
    which = {"backend": backend, "pass": kind, "length": length}
    keras = recurrence(**which, layer="keras Bidirectional(GRU)")
    assert recurrence(**which, layer="CorefGRU", mode=mode) <= goal * keras


def test_time_and_memory_of_recurrences_grow_with_the_text_alone(recurrence, read):
    rows = read("recurrence")["memory"]
    step = {"backend": "TensorFlow", "pass": "training step"}
    coref, mage = "CorefGRU", "MAGEGRU, two edge types"
    sizes = itertools.product((coref, mage), (100, 1000, 2000))
    times = {size: recurrence(**step, layer=size[0], length=size[1]) for size in sizes}
    assert times[mage, 100] <= 1.3 * times[coref, 100]
    for layer in (coref, mage):
        assert times[layer, 2000] < 2.5 * times[layer, 1000]
        memory = {(r["length"], r["chains"]): r["mb"] for r in rows if r["layer"] == layer}
        assert memory[1000, 10] == memory[1000, 200]
        assert memory[2000, 10] < 2.1 * memory[1000, 10]


def test_memories_and_dropout_take_half_the_time_of_the_plain_ones(read):
    compare = importlib.import_module("memory_networks").compare
    pairs = compare(read("memory_networks")["rows"])
    assert list(pairs) == ["REN", "QDREN", "DMN", "dropout"]
    assert max(ours["ms"] / plain["ms"] for plain, ours in pairs.values()) <= 0.55


def test_supervision_of_attention_costs_little(read):
    content = read("supervised_attention")
    supervision_cost = importlib.import_module("supervised_attention").supervision_cost
    assert supervision_cost(content["rows"]) <= 0.1
    assert (content["sizes"]["batch"], content["sizes"]["passage"]) == (40, 128)


def test_four_edge_types_take_half_as_long_again_at_most(read):
    ratios = importlib.import_module("edge_types").compare(read("edge_types")["rows"])
    assert ratios["coreference"] == 1 and ratios["four types"] <= 1.5


@missed
def test_supervised_attention_takes_less_time_than_the_plain_one(read, records):
    rows = read("supervised_attention")["rows"]
    plain, ours = (records.fastest(rows, name=name) for name in ("plain", "ours"))
    assert ours["ms"] <= 0.8 * plain["ms"]


@pytest.mark.parametrize(
    "name, goal",
    [
        ("SavedModel, 1 string", 0.006),
        ("SavedModel, 100 strings", 0.1),
        ("SavedModel, 1,000 strings", 1.5),
        ("60 stories by read", 4),
        ("corefmem predict ga_coref_gru_babi_2, one question", 5),
        pytest.param("corefmem train", 20, marks=missed),
        ("CorefGRU, eager, 5,000 tokens, first", 10),
        ("CorefGRU, eager, 5,000 tokens", 1),
        ("read, 10,000 words, first", 15),
        ("read, 10,000 words", 3),
        ("SavedModel, 10,000 words, first", 15),
        ("SavedModel, 10,000 words", 3),
    ],
)
def test_users_wait_no_longer_than_intended(read, name, goal):
    figures = read("latency")["figures"]
    if name not in figures:
        pytest.skip("python benchmarks/latency.py was not run since this was added")
    assert figures[name]["seconds"] <= goal


def test_the_demo_is_there_soon(read):
    assert read("demo")["opened"] < 15


def test_the_demo_follows_edits_at_once(read):
    content = read("demo")
    assert all(max(content[name][1:]) < 300 for name in importlib.import_module("demo").STORIES)


def test_threads_and_lengths_take_no_more_memory(read):
    growth = importlib.import_module("load").growth
    rows = read("load")["rows"]
    assert len(rows) == 4 and max(map(growth, rows)) <= 0.02
    assert [row["traced"] for row in rows] == [None, 0, 0, 0]


def test_two_processes_annotate_nearly_twice_as_fast(read):
    content = read("annotation")
    seconds = {(row["annotator"], row["processes"]): row["seconds"] for row in content["rows"]}
    pipelines = {annotator for annotator, _ in seconds} - {"exact"}
    assert content["texts"] == 5000 and pipelines
    assert all(seconds[name, 1] >= 1.8 * seconds[name, 2] for name in pipelines)


def test_long_passages_train_within_eight_gigabytes(read):
    content = read("long_passages")
    assert (content["tokens"], content["chains"], content["batch"]) == (2200, 50, 16)
    assert max(row["gb"] for row in content["rows"]) < 8


def test_a_study_of_all_tasks_ends_within_half_an_hour(read):
    content = read("study")
    assert content["tasks"] == 20 and content["jobs"] == 2 and content["seconds"] < 1800


def test_annotated_raw_text_is_read_as_well_as_records(read):
    content = read("raw_text")
    shares = {row["name"]: (row["published"], row["written"]) for row in content["rows"]}
    assert content["passages"] == 4869
    assert min(shares["annotator and truecaser"]) > 0.375 > max(shares["no annotator"])
    # Words with their full stops are unknown ones.
    assert shares["no annotator, cut at spaces"][1] < 0.2
    page = (ROOT / "docs" / "real_text.md").read_text(encoding="utf-8")
    page = " ".join(page.split())
    (best, written), (without, _) = shares["annotator and truecaser"], shares["no annotator"]
    assert f"gets {best:.1%} right from raw text with its annotator and truecaser" in page
    cut = shares["no annotator, cut at spaces"][1]
    assert f"and {without:.1%} without; {written:.1%} of text in its usual spelling" in page
    assert f"cutting it at spaces gave {cut:.1%}" in page


def test_the_layers_are_built_both_ways(records):
    pytest.importorskip("tensorflow")
    steps = runpy.run_path(str(FOLDER / "memory_networks.py"))["make_steps"]()
    assert list(steps) == ["REN", "QDREN", "DMN", "dropout"]
    assert all(len(ways) == 4 for ways in steps.values())


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name, options", [("gpu", []), ("edge_types", []), ("annotation", ["--scale"])]
)
def test_a_benchmark_can_be_tried(name, options):
    pytest.importorskip("jax")
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--quick", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\n|---|" in done.stdout
