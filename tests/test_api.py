"""The API reference lists the public names."""

import importlib.util
import pathlib

import pytest

import zoo

pytest.importorskip("mkdocstrings")

PATH = pathlib.Path(__file__).parents[1] / "docs" / "hooks.py"
spec = importlib.util.spec_from_file_location("hooks", PATH)
hooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hooks)


def test_the_reference_of_a_room_has_its_public_names():
    page = hooks.reference("zoo")
    assert all(
        f"heading: zoo.{name}," in page for name in zoo.__all__ if callable(getattr(zoo, name))
    )
    assert "::: zoo.architectures.passage." in page
