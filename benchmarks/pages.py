"""What pages show of the records: the tables of each benchmark, and what they come to.

python benchmarks/pages.py    # fills the pages anew
"""

import pathlib
import re

import annotation
import demo
import dispatch
import edge_types
import gpu
import latency
import load
import long_passages
import memory_networks
import raw_text
import records
import recurrence
import study
import supervised_attention
from recurrence import BASELINE, COREF, MAGE, STEP

from keras_corefmem.utils.markdown import markdown_table

HERE = pathlib.Path(__file__).parent
PAGES = HERE / "README.md", HERE.parent / "docs" / "layers.md", HERE.parent / "README.md"
MARKS = re.compile(r"(<!-- benchmarks (\w+) -->)\n.*?(<!-- end -->)", re.DOTALL)
PACKAGES = {"tensorflow": "TensorFlow", "keras": "Keras", "jax": "JAX", "torch": "PyTorch"}
BENCHMARKS = annotation, demo, dispatch, edge_types, gpu, latency, load, long_passages
BENCHMARKS += memory_networks, raw_text, recurrence, study, supervised_attention
BENCHMARKS = {benchmark.__name__: benchmark for benchmark in BENCHMARKS}
SHOWN = (100, 1000)


def compare_recurrence(layer, backend, length):
    """The fastest rows of Keras' GRU and of a layer, in training."""
    rows = records.read("recurrence")["times"]
    which = {"backend": backend, "length": length, "pass": STEP}
    return [records.fastest(rows, **which, layer=name) for name in (BASELINE, layer)]


def list_comparisons():
    """What is compared with what, and the fastest rows of the plain one and of ours."""
    if records.read("recurrence"):
        gru = "`keras.layers.Bidirectional(GRU)`"
        for layer, name, more in ((COREF, "CorefGRU", ""), (MAGE, "MAGEGRU", ", two edge types")):
            for length in SHOWN:
                pair = compare_recurrence(layer, "TensorFlow", length)
                yield f"`{name}`, {length:,} tokens{more}", gru, pair
    if memories := records.read("memory_networks"):
        pairs = memory_networks.compare(memories["rows"])
        rnn = "`keras.layers.RNN` of the same cell"
        yield "`EntityMemory` of REN", rnn, pairs["REN"]
        yield "`EpisodicMemory`", rnn, pairs["DMN"]
        yield "`HashDropout`", "`keras.layers.Dropout`", pairs["dropout"]
    if readers := records.read("supervised_attention"):
        ours = "`zoo.BiDAFReader`, self-attention supervised"
        plain = "the same of `keras.layers.GRU` and `MultiHeadAttention`"
        pair = [records.fastest(readers["rows"], name=name) for name in ("plain", "ours")]
        yield ours, plain, pair


def make_summary():
    """Our time by that of the fastest plain way, as Markdown; empty where nothing is recorded."""
    table = [("a training step of", "beside", "modes", "takes of its time")]
    for ours, beside, (plain, fused) in list_comparisons():
        share = f"{fused['ms'] / plain['ms']:.0%}"
        table.append((ours, beside, f"{fused['mode']}; {plain['mode']}", share))
    return markdown_table(table, text_columns=3) if table[1:] else ""


def write_sentence():
    """A sentence on `CorefGRU`; empty where nothing is recorded."""
    if not records.read("recurrence"):
        return ""
    shares = []
    for backend in ("TensorFlow", "JAX"):
        for length in SHOWN:
            plain, ours = compare_recurrence(COREF, backend, length)
            share = f"{ours['ms'] / plain['ms']:.0%} at {length:,} tokens on {backend}"
            shares.append(f"{share} (Keras: {plain['mode']})")
    shares = ", ".join(shares)
    return (
        "A training step of `CorefGRU` on two CPU cores takes, of the time of Keras' bidirectional "
        f"GRU in its fastest mode, {shares}."
    )


SUMMARIES = {"summary": make_summary, "speed": write_sentence}


def show(name):
    """The tables of a benchmark and what made them, or a summary of several."""
    if name in SUMMARIES:
        return SUMMARIES[name]() or "Not measured yet: run `python benchmarks/all.py`."
    content = records.read(name)
    if content is None:
        return f"Not measured yet: run `python benchmarks/{name}.py`."
    versions = content["versions"].items()
    made = ", ".join(f"{PACKAGES[package]} {version}" for package, version in versions)
    made = f"Made by `{content['command']}` on {content['cores']} cores, {made}"
    if "load" in content:
        made += ", load {:.1f} before and {:.1f} after".format(*content["load"])
    return f"{BENCHMARKS[name].make_table(content)}\n\n{made}."


def fill(page):
    """A page with the records between its marks."""
    return MARKS.sub(lambda match: f"{match[1]}\n{show(match[2])}\n{match[3]}", page)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")
