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
