"""The tables of coreference scores in the README."""

import pathlib

from keras_corefmem.graphs.coreference.scores import METRICS
from keras_corefmem.utils.files import load_json


def tables(folder="results"):
    """Tables of what `corefmem score` wrote, as Markdown.

    Args:
        folder: folder of results.
    """
    paths = sorted(pathlib.Path(folder, "coreference").glob("*.json"))
    found = [load_json(path) for path in paths]
    if not found:
        return "Nothing is scored yet: `corefmem score` does it."
    parts = [
        make([content for content in found if content["dataset"] == dataset])
        for dataset, make in (("litbank", litbank_table), ("gap", gap_table))
    ]
    commands = "\n".join(content["command"] for content in found)
    return "\n\n".join([*parts, f"Made by\n```\n{commands}\n```"])


def litbank_table(contents):
    """F1 of each metric in percent, for predicted and gold mentions."""
    lines = [
        "| LitBank, F1 in % | mentions | MUC | B³ | CEAFe | CoNLL | tokens/s of the resolver |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for content in contents:
        for which, scores in content["scores"].items():
            numbers = [scores[name]["f1"] for name in ("mentions", *METRICS)] + [scores["conll"]]
            cells = " | ".join(f"{100 * number:.1f}" for number in numbers)
            name = f"{content['mentions']} mentions"
            name += "" if which == "all" else ", without singletons"
            lines.append(f"| {name} | {cells} | {rate(content)} |")
    return "\n".join(lines)


def gap_table(contents):
    """F1 in percent over all pronouns and by gender."""
    lines = [
        "| GAP, F1 in % | all | masculine | feminine | bias | tokens/s of the resolver |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for content in contents:
        scores = content["scores"]
        names = ("overall", "masculine", "feminine")
        cells = " | ".join(f"{100 * scores[name]['f1']:.1f}" for name in names)
        lines.append(f"| {content['part']} | {cells} | {scores['bias']:.2f} | {rate(content)} |")
    return "\n".join(lines)


def rate(content):
    """Tokens a second of the resolver alone, to the thousand."""
    return f"{content['tokens'] / max(content['seconds']['resolver'], 0.1) // 1000 * 1000:,.0f}"
