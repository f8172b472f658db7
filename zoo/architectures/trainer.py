"""Training, evaluation and prediction with the API of Keras and the defaults of the zoo."""

import functools
from types import GeneratorType

import keras
import numpy as np

from keras_corefmem.datasets import as_examples
from keras_corefmem.metrics import AnswerAccuracy, AnswerCrossentropy
from keras_corefmem.preprocessing.batching.batches import Batches, common_lengths
from zoo.architectures.checks import (
    by_number,
    check_answered,
    check_numbers,
    check_texts,
    checked,
    checked_validation,
    class_weights,
    of_features,
    warn_of_other_texts,
    warn_of_unknown_answers,
)
from zoo.architectures.devices import LightModel, keeping_weights, resolve_jit
from zoo.architectures.inputs import (
    PartsOfEpochs,
    check_alone,
    check_steps,
    cut_off,
    examples_of,
    first_of,
    is_text,
    opened,
    rows_of_batches,
    validation_examples,
    weights_of,
    with_plain_weights,
    with_weights,
)
from zoo.architectures.losses import ReportsMeans, resolve_loss, resolve_metrics
from zoo.architectures.optimizers import make_optimizer, match_optimizer
from zoo.reading.answers import preprocessor_of, warn_of_missing_structure

HELD = "Batches hold answers and weights."


