"""The README's figures of speed and memory are those measured."""

import json
import pathlib
import runpy

ROOT = pathlib.Path(__file__).parents[1]


def test_the_readme_shows_the_figures_of_the_benchmark():
    benchmark = runpy.run_path(str(ROOT / "benchmarks" / "recurrence.py"))
    content = json.loads((ROOT / "benchmarks" / "recurrence.json").read_text())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "| CorefGRU | 100 |" in benchmark["make_tables"](content)
    assert benchmark["fill"](readme, content) == readme


def test_the_recorded_figures_reach_their_goals():
    content = json.loads((ROOT / "benchmarks" / "recurrence.json").read_text())
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
