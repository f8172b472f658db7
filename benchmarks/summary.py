"""What the pages of layers and of the repository say of speed."""

import memory_networks
import records
from recurrence import BASELINE, COREF, MAGE, STEP

from keras_corefmem.utils.markdown import markdown_table

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


def make_table():
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


PARTS = {"summary": make_table, "speed": write_sentence}
