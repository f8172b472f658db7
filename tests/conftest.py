import gc
import json
import os
import pathlib
import sys

import pytest

# Graphs are so many objects that looking for garbage among them took a tenth of the time.
gc.set_threshold(200_000, 20, 100)
# Each core has a process of its own.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ |= {"TF_NUM_INTRAOP_THREADS": "1", "OMP_NUM_THREADS": "1"}


def pytest_configure(config):
    """Has XLA compile without optimizing, but for thorough tests: what is compiled hardly runs."""
    if config.option.markexpr != "thorough":
        flags = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
        os.environ.setdefault("XLA_FLAGS", flags)


def pytest_runtest_setup(item):
    """Has graphs of TensorFlow run as they are traced, but for those of layers and thorough tests.

    To optimize them is a seventh of the time, and models here are too small to gain from it.
    Processes that tests start do as TensorFlow does.
    """
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow and item.config.option.markexpr != "thorough":
        as_traced = "layers" not in item.path.parts
        options = {"disable_meta_optimizer": as_traced}
        tensorflow.config.optimizer.set_experimental_options(options)


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


@pytest.fixture(scope="session")
def real_cnn(real_data):
    """Five questions of CNN, as rows of a table and as examples."""
    from keras_corefmem.datasets import as_examples

    data = json.loads(real_data("formats/cnn_train_snippet5.jtr.json").read_text())
    rows = [
        {
            "context": instance["support"]["text"],
            "question": question["question"],
            "answer": question["answers"][0]["text"],
        }
        for instance in data["instances"]
        for question in instance["questions"]
    ]
    return rows, as_examples(rows)


@pytest.fixture(scope="session")
def ud_pipeline():
    """A spaCy pipeline without `pos_`, whose tags join XPOS and features."""
    data = os.environ.get("COREFMEM_DATA", pathlib.Path(__file__).parents[2] / "shared" / "data")
    folder = pathlib.Path(data).parent / "models" / "en_ud_small"
    if not folder.is_dir():
        pytest.skip(f"no spaCy pipeline at {folder}")
    return pytest.importorskip("spacy").load(folder)
