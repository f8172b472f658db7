"""Answers of a model, with the HTML that shows them and the code that reproduces them."""

import dataclasses
import json
import shlex
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from keras_corefmem.datasets import Example
from keras_corefmem.visualization import TokenView
from keras_corefmem.visualization.pages import odds_to_html, view_to_html
from zoo.reading.answers import number_of_answers, read_encoded, reads_links

# Number of answers shown; largest number of sentences of a story whose beginnings are read too.
TOP, BEGINNINGS = 5, 100


class Answer(NamedTuple):
    """The parts of an answer that are shown."""

    odds: dict[str, float]
    unknown_words: tuple[str, ...]
    views: list[Any]

    @property
    def html(self) -> str:
        return odds_to_html(self.odds) + "".join(map(view_to_html, self.views))


def answer(
    model: Any,
    example: Example,
    views: Sequence | None = None,
    answer_views: Mapping[str, Any] | None = None,
) -> Answer:
    """Answers a question, and makes views of the model's attention.

    Args:
        model: the model.
        example: the question.
        views, answer_views: results of the model's methods of these names, if already computed.
    """
    if not model.preprocessor.reads_edges:
        texts = example.sentences, example.question, example.answer
        example = Example(*texts, example.supporting_facts, is_raw=example.is_raw)
    # The page itself names unknown words.
    with warnings.catch_warnings(action="ignore"):
        encoded = model.preprocessor.encode(example)
        top = number_of_answers(model.preprocessor, TOP)
        rows = [(example.passage, example.question)]
        (reading,) = read_encoded(model, rows, [encoded], top)
        shown = [*(model.views([example])[0] if views is None else views)]
        if not reads_links(model):
            shown = [_without_chains(view) for view in shown]
        if answer_views is None and (1 < len(example.sentences) <= BEGINNINGS or not shown):
            (answer_views,) = model.answer_views([example])
        shown += (answer_views or {}).values()
    odds = dict(zip(reading.answers, reading.probabilities, strict=True))
    return Answer(odds, reading.unknown_words, shown)


def _without_chains(view: Any) -> Any:
    """Returns a view without chains, for a model that does not read them."""
    if not isinstance(view, TokenView):
        return view
    nothing = {name: np.zeros_like(getattr(view, name)) for name in ("chains", "question_chains")}
    return dataclasses.replace(view, **nothing)


def as_python(handle: str, example: Example, annotator: str | None = None) -> str:
    """Returns a program that asks the same question, with its own links if not annotated."""
    load = "load" if handle.endswith(".keras") else "from_preset"
    lines = ["import zoo", "", f"model = zoo.{load}({handle!r})"]
    fields = "candidates", "chain_ids", "chains", "edges"
    names = [name for name in fields if getattr(example, name, ())]
    if names and not annotator:
        kind = type(example).__name__
        lines[1:1] = [f"from keras_corefmem.datasets import {kind}"]
        lines[2:2] = ["from zoo.reading import read_examples"]
        lines += [
            f"example = {kind}(",
            f"    {example.sentences!r},",
            f"    {example.question!r},",
            '    "[unknown]",',
            *(f"    {name}={getattr(example, name)!r}," for name in names),
            *(["    is_raw=True,"] if example.is_raw else []),
            ")",
            "(reading,) = read_examples(model, [example])",
        ]
    else:
        lines += [
            "reading = model.read(",
            f"    {example.passage!r},",
            f"    {example.question!r},",
        ]
        lines += [f"    annotator={annotator!r},", ")"] if annotator else [")"]
    return "\n".join([*lines, "print(reading.answer, reading.probability)"])


def as_curl(address: str, handle: str, example: Example, annotator: str | None = None) -> str:
    """Returns a command that asks this page the same question, without candidates of its own."""
    if getattr(example, "candidates", ()):
        return "# This question has candidates, which the page takes from Python alone."
    url = f"{address}/gradio_api/call/read"
    chains = example.chains or (() if annotator else getattr(example, "chain_ids", ()))
    request = [handle, example.passage, example.question, chains, example.edges]
    data = json.dumps({"data": [*request, annotator or ""]}, ensure_ascii=False)
    ask = f"curl -s {url} -H 'Content-Type: application/json' \\\n  -d {shlex.quote(data)}"
    return f"curl -N {url}/$({ask} | cut -d'\"' -f4)"
