"""The base class of all models."""

import functools
import inspect
import typing

import keras
import numpy as np
from typing_extensions import deprecated

from keras_corefmem import callbacks as boards
from keras_corefmem.preprocessing.encoding.features import check_ids
from keras_corefmem.preprocessing.fitting import get
from keras_corefmem.preprocessing.preprocessor import count_words
from keras_corefmem.text.word_vectors import load_word_vectors
from keras_corefmem.utils.checks import check_positive
from keras_corefmem.utils.files import validate
from keras_corefmem.visualization import views
from zoo.architectures.checks import check_features
from zoo.architectures.cloning import (
    STATE,
    CloneableModel,
    frozen_layers,
    plain,
    pop_state,
    restore_state,
)
from zoo.architectures.config import ExamplesMethod, Recorded, check_names, chosen, specification
from zoo.architectures.devices import LightModel, first_replica, predictor_of
from zoo.architectures.losses import WORD_FEATURES, regularize
from zoo.architectures.precision import QuantizableModel, cached_names, precision
from zoo.architectures.preset_model import PresetModel
from zoo.architectures.trainer import TextTrainer
from zoo.configs import rename
from zoo.reading.answers import read


class Graph(typing.NamedTuple):
    """Symbolic tensors of a model.

    Args:
        inputs: features by name.
        logits: `(batch, answers)`, or `(batch, steps, answers)`; answer 0 is the unknown one.
        attention: output of `attend`, or `None` if the model has none.
        heads: output of `look`: attention of supervised heads by signal.
        states: states of the passage, `(batch, time, width)`, if each could be classified.
    """

    inputs: dict
    logits: keras.KerasTensor
    attention: keras.KerasTensor | None = None
    heads: dict | None = None
    states: keras.KerasTensor | None = None


