import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def ud_pipeline():
    """A spaCy pipeline without `pos_`, whose tags join XPOS and features."""
    data = os.environ.get("COREFMEM_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data")
    folder = pathlib.Path(data).parent / "models" / "en_ud_small"
    if not folder.is_dir():
        pytest.skip(f"no spaCy pipeline at {folder}")
    return pytest.importorskip("spacy").load(folder)
