"""Records of measurements, one JSON file a benchmark, and their tables in the main README."""

import importlib.metadata
import json
import os
import pathlib
import platform
import re

HERE = pathlib.Path(__file__).parent


def read(name):
    """The record of a benchmark."""
    return json.loads((HERE / f"{name}.json").read_text())


def write(name, figures, make_table, arguments=()):
    """Records the figures of a benchmark, a dictionary, and puts their table into the README.

    Its command is recorded with its `arguments`, but those that are only paths.
    """
    content = {
        **figures,
        "command": " ".join([f"python benchmarks/{name}.py", *arguments]),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in ("tensorflow", "keras")},
    }
    (HERE / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    readme = HERE.parent / "README.md"
    text = fill(readme.read_text(encoding="utf-8"), name, make_table)
    readme.write_text(text, encoding="utf-8")


def fill(text, name, make_table):
    """A README with the table of a recorded benchmark between its marks."""
    content = read(name)
    made = (
        f"Made by `{content['command']}` on {content['cores']} cores, TensorFlow "
        f"{content['versions']['tensorflow']}, Keras {content['versions']['keras']}."
    )
    new = f"\n{make_table(content)}\n\n{made}\n"
    pattern = rf"(<!-- benchmarks {name} -->).*?(<!-- end -->)"
    return re.sub(pattern, lambda m: m[1] + new + m[2], text, flags=re.DOTALL)
