"""A tiny bAbI."""

from keras_corefmem.datasets.stories import babi, simulator


def write_babi(folder, tasks=(1,), **sizes):
    """Writes the parts of some sizes, by name, into the language folder `en-valid`; returns it.

    Tasks that the simulator does not know have the questions of task 1.
    """
    folder = folder / "en-valid"
    folder.mkdir()
    for task in tasks:
        known = task if task in simulator.TASKS else 1
        for seed, (part, size) in enumerate(sizes.items()):
            examples = simulator.simulate(known, size, seed)
            babi.write_file(examples, folder / f"qa{task}_{part}.txt")
    return folder
