"""Records of measurements, one JSON file a benchmark."""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform

HERE = pathlib.Path(__file__).parent
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


def publish(name, make_table, figures, quick=False, arguments=(), torch=None):
    """Prints the tables of a benchmark and, unless `quick`, records its figures.

    Args:
        name: str, the benchmark.
        make_table: function, from the figures to Markdown.
        figures: dict.
        quick: bool.
        arguments: strings, those of the command without what are only paths.
        torch: str, the version of PyTorch where it took part.
    """
    print(make_table(figures))
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
    print("\nRecorded. The pages show it after `python benchmarks/pages.py`.")
