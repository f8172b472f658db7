import concurrent.futures

import keras
import numpy as np
import pytest

from keras_corefmem.datasets.stories import simulator
from tests.support.conformance.evaluation import JIT
from tuning.workers import free_port
from zoo import training
from zoo.architectures.devices import resolve_jit, rows_of
from zoo.training import data_parallel

# Compiling is most of these tests.
QUICK = "--xla_backend_optimization_level=0"
TWO_DEVICES = f"--xla_force_host_platform_device_count=2 {QUICK}"
STORIES = simulator.simulate(1, 4)
SETTINGS = training.Settings.of("as-gru", arguments={"units": 4})

TRAIN = """
import json, os, sys
import keras
from keras_corefmem.datasets import Splits, simulator
from zoo import training
from zoo.training import data_parallel
from zoo.training.parallel import first_tensorflow_devices

stories = simulator.simulate(1, 30)
arguments = {"units": 8, "embedding_dim": 8, "dropout": 0.0}
settings = {"batch_size": 8, "buckets": 1, "learning_rate": 0.02, "clip_norm": 0.005}
settings = training.Settings.of("as-coref-gru", **settings, arguments=arguments)
result, together = [], "KERAS_DISTRIBUTION_NUM_PROCESSES" in os.environ
if together:
    keras.distribution.initialize()
if keras.backend.backend() == "tensorflow":
    first_tensorflow_devices(2)
for devices in data:
    with data_parallel(devices):
        model, batches = training.prepare(Splits(stories[:24], stories[24:], []), settings)
        losses = model.fit(batches["train"], epochs=3, verbose=0).history["loss"]
        valid = {"loss": 0, "wrong": []} if together else training.evaluate(model, batches["valid"])
        weights = [weight.tolist() for weight in model.get_weights()]
        norm = model.optimizer.gradient_norm
        if together:
            try:
                training.evaluate(model, batches["valid"])
            except ValueError as error:
                valid["wrong"].append(str(error))
        result.append([losses, valid["loss"], valid["wrong"], model.jit_compile, weights, norm])
"""

# The steps of all ways to clip gradients, one and two devices by turns.
CLIP = """
import keras
import numpy as np
from keras_corefmem import optimizers
from zoo.training import data_parallel
from zoo.training.parallel import first_tensorflow_devices

tokens = np.random.default_rng(0).integers(0, 9, (16, 5)).astype("int32")
labels = tokens[:, 0] % 3

def train(devices, clip):
    keras.utils.set_random_seed(0)
    with data_parallel(devices):
        words = keras.Input((5,), dtype="int32")
        x = keras.layers.Flatten()(keras.layers.Embedding(9, 4)(words))
        model = keras.Model(words, keras.layers.Dense(3)(x))
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizers.SGD(0.5, **clip), loss, jit_compile=False)
        losses = model.fit(tokens, labels, 8, 3, verbose=0, shuffle=False).history["loss"]
        return [*losses, model.optimizer.gradient_norm]

first_tensorflow_devices(2)
result = [[train(devices, clip) for devices in (1, 2)] for clip in data]
"""


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
@pytest.mark.thorough
def test_two_devices_learn_what_one_does(run_python, backend):
    environment = {"KERAS_BACKEND": backend, "XLA_FLAGS": TWO_DEVICES}
    one, two = run_python(TRAIN, [1, 2], **environment)
    np.testing.assert_allclose(two[0], one[0], rtol=1e-5)
    assert two[1] == pytest.approx(one[1], rel=1e-5) and two[2] == one[2]
    assert one[0][-1] < one[0][0] and one[3] and two[3] == (backend == "jax")
    assert two[5] == pytest.approx(one[5], rel=1e-5) and one[5] > 0.005
    for first, second in zip(one[4], two[4], strict=True):
        np.testing.assert_allclose(second, first, atol=1e-4)


@pytest.mark.thorough
@pytest.mark.skipif(JIT, reason="the run on TensorFlow has it")
def test_two_devices_clip_gradients_as_one_does(run_python):
    clips = [{"clipnorm": 0.1}, {"clipvalue": 0.02}]
    runs = run_python(CLIP, clips, KERAS_BACKEND="tensorflow")
    for one, two in runs:
        np.testing.assert_allclose(two, one, rtol=1e-5)
    # Each clips, in a way of its own.
    assert len({one[-2] for one, _ in runs}) == len(clips)


# Texts on one and two devices: evaluation and predictions.
TEXTS = """
import keras, zoo
from tests.support.model_cases import STORIES, TAGGED
from zoo.training import data_parallel
from zoo.training.parallel import first_tensorflow_devices

def numbers(name, examples, devices):
    with data_parallel(devices):
        keras.utils.set_random_seed(1)
        model = getattr(zoo, name).from_examples(examples, units=4)
        model.compile(jit_compile=False)
        evaluated = model.evaluate(examples, batch_size=10, verbose=0)
        return evaluated, model.predict(examples, batch_size=10, verbose=0).tolist()

if keras.backend.backend() == "tensorflow":
    first_tensorflow_devices(2)
models = {"QueryReductionNetwork": STORIES[:14], "SentenceDynamicMemoryNetwork": TAGGED[:14]}
result = [[numbers(*model, devices) for devices in (1, 2)] for model in models.items()]
"""


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
@pytest.mark.thorough
def test_texts_on_two_devices_are_those_on_one(run_python, backend):
    for one, two in run_python(TEXTS, None, KERAS_BACKEND=backend, XLA_FLAGS=TWO_DEVICES):
        assert two[0] == pytest.approx(one[0], rel=1e-4)
        np.testing.assert_allclose(two[1], one[1], atol=1e-4)


