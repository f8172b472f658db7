"""The shown figures of speed and memory are those measured."""

import importlib
import pathlib
import runpy

import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def records(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("records")


@pytest.mark.parametrize(
    "name, row",
    [
        ("recurrence", "| CorefGRU | 100 |"),
        ("memory_networks", "| REN | "),
        ("supervised_attention", "| ours without supervision | "),
        ("long_passages", "| `coref_gru` | 2200 | 50 | 16 | "),
        ("raw_text", "| `ga_coref_gru_lambada` | annotator and truecaser | "),
        ("study", "| babi-1k | `ga-coref-gru` | 20 | 1 | 2 | "),
    ],
)
def test_the_page_shows_the_figures_of_the_benchmark(name, row, records):
    make_table = runpy.run_path(str(FOLDER / f"{name}.py"))["make_table"]
    assert row in make_table(records.read(name))
    page = records.PAGE.read_text(encoding="utf-8")
    assert f"<!-- benchmarks {name} -->\n|" in page
    assert records.fill(page, name, make_table) == page


def test_the_page_of_layers_shows_the_ratios(records):
    page = records.SUMMARY_PAGE.read_text(encoding="utf-8")
    assert "| `CorefGRU`, 100 tokens | `keras.layers.Bidirectional(GRU)` | " in page
    assert records.fill_summary(page) == page


def test_the_recorded_figures_of_memories_reach_their_goals(records):
    ratios = {row["name"]: row["ratio"] for row in records.read("memory_networks")["rows"]}
    assert list(ratios) == ["REN", "QDREN", "DMN", "dropout"] and min(ratios.values()) >= 2


def test_the_recorded_figures_of_recurrences_reach_their_goals(records):
    content = records.read("recurrence")
    times = {(row["layer"], row["length"]): row["ms"] for row in content["times"]}
    keras, coref, mage = "keras Bidirectional(GRU)", "CorefGRU", "MAGEGRU, two edge types"
    assert times[coref, 100] <= 0.6 * times[keras, 100]
    assert times[mage, 100] <= 1.3 * times[coref, 100]
    for layer in (coref, mage):
        assert times[layer, 2000] < 2.5 * times[layer, 1000]
        memory = {
            (row["length"], row["chains"]): row["mb"]
            for row in content["memory"]
            if row["layer"] == layer
        }
        assert memory[1000, 10] == memory[1000, 200]
        assert memory[2000, 10] < 2.1 * memory[1000, 10]


def test_the_recorded_figures_of_supervised_attention_reach_their_goals(records):
    content = records.read("supervised_attention")
    seconds = content["seconds"]
    assert seconds["ours"] <= 0.8 * seconds["plain"] and content["cost"] <= 0.1
    assert (content["sizes"]["batch"], content["sizes"]["passage"]) == (40, 128)


def test_long_passages_train_within_eight_gigabytes(records):
    content = records.read("long_passages")
    assert (content["tokens"], content["chains"], content["batch"]) == (2200, 50, 16)
    assert max(row["gb"] for row in content["rows"]) < 8


def test_a_study_of_all_tasks_ends_within_half_an_hour(records):
    content = records.read("study")
    assert content["tasks"] == 20 and content["jobs"] == 2 and content["seconds"] < 1800


def test_annotated_raw_text_is_read_as_well_as_records(records):
    content = records.read("raw_text")
    shares = {row["name"]: (row["published"], row["written"]) for row in content["rows"]}
    assert content["passages"] == 4869
    assert min(shares["annotator and truecaser"]) > 0.375 > max(shares["no annotator"])
    # Words with their full stops are unknown ones.
    assert shares["no annotator, cut at spaces"][1] < 0.2


def test_the_layers_are_built_both_ways(records):
    pytest.importorskip("tensorflow")
    steps = runpy.run_path(str(FOLDER / "memory_networks.py"))["make_steps"]()
    assert list(steps) == ["REN", "QDREN", "DMN", "dropout"]
    assert all(len(ways) == 2 for ways in steps.values())
