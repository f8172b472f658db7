"""Writes outputs and gradients of layers on the backend of the environment."""

import sys

import numpy as np

from tests.support.conformance import supervised
from tests.support.conformance.fused import run

MAGE = ("mixed", "mixed_attention", "previous", "previous_shared")
NAMES = ("coref", "dag", "gru", *(f"mage_{name}" for name in MAGE))


def results():
    """Arrays by layer and what they are."""
    runs = {name: run(name, masked=name != "gru") for name in NAMES}
    runs["supervised"] = supervised.run()
    arrays = {"supervised loss": runs["supervised"].loss}
    for name, result in runs.items():
        arrays[f"{name} output"] = result.output
        for n, gradient in enumerate(result.gradients):
            arrays[f"{name} gradient {n}"] = gradient
    return arrays


if __name__ == "__main__":
    np.savez(sys.argv[1], **results())
