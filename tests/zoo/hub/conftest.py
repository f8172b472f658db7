"""A preset, and its folder."""

import pytest

import zoo


@pytest.fixture(scope="module")
def original():
    return zoo.from_preset("qrn_babi_1")


@pytest.fixture
def folder(original, tmp_path):
    original.save_to_preset(tmp_path / "reader")
    return tmp_path / "reader"
