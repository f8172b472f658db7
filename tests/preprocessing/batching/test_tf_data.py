import keras
import numpy as np
import pytest

from keras_corefmem.datasets.stories import simulator
from keras_corefmem.preprocessing.batching.tf_data import EpochHooks, tensorflow_dataset
from tests.support.conformance.evaluation import QUICK
from zoo import EndToEndMemoryNetwork

STORIES = simulator.simulate(1, 40)


@pytest.fixture
def batches():
    """Shuffled batches of several lengths."""
    model = EndToEndMemoryNetwork.from_examples(STORIES, units=4)
    return model.batches(STORIES, buckets=[4, 16], batch_size=8, shuffle=True)


def test_every_epoch_has_the_batches_of_that_epoch(batches):
    pytest.importorskip("tensorflow")
    dataset, seen = tensorflow_dataset(batches), []
    assert int(dataset.cardinality()) == len(batches) == 5
    assert not dataset.options().autotune.enabled
    hooks = EpochHooks(batches)
    for epoch in range(3):
        hooks.on_epoch_begin(epoch)
        assert batches.epoch == epoch
        found = list(dataset.as_numpy_iterator())
        for n, batch in enumerate(found):
            keras.tree.map_structure(np.testing.assert_array_equal, batch, batches[n])
        lengths = {batch[0]["sentences"].shape[1] for batch in found}
        assert len(lengths) > 1
        seen.append(batches.order.tolist())
        hooks.on_epoch_end(epoch)
    assert seen[0] != seen[1] != seen[2]
    shapes = {name: spec.shape.as_list() for name, spec in dataset.element_spec[0].items()}
    words = batches.preprocessor.sentence_length
    assert shapes == {"sentences": [8, None, words], "question": [8, words]}


def test_a_single_batch_is_enough():
    pytest.importorskip("tensorflow")
    model = EndToEndMemoryNetwork.from_examples(STORIES, units=4)
    (batch,) = tensorflow_dataset(model.batches(STORIES[:3])).as_numpy_iterator()
    answers = [model.preprocessor.answers.index(story.answer) for story in STORIES[:3]]
    assert batch[1][:3].tolist() == answers and not batch[1][3:].any()


@pytest.mark.thorough
def test_training_is_that_of_keras_own_dataset():
    histories = []
    for fit in (EndToEndMemoryNetwork.fit, keras.Model.fit):
        keras.utils.set_random_seed(1)
        model = EndToEndMemoryNetwork.from_examples(STORIES, units=4, linear_start=0)
        model.compile(**QUICK)
        # Not shuffled: Keras begins with the second epoch of what is.
        batches, validation = (model.batches(part) for part in (STORIES, STORIES[:9]))
        options = {"validation_data": validation, "epochs": 3, "verbose": 0, "shuffle": False}
        histories.append(fit(model, batches, **options).history)
    assert set(histories[0]) == set(histories[1])
    for name, values in histories[0].items():
        np.testing.assert_allclose(values, histories[1][name], rtol=1e-4, err_msg=name)
    assert len(set(histories[0]["loss"])) == 3
