import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def babi_dir():
    """The folder that holds bAbI's `tasks_1-20_v1-2`."""
    beside = pathlib.Path(__file__).resolve().parents[1] / "../shared/data"
    folder = pathlib.Path(os.environ.get("COREFMEM_DATA", beside)) / "babi"
    if not (folder / "tasks_1-20_v1-2").is_dir():
        pytest.skip(
            f"no bAbI data in {folder}; set COREFMEM_DATA to a folder with babi/tasks_1-20_v1-2"
        )
    return folder
