"""Layers of the conformance tests, their inputs, outputs and masks."""

import functools
import inspect
from collections import namedtuple

import keras
import numpy as np

from tests.support.conformance.cases import CASES
from tests.support.conformance.evaluation import compiled, randomize

BATCH, TIME, EXTRA = 3, 5, 3
Reference = namedtuple("Reference", "layer run output model")


def main(outputs):
    """The output that counts: the first of several."""
    return outputs[0] if isinstance(outputs, tuple | list) else outputs


def arrays_of(case, seed=0, time=TIME):
    return case.arrays(np.random.default_rng(seed), BATCH, time)


def make_layer(case, **options):
    """A built layer; one with a single direction has the first weights of one with two."""
    layer = case.make(**options)
    layer.build(*(array.shape for array in arrays_of(case)))
    randomize(layer, np.random.default_rng(7))
    return layer


def make_both_ways(case, **options):
    """A built layer that reads in both directions if it has two."""
    return make_layer(case, **options, **({"bidirectional": True} if case.recurrent else {}))


def make_model(case, layer, head=None):
    """A functional model with free batch and time that masks all-zero tokens."""
    inputs = [
        keras.Input((None, *array.shape[2:]) if timed else array.shape[1:], dtype=array.dtype.name)
        for array, timed in zip(arrays_of(case), case.timed, strict=True)
    ]
    tensors = list(inputs)
    if case.masked is not None:
        tensors[case.masked] = keras.layers.Masking()(tensors[case.masked])
    outputs = main(layer(*tensors))
    return keras.Model(inputs, outputs if head is None else head(outputs))


@functools.cache
def reference(case):
    """A layer, in both directions if it has two, compiled, and its output."""
    layer = make_both_ways(case)
    run = compiled(lambda *arrays: main(layer(*arrays)))
    return Reference(layer, run, run(*arrays_of(case)), make_model(case, layer))


def lengthened(case):
    """The inputs with masked tokens at the end of the axes that the mask covers, and the mask.

    Integers at masked tokens are 0, floats are anything.
    """
    arrays = arrays_of(case)
    others = arrays_of(case, seed=1, time=TIME + EXTRA)
    for n, timed in enumerate(case.timed):
        if timed and n not in case.apart:
            array, other = arrays[n], others[n]
            other[:, array.shape[1] :] *= other.dtype.kind == "f"
            other[:, : array.shape[1]] = array
            arrays[n] = other
    mask = np.ones(arrays[case.masked or 0].shape[:2], bool)
    mask[:, -EXTRA:] = False
    return arrays, mask


def parameters_of(case):
    return inspect.signature(case.make().call).parameters


# Arguments that are masks, and the number of the input that each is for, `None` for all.
MASKS = {"mask": None, "context_mask": 0, "question_mask": 1, "query_mask": 1}
CLEARED = {
    case: {name: MASKS[name] for name in MASKS if name in parameters_of(case)} for case in CASES
}
CLEARED = {case: names for case, names in CLEARED.items() if names}


def masks_of(case, lengths=(2, 4, 3)):
    """Masks of the case, by argument and by input, of texts of these lengths."""
    arrays, by_name, by_input = arrays_of(case), {}, {}
    for name, number in CLEARED[case].items():
        timed = [n for n, timed in enumerate(case.timed) if timed and n not in case.apart]
        for n in timed if number is None else [number]:
            # Characters have masks of their own.
            shape = arrays[n].shape[: 3 if case.inputs == "characters" else 2]
            read = np.arange(shape[1]) < np.array(lengths)[:, None]
            mask = np.broadcast_to(read.reshape(*read.shape, *[1] * (len(shape) - 2)), shape)
            by_input[n] = by_name[name] = mask
    return by_name, by_input
