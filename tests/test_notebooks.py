"""The notebooks run from the first cell to the last."""

import pathlib

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert {"zoo_model", "own_model", "search", "tensorboard", "annotate"} <= set(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
@pytest.mark.thorough
def test_notebooks_run(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    # Tiny models compile for longer than they train.
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
    book = nbformat.read(FOLDER / f"{name}.ipynb", nbformat.NO_CONVERT)
    shown = [kinds(cell) for cell in book.cells]
    NotebookClient(book, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    # What it shows, it still shows: pictures and values, in the same cells.
    assert [kinds(cell) for cell in book.cells] == shown


def kinds(cell):
    """What a cell gives: pictures and values, but not what is printed on the way."""
    given = (output for output in cell.get("outputs", []) if "data" in output)
    return [
        sorted(output.data)
        for output in given
        if output.output_type == "execute_result" or "image/png" in output.data
    ]
