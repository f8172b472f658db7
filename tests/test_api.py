"""The API reference is made of the docstrings."""

import importlib.util
import pathlib

import zoo

PATH = pathlib.Path(__file__).parents[1] / "docs" / "api.py"
spec = importlib.util.spec_from_file_location("api", PATH)
api = importlib.util.module_from_spec(spec)
spec.loader.exec_module(api)


def test_the_reference_has_every_module_and_what_is_imported_late(tmp_path, monkeypatch):
    names = list(api.modules())
    assert {"zoo", "tuning", "keras_corefmem.layers.rnn.coref_gru", "zoo.training.fitting"} <= set(
        names
    )
    assert len(names) == len(set(names)) > 100
    chosen = ["zoo", "keras_corefmem.layers.core.highway"]
    monkeypatch.setattr(api, "modules", lambda: chosen)
    api.main(tmp_path)
    page = (tmp_path / "zoo.html").read_text()
    assert all(f'id="{name}"' in page for name in zoo.__all__)
    assert "gated by what the question makes of its tokens" in page
    assert "σ(W" in (tmp_path / "keras_corefmem" / "layers" / "core" / "highway.html").read_text()
