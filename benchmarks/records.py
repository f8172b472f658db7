"""Records of measurements, one JSON file a benchmark, and what pages show of them.

python benchmarks/records.py    # fills the pages anew
"""

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import re

HERE = pathlib.Path(__file__).parent
PAGES = HERE / "README.md", HERE.parent / "docs" / "layers.md", HERE.parent / "README.md"
MARKS = re.compile(r"(<!-- benchmarks (\w+) -->)\n.*?(<!-- end -->)", re.DOTALL)
PACKAGES = {"tensorflow": "TensorFlow", "keras": "Keras", "jax": "JAX", "torch": "PyTorch"}
START_LOAD = os.getloadavg()[0]


def make_parser(description):
    """The parser of a benchmark, with the first line of its docstring and `--quick`."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, not recorded")
    return parser


def fastest(rows, **values):
    """The fastest of the rows that have these values, `None` where there is none."""
    rows = [row for row in rows if values.items() <= row.items()]
    return min(rows, key=lambda row: row["ms"], default=None)


def read(name):
    """The record of a benchmark, `None` where it was not run yet."""
    path = HERE / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def publish(name, figures, quick=False, arguments=(), torch=None):
    """Prints the tables of a benchmark; unless `quick`, records it and fills the pages.

    Args:
        name: str, the benchmark.
        figures: dict.
        quick: bool.
        arguments: strings, those of the command without what are only paths.
        torch: str, the version of PyTorch where it took part.
    """
    print(importlib.import_module(name).make_table(figures))
    if quick:
        return
    versions = {
        package: importlib.metadata.version(package)
        for package in ("tensorflow", "keras", "jax")
        if importlib.util.find_spec(package)
    }
    content = {
        **figures,
        "command": " ".join([f"python benchmarks/{name}.py", *arguments]),
        "cores": os.cpu_count(),
        "load": [START_LOAD, os.getloadavg()[0]],
        "python": platform.python_version(),
        "versions": versions | ({"torch": torch} if torch else {}),
    }
    (HERE / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    fill_pages()


def fill_pages():
    for path in PAGES:
        path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")


def fill(page):
    """A page with the records between its marks."""
    return MARKS.sub(lambda match: f"{match[1]}\n{show(match[2])}\n{match[3]}", page)


def show(name):
    """The tables of a benchmark and what made them, or a part of `summary`."""
    parts = importlib.import_module("summary").PARTS
    if name in parts:
        return parts[name]() or "Not measured yet: run `python benchmarks/all.py`."
    content = read(name)
    if content is None:
        return f"Not measured yet: run `python benchmarks/{name}.py`."
    versions = content["versions"].items()
    made = ", ".join(f"{PACKAGES[package]} {version}" for package, version in versions)
    made = f"Made by `{content['command']}` on {content['cores']} cores, {made}"
    if "load" in content:
        made += ", load {:.1f} before and {:.1f} after".format(*content["load"])
    return f"{importlib.import_module(name).make_table(content)}\n\n{made}."


if __name__ == "__main__":
    fill_pages()