# Devices that get unequal numbers of words of a batch or, on TensorFlow, of rows.
UNEQUAL = """
import keras, zoo
from keras_corefmem import optimizers
from tests.support.model_cases import LABELLED, TAGGED
from zoo.training import data_parallel
from zoo.training.parallel import first_tensorflow_devices

def learn(examples, devices, arrays):
    with data_parallel(devices):
        keras.utils.set_random_seed(1)
        options = {"units": 4, "dropout": 0.0, "l2": 0.01}
        model = zoo.SentenceDynamicMemoryNetwork.from_examples(examples, **options)
        model.compile(optimizers.SGD(0.5), jit_compile=False)
        features, answers, _ = model.batches(examples, 21)[0]
        try:
            model.evaluate(features, answers, batch_size=7, verbose=0)
            refused = ""
        except ValueError as error:
            refused = str(error)
        if arrays:
            losses = model.fit(features, answers, batch_size=10, epochs=2, shuffle=False, verbose=0)
        else:
            losses = model.fit(model.batches(examples, 8, shuffle=True), epochs=2, verbose=0)
        weights = [weight.tolist() for weight in model.get_weights()]
        return [losses.history["loss"], weights, refused]

on_tensorflow = keras.backend.backend() == "tensorflow"
if on_tensorflow:
    first_tensorflow_devices(2)
runs = [(TAGGED[:21], False)] + [(LABELLED[:21], True)] * on_tensorflow
result = [[learn(run[0], devices, run[1]) for devices in (1, 2)] for run in runs]
"""


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
@pytest.mark.thorough
def test_two_devices_with_unequal_parts_learn_what_one_does(run_python, backend):
    for one, two in run_python(UNEQUAL, None, KERAS_BACKEND=backend, XLA_FLAGS=TWO_DEVICES):
        np.testing.assert_allclose(two[0], one[0], rtol=1e-5)
        for first, second in zip(one[1], two[1], strict=True):
            np.testing.assert_allclose(second, first, atol=1e-5)
        assert not one[2] and "The devices cannot share a batch" in two[2]


@pytest.mark.thorough
def test_two_processes_learn_what_one_does(run_python):
    address = f"127.0.0.1:{free_port()}"
    environment = {
        "KERAS_BACKEND": "jax",
        "XLA_FLAGS": QUICK,
        "KERAS_DISTRIBUTION_JOB_ADDRESSES": address,
        "KERAS_DISTRIBUTION_NUM_PROCESSES": "2",
    }

    def run(number):
        return run_python(TRAIN, [None], **environment, KERAS_DISTRIBUTION_PROCESS_ID=str(number))

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        whole = pool.submit(run_python, TRAIN, [1], KERAS_BACKEND="jax", XLA_FLAGS=TWO_DEVICES)
        first, second = pool.map(run, range(2))
        (alone,) = whole.result()
    for shared in (first[0], second[0]):
        np.testing.assert_allclose(shared[0], alone[0], rtol=1e-5)
        assert "Processes that share each batch cannot predict it" in shared[2][0]
        for one, other in zip(alone[4], shared[4], strict=True):
            np.testing.assert_allclose(other, one, atol=1e-4)


def test_rows_that_cannot_be_shared_are_refused():
    reader = training.make_model(STORIES, SETTINGS)
    batches = reader.batches(STORIES, batch_size=4)
    shares = [rows_of(batches[0], n, 2) for n in range(2)]
    whole = keras.tree.map_structure(lambda *rows: np.concatenate(rows), *shares)
    keras.tree.map_structure(np.testing.assert_array_equal, whole, batches[0])
    with pytest.raises(ValueError, match="3 processes cannot share a batch of 4 rows"):
        rows_of(batches[0], 0, 3)


def test_more_devices_than_there_are_are_refused():
    for devices in (9999, 0):
        with pytest.raises(ValueError, match=f"devices={devices}, but (JAX|TensorFlow) sees"):
            with data_parallel(devices):
                pass


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow's strategies")
def test_what_does_not_work_is_refused():
    import tensorflow as tf

    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        model = training.make_model(STORIES, SETTINGS)
        assert not model.jit_compile
        with pytest.raises(ValueError, match="jit_compile=True does not work under a tf.distrib"):
            model.compile(jit_compile=True)
    with tf.distribute.MultiWorkerMirroredStrategy().scope():
        with pytest.raises(ValueError, match="Keras cannot fit under MultiWorkerMirroredStrategy"):
            resolve_jit(None)
    assert resolve_jit(None) is True and resolve_jit(False) is False