class TextModel(PresetModel, CloneableModel, QuantizableModel, TextTrainer):
    """A model from the features of texts to logits over answers, and to its attention.

    A subclass lists its arguments in its constructor, with types that are used to check them. They
    include `preprocessor`, `name`, `trainable` and `dtype`. The constructor passes them on:

    ```python
    def __init__(self, vocabulary_size: Learned, num_answers: Learned, units: Size = 64,
                 preprocessor=None, name=None, trainable=True, dtype=None):
        super().__init__(locals())
    ```

    The subclass builds its `Graph` from them, and defines its own views and callbacks.

    Args:
        arguments: the `locals()` of the subclass's constructor.

    Raises:
        ValueError: if an argument is invalid, or the preprocessor does not fit the model.
    """

    reader = property(
        deprecated("`reader` is now called `preprocessor`.")(lambda model: model.preprocessor)
    )
    # Arguments of `build_graph` that are fixed for the class.
    FIXED: dict[str, typing.Any] = {}
    # Arguments for preprocessing or training, which the graph does not read.
    ELSEWHERE: tuple[str, ...] = ()
    # Whether the model has a table of word vectors, which pretrained ones may initialize.
    HAS_WORD_VECTORS = True
    # A `Coverage` that says how many words have a pretrained vector, if these were loaded.
    coverage = None
    _temperature = STATE["temperature"]
    # An example of each text that it reads, by name.
    TEXTS = {"passage": "Mary went to the kitchen.", "question": "Where is Mary?"}

    def __init__(self, arguments):
        # `__class__` is the class that calls this constructor; subclasses may have other arguments.
        kind = specification(arguments["__class__"])
        values = {name: arguments[name] for name in kind.model_fields}
        values = dict(validate(type(self).__name__, values, kind))
        config = Recorded(**self.FIXED, **values)
        self.check_arguments(config)
        preprocessor = get(arguments["preprocessor"])
        if preprocessor is not None:
            self.check_preprocessor(preprocessor, config)
        config._read.clear()
        with precision(arguments["dtype"]):
            graph = self.build_graph(config)
            logits = without_unknown(graph.logits)
            super().__init__(inputs=graph.inputs, outputs=logits, name=arguments["name"])
        if not arguments["trainable"]:
            # Its layers too, for models that contain it.
            self.trainable = False
        if getattr(config, "l2", 0):
            regularize(self.trainable_variables, config.l2)
        # Arguments that have no effect with these values of the others.
        listed = chosen(arguments["__class__"]).keys()
        self.unread = frozenset(listed - config._read - {*self.ELSEWHERE})
        self.config = {name: plain(getattr(config, name)) for name in values}
        self.attention_output, self.heads_output = graph.attention, graph.heads
        self.states_output = graph.states
        self.preprocessor = preprocessor
        self.features = tuple(graph.inputs)

    @classmethod
    def check_arguments(cls, config):
        """Checks combinations of arguments, and computes those that depend on others."""

    @staticmethod
    def shared_with(preprocessor):
        """Returns the arguments that the model shares with its preprocessor, with its values."""
        return {}

    @classmethod
    def check_preprocessor(cls, preprocessor, config):
        """Checks that a preprocessor makes features that fit the model."""
        for name, value in cls.shared_with(preprocessor).items():
            own = getattr(config, name)
            if value != own:
                raise ValueError(
                    f"The preprocessor has {name}={value!r}, the model {own!r}; give both the same."
                )
        words, answers = len(preprocessor.vocabulary), len(preprocessor.answers)
        if words > config.vocabulary_size or answers != config.num_answers:
            raise ValueError(
                f"The preprocessor knows {words} words and {answers} answers, but the model has "
                f"vocabulary_size={config.vocabulary_size} and num_answers={config.num_answers}."
            )

    @classmethod
    def build_graph(cls, config):
        """Builds the `Graph` of a model from its arguments, the attributes of `config`."""
        raise NotImplementedError(f"{cls.__name__} must implement build_graph.")

    @ExamplesMethod
    def from_examples(cls, examples, **arguments):
        """Makes an untrained model for the words and answers of training examples.

        Args:
            examples: training examples, in any form that `keras_corefmem.datasets.as_examples`
                takes; the preprocessing is learned from them.
            **arguments: further arguments of the constructor.
        """
        raise NotImplementedError(f"{cls.__name__} must implement from_examples.")

    @classmethod
    def arguments(cls):
        """Returns the names of the arguments of `from_examples` besides the examples."""
        names = inspect.signature(cls.from_examples).parameters.keys()
        return sorted(names - {"examples", "name", "trainable"})

    @classmethod
    def defaults(cls):
        """Returns the defaults of the constructor's arguments by name."""
        fields = specification(cls).model_fields.items()
        return {name: field.default for name, field in fields if not field.is_required()}

    @classmethod
    def start(cls, preprocessor, examples, word_vectors=None, counts=None, **arguments):
        """Makes an untrained model for a preprocessor fitted to training examples.

        Args:
            preprocessor: the preprocessor.
            examples: training examples.
            word_vectors: path of a file of pretrained vectors, of GloVe or word2vec, to start
                from; `coverage` says how many words it contains.
            counts: how often each word occurs, for `coverage`; `None` counts the examples' tokens.
            **arguments: further arguments of the constructor.

        Raises:
            ValueError: if the vectors do not have the model's width, or the model has no vectors.
        """
        words, fields = preprocessor.vocabulary, specification(cls).model_fields
        if word_vectors is not None:
            if not cls.HAS_WORD_VECTORS:
                raise ValueError(f"{cls.__name__} has no word vectors of its own: leave them out.")
            if counts is None:
                counts = count_words(examples, preprocessor.tokenizer)
            width = "embedding_dim" if "embedding_dim" in fields else "units"
            matrix, coverage = load_word_vectors(
                word_vectors, words, arguments.get(width), True, counts=counts
            )
            arguments[width] = matrix.shape[1]
        learned = {**cls.shared_with(preprocessor), **cls.learned(preprocessor, examples)}
        arguments = {name: learned[name] for name in learned if name in fields} | arguments
        model = cls(len(words), len(preprocessor.answers), preprocessor=preprocessor, **arguments)
        if word_vectors is not None:
            model.get_layer("word_embedding").set_weights([matrix])
            model.coverage = coverage
        return model

    @classmethod
    def learned(cls, preprocessor, examples):
        """Returns further arguments of the constructor that come from the data."""
        return {}

    def get_config(self):
        preprocessor = self.preprocessor
        config = {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype_policy.name,
            **plain(self.config),
            "preprocessor": preprocessor and keras.saving.serialize_keras_object(preprocessor),
        }
        state = {"quantized": self.quantized, "frozen": self.trainable and frozen_layers(self)}
        state["temperature"] = self.temperature
        kept = {name: value for name, value in state.items() if value and value != STATE[name]}
        return config | kept

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Makes a model from its configuration, also from one of version 0.1."""
        arguments = rename(config)
        state = pop_state(arguments)
        check_names(cls, arguments)
        model = cls(**arguments)
        restore_state(model, state)
        return model

    def __dir__(self):
        # Keras reads all attributes when saving: these would warn, read files or build models.
        return sorted({*super().__dir__()} - {"reader", "presets"} - cached_names(type(self)))

    @property
    def temperature(self):
        """Divisor of logits when probabilities are computed, see `zoo.training.calibrate`."""
        return self._temperature

    @temperature.setter
    def temperature(self, value):
        check_positive(temperature=value)
        self._temperature = float(value)

    @property
    def has_attention(self):
        """Whether the model has an attention for `attend` to return."""
        return self.attention_output is not None

    def predictor(self, outputs):
        """Returns a function that predicts symbolic outputs from features."""
        model = LightModel({tensor.name: tensor for tensor in self.inputs}, outputs)
        # A function, because Keras would track and save a model that is an attribute.
        return predictor_of(model)

    def predict_with(self, predictor, features):
        """Predicts from features after checking them."""
        check_features(features, self.inputs)
        self.check_features(features)
        inputs = {name: features[name] for name in self.features}
        return first_replica(predictor(inputs), len(inputs[self.features[0]]))

    @functools.cached_property
    def _inspect(self):
        attention = {"attention": self.attention_output} if self.has_attention else {}
        return self.predictor({"logits": self.output, **attention})

    def inspect(self, features):
        """Computes logits and attention from features.

        Args:
            features: dictionary of at least the features in `model.features`, as arrays.

        Returns:
            Two arrays: logits `(batch, answers)`, divided by the temperature, and the attention of
            the model, `None` if it has none.

        Raises:
            ValueError: if a feature is missing or has another shape, or an id is out of range.
        """
        results = self.predict_with(self._inspect, features)
        return results["logits"] / self.temperature, results.get("attention")

    def check_features(self, features):
        """Checks that all ids are in range, which Keras' own `predict` does not do."""
        for name, count in self.id_counts().items():
            check_ids(name, np.asarray(features[name]), count)

    def id_counts(self):
        """Returns the number of valid ids of each feature that contains ids."""
        words = [name for name in self.features if name in WORD_FEATURES]
        return dict.fromkeys(words, self.config["vocabulary_size"])

    def attend(self, features):
        """Computes the attention of the model, the second result of `inspect`.

        Raises:
            ValueError: if the model has none.
        """
        if not self.has_attention:
            raise ValueError(
                f"{type(self).__name__} has no attention to look at; `inspect` gives its logits."
            )
        return self.inspect(features)[1]

    def read(self, passage, question, top=5, annotator=None, truecase=None, edges=()):
        """Answers questions on raw text.

        Args:
            passage: a string or a list of strings.
            question: a string or a list of strings; a single string is asked about each passage.
            top: number of answers, at most all that the model knows.
            annotator: coreference annotator for a reader of annotated text: `"exact"`, a spaCy
                pipeline or its name or path, or a function from texts to annotations. With `None`,
                only repeated words are linked.
            truecase: truecaser that restores capital letters in lower-case text for the annotator:
                `"novels"`, a `keras_corefmem.text.Truecaser`, or its path.
            edges: typed edges of the text, `[(3, 17, "married_to")]`, see `Example`; for lists of
                texts, a list of such lists.

        Returns:
            A `zoo.Reading` for strings, a list of them for lists.

        Raises:
            TypeError: if a text is not a string.
            ValueError: if a text is empty, the lists differ in length, the model has no
                preprocessor, or annotations or edges are passed but the model does not read them.
        """
        options = {"annotator": annotator, "truecase": truecase, "edges": edges}
        return read(self, passage, question, top=top, **options)

    def answer_lines(self, examples):
        """Yields, for each example, a line with the model's answer and whether it is right."""
        logits = views.inspect_examples(examples, self.preprocessor, self.inspect).logits
        for example, row in zip(examples, logits, strict=True):
            answer, probability, is_right = views.predicted_answer(example, row, self.preprocessor)
            right = "right" if is_right else f"wrong: {example.answer}"
            yield f"{example.question}  {answer} ({probability:.0%}), {right}"

    def views(self, examples):
        """Makes views of answers and attention, see `keras_corefmem.visualization`.

        Args:
            examples: list of examples, or rows as `as_examples` reads them.

        Returns:
            A list with a list of views for each example, the attention first. The lists are empty
            if the model has no attention.
        """
        return [[] for _ in examples]

    def answer_views(self, examples):
        """Makes views of the answers to questions after each sentence of the passage.

        Args:
            examples: list of examples, or rows as `as_examples` reads them.

        Returns:
            A list with a dictionary for each example, by name of the view: `"after-sentence"`, if
            answers are classes, reads the passage up to each sentence; `"one-reading"`, for readers
            of passages, uses the states of a single reading.
        """
        if not self.has_shared_answers:
            return [{} for _ in examples]
        shown = views.beginning_views(examples, self.preprocessor, self.inspect)
        return [{"after-sentence": view} for view in shown]

    def tensorboard_callbacks(self, log_dir, examples):
        """Returns callbacks that show word vectors and answers to questions in TensorBoard.

        Args:
            log_dir: folder of the run.
            examples: validation examples, of which a few are shown.
        """
        shown = log_dir, examples, self.preprocessor, self.inspect
        watching = [boards.WordProjector(log_dir, self.preprocessor), boards.AnswerTable(*shown)]
        if self.has_shared_answers:
            watching.append(boards.AnswerAfterSentence(*shown))
        return watching

    @property
    def has_shared_answers(self):
        """Whether answers are classes, the same for all questions."""
        return len(self.output.shape) == 2


def without_unknown(logits):
    """Lowers the logit of answer 0, the unknown one, so that it is never the best."""
    unknown = np.eye(1, logits.shape[-1], dtype="float32") * -100.0
    exact = keras.backend.standardize_dtype(logits.dtype) == "float64"
    kind = "float64" if exact else "float32"
    # Its layer names the output, as in `loss={"logits": …}`.
    return keras.layers.Identity(dtype=kind, name="logits")(keras.ops.cast(logits, kind) + unknown)