class TextTrainer(ReportsMeans, LightModel):
    """A model of texts with the training, evaluation and prediction of Keras models.

    Besides features, `fit`, `evaluate` and `predict` take `Batches`, and texts: anything except
    iterators that `keras_corefmem.datasets.as_examples` takes, with answers in it or in `y`.
    """

    @property
    def warm_up_epochs(self):
        """Number of initial epochs that train the model differently from how it is used."""
        return 0

    def training_callbacks(self):
        """Returns the callbacks that are part of this model's training; `fit` adds them."""
        return []

    def measuring_callbacks(self, batches):
        """Returns callbacks that add further measurements to the logs of `fit`.

        Args:
            batches: `Batches` to validate on or, if there are none, to train on.
        """
        return []

    def default_loss(self):
        """Returns the loss that the model is compiled with by default."""
        return AnswerCrossentropy()

    def accuracy(self):
        """Returns the metric named `"accuracy"`."""
        return AnswerAccuracy()

    def compile(
        self,
        optimizer=None,
        loss=None,
        *,
        metrics=None,
        weighted_metrics=None,
        jit_compile=None,
        **kwargs,
    ):
        """Compiles the model, with the defaults of the zoo for arguments that are left out.

        Args:
            optimizer: by default, Adam with a learning rate of 0.003, halved every 1000 updates,
                and gradients clipped to a global norm of 10.
            loss: by default, the cross-entropy of answers, which Keras' name
                `"sparse_categorical_crossentropy"` stands for too. Outputs are logits.
            metrics: metrics besides the accuracy of answers. All are weighted, so that padding
                does not count.
            weighted_metrics: metrics in place of the accuracy of answers.
            jit_compile: whether XLA compiles a training step as a whole, by default wherever that
                works; on TensorFlow, not in the first epochs of few short texts, which end before
                compilation pays off.
            **kwargs: further arguments of `keras.Model.compile`.

        Raises:
            ValueError: if a loss or metric of Keras is not for logits of answers, or the model
                cannot be trained like this on several devices.
        """
        structure = [None] if loss is None else loss
        losses = keras.tree.map_structure(
            lambda leaf: resolve_loss(leaf, self.default_loss()), structure
        )
        first = keras.tree.flatten(losses)[0]
        super().compile(
            optimizer=make_optimizer() if optimizer is None else optimizer,
            loss=first if loss is None else losses,
            weighted_metrics=resolve_metrics(metrics, weighted_metrics, self.accuracy(), first),
            jit_compile=resolve_jit(jit_compile, kwargs.get("run_eagerly")),
            **kwargs,
        )
        self.chooses_xla = jit_compile is None and self.jit_compile
        # An earlier `fit` may have ended before XLA compiled the step.
        self.by_kernel = False
        # Variables created while TensorFlow traces a step would make it trace again.
        self.optimizer.build(self.trainable_variables)

    def compile_from_config(self, config):
        # Keras expects this of models that override `compile`.
        self.compile(**keras.saving.deserialize_keras_object(config))

    @of_features
    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        """Makes one step of training as Keras does, with answers and weights as in `fit`."""
        weights = self._class_weights(class_weight)
        x, sample_weight, class_weight = self._checked_arrays(x, y, sample_weight, weights)
        self.take_rows_of(None)
        return super().train_on_batch(x, y, sample_weight, class_weight, return_dict)

    @of_features
    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """Evaluates one batch as Keras does, with answers and weights as in `evaluate`."""
        x, sample_weight, _ = self._checked_arrays(x, y, sample_weight, training=False)
        self.evaluate_batches(False)
        return super().test_on_batch(x, y, sample_weight, return_dict)

    predict_on_batch = of_features(keras.Model.predict_on_batch)

    def batches(self, examples, batch_size=32, shuffle=False, seed=0, **kwargs):
        """Makes batches of examples, encoded once and padded to few shapes.

        Args:
            examples: examples, in any form that `keras_corefmem.datasets.as_examples` takes.
            batch_size: number of rows of a batch.
            shuffle: whether to shuffle, as for training.
            seed: seed of the shuffling.
            **kwargs: further arguments of `keras_corefmem.preprocessing.Batches`.

        Returns:
            A `keras.utils.PyDataset` for `fit`, `evaluate` and `predict`.

        Raises:
            ValueError: if there are no examples, or a training example has an unknown answer.

        Example:
            >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
            >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
            >>> len(model.batches(stories, batch_size=4))
            2
        """
        examples = as_examples(examples)
        encoded = self._encode(examples)
        options = {"batch_size": batch_size, "shuffle": shuffle, "seed": seed, **kwargs}
        if kwargs.get("augment"):
            options["examples"] = examples
        return self.preprocessor.batches(encoded, self.features, **options)

    def _encode(self, examples):
        preprocessor = preprocessor_of(self)
        check_texts(preprocessor, examples)
        encoded = preprocessor.encode_all(examples)
        warn_of_other_texts(preprocessor, examples, encoded)
        if not all(hasattr(example, "chain_ids") for example in examples):
            warn_of_missing_structure(self, stacklevel=4)
        return encoded

    def _training_batches(self, encoded, held, held_size, **options):
        """Returns batches to train on and, if texts are held out, to validate on."""
        lengths = common_lengths(self.preprocessor, encoded + held)
        make = functools.partial(self.preprocessor.batches, names=self.features, **lengths)
        options |= {"mean_of_rows": not self.weighs_answers, "seed": np.random.randint(2**31)}
        batches = make(encoded, **options)
        return batches, make(held, batch_size=held_size) if held else None

    def _weighted(self, batches, steps, table):
        """Returns `Batches` to train on: epochs of so many steps, weighted by answer number."""
        batches.check_answers()
        batches = batches if steps is None else PartsOfEpochs(batches, steps)
        batches = with_plain_weights(batches) if self.sums_answers else batches
        return batches if table is None else with_weights(batches, table)

    def _in_order(self, batches, examples, steps):
        """Returns `Batches` to evaluate on in order, and as the loss weighs them."""
        warn_of_unknown_answers(self.preprocessor, batches.encoded, examples, stacklevel=4)
        self.evaluate_batches(True)
        batches = batches.in_order(steps)
        # The mean over all rows is that over the examples.
        batches.mean_of_rows = False
        return batches, with_plain_weights(batches) if self.sums_answers else batches

    def _class_weights(self, class_weight):
        if not class_weight:
            return None
        return class_weights(class_weight, self.preprocessor, self.output.shape)

    def _checked_arrays(self, x, y, sample_weight, weights=None, is_split=False, training=True):
        """Checks features in any form that Keras takes; returns them, sample and class weights."""
        shape = self.output.shape
        if y is None:
            check_answered(x, weights)
            x = checked(x, shape, training)
        else:
            sample_weight = weights_of(y, x, shape, sample_weight)
            check_numbers(y, sample_weight, shape, training)
            # Keras takes weights of classes for no tags, and not with weights of samples.
            both = len(shape) == 3 or np.shape(sample_weight) == np.shape(y)
            if weights is not None and both and not is_split:
                sample_weight, weights = weights_of(y, x, shape, sample_weight, weights), None
        return x, sample_weight, None if weights is None else by_number(weights, shape)

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        **kwargs,
    ):
        """Trains the model as Keras does, after compiling it with the defaults if necessary.

        Args:
            x: texts, `Batches`, or features in any form that Keras takes.
            y: answers to texts, or their numbers for arrays of features; `None` if `x` contains
                them.
            batch_size: number of rows of a batch, 32 by default.
            epochs: number of the last epoch.
            verbose: verbosity.
            callbacks: Keras callbacks, which run after the `training_callbacks` of the model.
            validation_split: share of texts or arrays, taken from the end, to validate on.
            validation_data: texts, `Batches` or features to validate on; `(x, y)` if answers are
                separate.
            shuffle: whether to shuffle texts or arrays. `Batches` have their own order.
            class_weight: weight of each answer, by its number or the answer itself, if answers are
                classes that all texts share.
            sample_weight: weights for arrays of features.
            **kwargs: further arguments of `keras.Model.fit`.

        Returns:
            A `keras.callbacks.History`.

        Raises:
            ValueError: if an answer to train on is unknown, or texts are not of the kind that the
                model reads, or come from an iterator.
        """
        if not self.compiled:
            self.compile()
        match_optimizer(self)
        x, validation_data = opened(x), opened(validation_data)
        held, table = validation_examples(validation_data), self._class_weights(class_weight)
        rows = rows_of_batches(batch_size)
        name = "validation_batch_size"
        size = rows_of_batches(kwargs.pop(name, None), name, default=rows)
        last = kwargs.pop("validation_steps", None)
        check_steps(validation_steps=last, steps_per_epoch=kwargs.get("steps_per_epoch"))
        if is_text(x):
            check_alone("weigh texts by class_weight.", sample_weight=sample_weight)
            examples = examples_of(x, y)
            if validation_split and validation_data is None:
                examples, held = cut_off(examples, validation_split)
            held = first_of(held, last, size)
            options = {"batch_size": rows, "shuffle": shuffle}
            encoded = self._encode(examples), self._encode(held)
            x, held_batches = self._training_batches(*encoded, size, **options)
            validation_data = validation_data if held_batches is None else held_batches
            y, batch_size, validation_split = None, None, 0.0
        elif held is not None:
            held = first_of(held, last, size)
            validation_data = self.batches(held, size)
        batches, own = x if isinstance(x, Batches) else None, self.training_callbacks()
        if batches is not None:
            check_alone(HELD, y=y, sample_weight=sample_weight)
            check_alone("give validation_data.", validation_split=validation_split or None)
            x = self._weighted(batches, kwargs.pop("steps_per_epoch", None), table)
            class_weight, shuffle = None, False
        else:
            # Datasets and generators have their own order.
            shuffle = shuffle and not (hasattr(x, "element_spec") or isinstance(x, GeneratorType))
            x, sample_weight, class_weight = self._checked_arrays(
                x, y, sample_weight, table, is_split=bool(validation_split)
            )
        measured = batches
        if isinstance(validation_data, Batches):
            measured, validation_data = self._in_order(validation_data, held, last)
        elif validation_data is not None or validation_split:
            self.evaluate_batches(False)
            kwargs |= {"validation_steps": last, "validation_batch_size": size}
            validation_data = checked_validation(validation_data, self.output.shape)
        self.take_rows_of(batches)
        own += [] if measured is None else self.measuring_callbacks(measured)
        x, validation_data = self.data_of(x, batches, validation_data, own)
        with keeping_weights(self, training=True):
            return super().fit(
                x,
                y,
                batch_size=batch_size,
                epochs=epochs,
                verbose=verbose,
                callbacks=own + keras.tree.flatten([] if callbacks is None else callbacks),
                validation_split=validation_split,
                validation_data=validation_data,
                shuffle=shuffle,
                class_weight=class_weight,
                sample_weight=sample_weight,
                **kwargs,
            )

    def evaluate(
        self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, **kwargs
    ):
        """Evaluates the model as Keras does, with means over examples, however they are batched.

        Args:
            x: texts, `Batches`, or features in any form that Keras takes.
            y: answers to texts, or their numbers for arrays of features; `None` if `x` contains
                them.
            batch_size: number of rows of a batch, 32 by default.
            verbose: verbosity.
            sample_weight: weights for arrays of features.
            **kwargs: further arguments of `keras.Model.evaluate`.

        Returns:
            The loss and the metrics; a dictionary of them with `return_dict=True`.

        Raises:
            ValueError: if the number of an answer is out of range.
        """
        if "_use_cached_eval_dataset" not in kwargs:
            if not self.compiled:
                self.compile()
            x, examples, size = opened(x), None, rows_of_batches(batch_size)
            check_steps(steps=kwargs.get("steps"))
            if is_text(x):
                check_alone("texts count alike.", sample_weight=sample_weight)
                examples = first_of(examples_of(x, y), kwargs.pop("steps", None), size)
                x, y = self.batches(examples, size), None
            if isinstance(x, Batches):
                check_alone(HELD, y=y, sample_weight=sample_weight)
                _, x = self._in_order(x, examples, kwargs.pop("steps", None))
                batch_size = None
            else:
                self.evaluate_batches(False)
                x, sample_weight, _ = self._checked_arrays(x, y, sample_weight, training=False)
        with keeping_weights(self):
            return super().evaluate(x, y, batch_size, verbose, sample_weight, **kwargs)

    def predict(self, x, batch_size=None, verbose="auto", **kwargs):
        """Predicts the logits of answers.

        Args:
            x: texts, with or without answers, `Batches`, or features in any form that Keras takes.
            batch_size: number of rows of a batch, 32 by default.
            verbose: verbosity.
            **kwargs: further arguments of `keras.Model.predict`.

        Returns:
            Logits of the examples, in order: `(examples, answers)`, or `(examples, words,
            answers)`. They are float32, or float64 if they are computed in it.

        Example:
            >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
            >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
            >>> logits = model.predict([("Mary left.", "Where is Mary?")], verbose=0)
            >>> logits.shape == (1, len(model.preprocessor.answers))
            True
        """
        x, size = opened(x), rows_of_batches(batch_size)
        check_steps(steps=kwargs.get("steps"))
        if is_text(x):
            examples = examples_of(x, answered=False)
            x = self.batches(first_of(examples, kwargs.pop("steps", None), size), size)
        if isinstance(x, Batches):
            x, batch_size = x.in_order(), None
        with keeping_weights(self):
            outputs = super().predict(x, batch_size, verbose, **kwargs)
        return x.of_examples(outputs) if isinstance(x, Batches) else outputs
