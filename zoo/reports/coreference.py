"""Tables of coreference scores."""

import os
import pathlib
from typing import Any

from keras_corefmem.graphs.coreference.scores import METRICS
from keras_corefmem.utils.files import load_json
from keras_corefmem.utils.markdown import markdown_table
from zoo.reports.scores import made_by

Scores = dict[str, Any]
RATE = "tokens/s of the resolver"


def coreference_tables(folder: str | os.PathLike = "results") -> str:
    """Makes tables of what `corefmem score` wrote into a folder of results, as Markdown."""
    records = list(map(load_json, sorted(pathlib.Path(folder, "coreference").glob("*.json"))))
    if not records:
        return "Nothing is scored yet: `corefmem score` does it."
    litbank = [["LitBank, F1 in %", "mentions", "MUC", "B³", "CEAFe", "CoNLL", RATE]]
    gap = [["GAP, F1 in %", "all", "masculine", "feminine", "bias", RATE]]
    for content in records:
        scores = content["scores"]
        if content["dataset"] == "gap":
            cells = _percents(scores, ("overall", "masculine", "feminine"))
            gap.append([content["part"], *cells, f"{scores['bias']:.2f}", _rate(content)])
            continue
        for which, part in scores.items():
            name = f"{content['mentions']} mentions"
            name += "" if which == "all" else ", without singletons"
            cells = [*_percents(part, ("mentions", *METRICS)), f"{100 * part['conll']:.1f}"]
            litbank.append([name, *cells, _rate(content)])
    commands = (content["command"] for content in records)
    return "\n\n".join([markdown_table(litbank), markdown_table(gap), made_by(*commands)])


def _percents(scores: Scores, names: tuple[str, ...]) -> list[str]:
    return [f"{100 * scores[name]['f1']:.1f}" for name in names]


def _rate(content: Scores) -> str:
    """Tokens a second of the resolver alone, to the thousand."""
    return f"{content['tokens'] / max(content['seconds']['resolver'], 0.1) // 1000 * 1000:,.0f}"
