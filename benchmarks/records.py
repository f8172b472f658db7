"""Records of measurements, one JSON file a benchmark, and their tables in Markdown pages."""

import importlib.metadata
import json
import os
import pathlib
import platform
import re

from keras_corefmem.utils.markdown import markdown_table

HERE = pathlib.Path(__file__).parent
PAGE, SUMMARY_PAGE = HERE / "README.md", HERE.parent / "docs" / "layers.md"


def read(name):
    """The record of a benchmark."""
    return json.loads((HERE / f"{name}.json").read_text())


def write(name, figures, make_table, arguments=()):
    """Records the figures of a benchmark, a dictionary, and puts their table into the pages.

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
    page, summary_page = (path.read_text(encoding="utf-8") for path in (PAGE, SUMMARY_PAGE))
    PAGE.write_text(fill(page, name, make_table), encoding="utf-8")
    SUMMARY_PAGE.write_text(fill_summary(summary_page), encoding="utf-8")


def fill(text, name, make_table):
    """A page with the table of a recorded benchmark between its marks."""
    content = read(name)
    made = (
        f"Made by `{content['command']}` on {content['cores']} cores, TensorFlow "
        f"{content['versions']['tensorflow']}, Keras {content['versions']['keras']}."
    )
    return between_marks(text, name, f"{make_table(content)}\n\n{made}")


def fill_summary(text):
    """A page with a table of what each benchmark compares: our time by that of plain Keras."""
    recurrence = {
        (row["layer"], row["length"]): row["ratio"] for row in read("recurrence")["times"]
    }
    memories = {row["name"]: 1 / row["ratio"] for row in read("memory_networks")["rows"]}
    readers = read("supervised_attention")["seconds"]
    gru, rnn = "`keras.layers.Bidirectional(GRU)`", "`keras.layers.RNN` of the same cell"
    rows = [
        *(
            (f"`{layer}`, {length:,} tokens{more}", gru, recurrence[layer + more, length])
            for layer, more in (("CorefGRU", ""), ("MAGEGRU", ", two edge types"))
            for length in (100, 1000)
        ),
        ("`EntityMemory` of REN", rnn, memories["REN"]),
        ("`EpisodicMemory`", rnn, memories["DMN"]),
        ("`HashDropout`", "`keras.layers.Dropout`", memories["dropout"]),
        (
            "`zoo.BiDAFReader`, self-attention supervised",
            "the same of `keras.layers.GRU` and `MultiHeadAttention`",
            readers["ours"] / readers["plain"],
        ),
    ]
    table = [("a training step of", "beside", "takes of its time")]
    table += [(ours, plain, f"{ratio:.0%}") for ours, plain, ratio in rows]
    return between_marks(text, "summary", markdown_table(table, text_columns=2))


def between_marks(text, name, made):
    """A page with something else between the marks of a name."""
    pattern = rf"(<!-- benchmarks {name} -->)\n.*?(<!-- end -->)"
    return re.sub(pattern, lambda m: f"{m[1]}\n{made}\n{m[2]}", text, flags=re.DOTALL)
