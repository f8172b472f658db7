import json

import pytest

from tests.support.texts.tiny_babi import write_babi

SPACE = {"slots": [2, 3, 4], "learning_rate": {"low": 0.001, "high": 0.05, "log": True}}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A tiny bAbI with task 1 alone, and a search space."""
    folder = tmp_path_factory.mktemp("data")
    write_babi(folder, train=30, valid=5, test=11)
    (folder / "own.json").write_text(json.dumps(SPACE))
    (folder / "broken.json").write_text(json.dumps({"slots": [2], "train_size": [31, 30]}))
    (folder / "mentions.json").write_text(json.dumps({"mentions": [0.25, 1.0]}))
    return folder
