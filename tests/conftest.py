import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def real_data():
    """A function from a path to a real file or folder of data; it skips the test without one."""
    beside = pathlib.Path(__file__).resolve().parents[1] / "../shared/data"
    folder = pathlib.Path(os.environ.get("COREFMEM_DATA", beside))

    def find(path):
        if not (folder / path).exists():
            pytest.skip(f"no {path} in {folder}; set COREFMEM_DATA to a folder with {path}")
        return folder / path

    return find


@pytest.fixture(scope="session")
def babi_dir(real_data):
    """The folder that holds bAbI's `tasks_1-20_v1-2`."""
    return real_data("babi/tasks_1-20_v1-2").parent
