"""The API reference lists the public names."""

import importlib.util
import pathlib
import re

import pytest

pytest.importorskip("mkdocstrings")

from mkdocs.commands.build import build
from mkdocs.config import load_config

PATH = pathlib.Path(__file__).parents[1] / "docs" / "hooks.py"
spec = importlib.util.spec_from_file_location("hooks", PATH)
hooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hooks)


def test_the_reference_of_each_room_has_its_public_names():
    for room in hooks.ROOMS:
        page, module = hooks.reference(room), importlib.import_module(room)
        names = [name for name in module.__all__ if not name.isupper()]
        names = [name for name in names if f"{room}.{name}" not in hooks.ROOMS]
        assert names and all(f"heading: {room}.{name}," in page for name in names), room
    assert "::: zoo.architectures.passage." in hooks.reference("zoo")


def test_the_reference_of_the_zoo_has_what_all_models_do():
    page = hooks.reference("zoo")
    for path in ("text_model.TextModel.read", "trainer.TextTrainer.fit"):
        assert f"::: zoo.architectures.{path}\n    options: {{heading: model." in page
    assert "::: zoo.architectures.preset_model.PresetModel.from_preset\n" in page


@pytest.mark.slow
def test_call_arguments_are_a_section_of_the_site(tmp_path, monkeypatch):
    monkeypatch.chdir(PATH.parents[1])
    (tmp_path / "docs").mkdir()
    models = [part for part in hooks.reference("zoo").split("\n\n") if "zoo.Gated" in part]
    text = "\n\n".join(["::: keras_corefmem.layers.rnn.coref_gru.CorefGRU", *models])
    (tmp_path / "docs/index.md").write_text(text)
    places = {"docs_dir": str(tmp_path / "docs"), "site_dir": str(tmp_path / "site")}
    build(load_config("mkdocs.yml", nav=None, hooks=[], **places))
    page = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    section = page[page.index("Call arguments:") : page.index("Returns:")]
    names = re.findall(r"<(?:b|code)>(\w+)</", section)
    assert names[:2] == ["x", "antecedents"]
    # What readers are made of, though a class that they derive from defines it.
    assert "Makes an untrained reader" in page and "free_symbols" in page
