"""Public names are documented as the contributor's page says, and their examples run."""

import doctest
import importlib
import inspect

import keras
import numpy as np
import pytest

import keras_corefmem
import zoo

ROOMS = (
    *(f"keras_corefmem.{name}" for name in keras_corefmem.__all__),
    "keras_corefmem.graphs.coreference",
    *("zoo", "zoo.reports", "zoo.training", "zoo.experiments", "tuning"),
)
NAMES = {"np": np, "keras": keras, "keras_corefmem": keras_corefmem, "zoo": zoo}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def public():
    """Classes and functions that a room exports, by their full name."""
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield pytest.param(thing, id=f"{room}.{name}")


@pytest.mark.parametrize("thing", list(public()))
def test_public_names_are_documented_and_their_examples_run(thing, tmp_path, monkeypatch):
    text = inspect.getdoc(thing) or ""
    needs_arguments = bool(inspect.signature(thing).parameters)
    assert not needs_arguments or "Args:" in text, f"{thing.__qualname__} lacks Args:"
    (example,) = doctest.DocTestFinder(recurse=False).find(thing, globs=dict(NAMES))
    assert example.examples, f"{thing.__qualname__} lacks an example (>>>)"
    monkeypatch.chdir(tmp_path)
    result = doctest.DocTestRunner(optionflags=FLAGS).run(example)
    assert not result.failed
