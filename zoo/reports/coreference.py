"""Tables of coreference scores."""

import os
import pathlib
from typing import Annotated, Any, Literal, NotRequired

import pydantic
from typing_extensions import TypedDict

from keras_corefmem.graphs.coreference.scores import METRICS
from keras_corefmem.utils.files import load_json
from keras_corefmem.utils.markdown import markdown_table
from zoo.reports.scores import made_by

Scores = dict[str, Any]


class _Score(TypedDict):
    f1: float


class _Seconds(TypedDict):
    resolver: float


class _Pipeline(TypedDict):
    name: str


class _Measured(TypedDict):
    tokens: int
    seconds: _Seconds
    command: str
    pipeline: NotRequired[_Pipeline]


class _GapScores(TypedDict):
    overall: _Score
    masculine: _Score
    feminine: _Score
    bias: float | None


class _Gap(_Measured):
    dataset: Literal["gap"]
    part: str
    scores: _GapScores


class _LitBankScores(TypedDict):
    mentions: _Score
    muc: _Score
    b3: _Score
    ceafe: _Score
    conll: float


class _LitBank(_Measured):
    dataset: Literal["litbank"]
    mentions: str
    scores: dict[str, _LitBankScores]


_Record = Annotated[_Gap | _LitBank, pydantic.Field(discriminator="dataset")]
REMEDY = "give its `corefmem score` command again."
RATE = "tokens/s of the resolver"


def coreference_tables(folder: str | os.PathLike = "results") -> str:
    """Makes Markdown tables of the scores that `corefmem score` wrote into a folder of results."""
    paths = sorted(pathlib.Path(folder, "coreference").glob("*.json"))
    records: list[Scores] = [load_json(p, remedy=REMEDY, kind=_Record) for p in paths]
    if not records:
        return "Nothing is scored yet: `corefmem score` does it."
    litbank = [["LitBank, F1 in %", "mentions", "MUC", "B³", "CEAFe", "CoNLL", RATE]]
    gap = [["GAP, F1 in %", "all", "masculine", "feminine", "bias", RATE]]
    pipelines = [content.get("pipeline", {"name": "unknown"})["name"] for content in records]
    for content, pipeline in zip(records, pipelines, strict=True):
        scores, whose = content["scores"], f", `{pipeline}`" if len({*pipelines}) > 1 else ""
        if content["dataset"] == "gap":
            cells = _percents(scores, ("overall", "masculine", "feminine"))
            bias = "–" if scores["bias"] is None else f"{scores['bias']:.2f}"
            gap.append([content["part"] + whose, *cells, bias, _rate(content)])
            continue
        for which, part in scores.items():
            name = f"{content['mentions']} mentions"
            name += "" if which == "all" else ", without singletons"
            cells = [*_percents(part, ("mentions", *METRICS)), f"{100 * part['conll']:.1f}"]
            litbank.append([name + whose, *cells, _rate(content)])
    commands = (content["command"] for content in records)
    return "\n\n".join([markdown_table(litbank), markdown_table(gap), made_by(*commands)])


def _percents(scores: Scores, names: tuple[str, ...]) -> list[str]:
    return [f"{100 * scores[name]['f1']:.1f}" for name in names]


def _rate(content: Scores) -> str:
    """Formats the tokens per second of the resolver alone, in whole thousands."""
    return f"{content['tokens'] / max(content['seconds']['resolver'], 0.1) // 1000 * 1000:,.0f}"
