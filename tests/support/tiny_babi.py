"""A tiny bAbI with task 1 alone."""

from keras_corefmem.datasets.stories import babi, simulator


def write_babi(folder, **sizes):
    """Writes the parts of some sizes, by name, into the language folder `en-valid`; returns it."""
    folder = folder / "en-valid"
    folder.mkdir()
    for seed, (part, size) in enumerate(sizes.items()):
        babi.write_file(simulator.simulate(1, size, seed), folder / f"qa1_{part}.txt")
    return folder
