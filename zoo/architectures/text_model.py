"""The base of all models: configuration, preprocessing, training defaults, reading."""

import functools
import inspect
import typing

import keras
import numpy as np

from keras_corefmem import callbacks as boards
from keras_corefmem.preprocessing.features import check_ids
from keras_corefmem.preprocessing.fitting import get
from keras_corefmem.preprocessing.preprocessor import count_words
from keras_corefmem.text.word_vectors import load_word_vectors
from keras_corefmem.utils.checks import check_positive
from keras_corefmem.utils.deprecation import renamed_property
from keras_corefmem.utils.files import validate
from keras_corefmem.visualization import views
from zoo.architectures.checks import check_features
from zoo.architectures.cloning import (
    STATE,
    CloneableModel,
    freeze,
    frozen_layers,
    plain,
    pop_state,
)
from zoo.architectures.config import (
    ExamplesMethod,
    Recorded,
    check_names,
    chosen,
    specification,
)
from zoo.architectures.devices import LightModel, first_replica, predictor_of
from zoo.architectures.losses import regularize
from zoo.architectures.precision import QuantizableModel, cached_names, precision
from zoo.architectures.preset_model import PresetModel
from zoo.architectures.trainer import TextTrainer
from zoo.configs import rename
from zoo.reading.answers import read

# Features that are ids of words.
WORD_FEATURES = {"passage", "question", "sentences", "words"}


class Graph(typing.NamedTuple):
    """Symbolic tensors of a model.

    Args:
        inputs: features by name.
        logits: `(batch, answers)`, or `(batch, steps, answers)`; answer 0 is the unknown one.
        attention: what `attend` returns, or `None` where there is none.
        heads: what `look` returns: attention of supervised heads by signal.
        states: states of the passage, `(batch, time, width)`, where each could be classified.
    """

    inputs: dict
    logits: keras.KerasTensor
    attention: keras.KerasTensor | None = None
    heads: dict | None = None
    states: keras.KerasTensor | None = None


class TextModel(PresetModel, CloneableModel, QuantizableModel, TextTrainer):
    """A model from the features of texts to logits over answers, and to where it looks.

    A subclass lists its arguments in its constructor, with types that they are checked against,
    among them `preprocessor`, `name`, `trainable` and `dtype`, and passes them on:

    ```python
    def __init__(self, vocabulary_size: Learned, num_answers: Learned, units: Size = 64,
                 preprocessor=None, name=None, trainable=True, dtype=None):
        super().__init__(locals())
    ```

    It builds its `Graph` from them, and states its own views and callbacks.

    Args:
        arguments: the `locals()` of the subclass's constructor.

    Raises:
        ValueError: if an argument is not as described, or the preprocessor does not fit the model.
    """

    reader = renamed_property("reader", "preprocessor")
    # What `build_graph` reads that a class leaves no choice of.
    FIXED: dict[str, typing.Any] = {}
    # Arguments that preprocessing or training reads, not the graph.
    ELSEWHERE: tuple[str, ...] = ()
    # Whether it has a table of word vectors, which may start from pretrained ones.
    HAS_WORD_VECTORS = True
    # How much of the vocabulary has a pretrained vector, a `Coverage`, where it starts from some.
    coverage = None
    # What logits are divided by where probabilities are told, see `zoo.training.calibrate`.
    temperature = STATE["temperature"]
    # Texts that it reads, by name: an example of them.
    TEXTS = {"passage": "Mary went to the kitchen.", "question": "Where is Mary?"}

    def __init__(self, arguments):
        # A subclass of a user's may have other arguments, and calls the constructor of this one.
        kind = specification(arguments["__class__"])
        values = {name: arguments[name] for name in kind.model_fields}
        values = dict(validate(type(self).__name__, values, kind))
        config = Recorded(**self.FIXED, **values)
        self.check_arguments(config)
        preprocessor = get(arguments["preprocessor"])
        if preprocessor is not None:
            self.check_preprocessor(preprocessor, config)
        options = {name: arguments[name] for name in ("name", "trainable")}
        config.read.clear()
        with precision(arguments["dtype"]):
            graph = self.build_graph(config)
            logits = without_unknown(graph.logits)
            super().__init__(inputs=graph.inputs, outputs=logits, **options)
        if getattr(config, "l2", 0):
            regularize(self.trainable_variables, config.l2)
        # Arguments that change nothing beside the others, whatever they are.
        listed = chosen(arguments["__class__"]).keys()
        self.unread = frozenset(listed - config.read - {*self.ELSEWHERE})
        self.config = {name: plain(getattr(config, name)) for name in values}
        self.attention_output, self.heads_output = graph.attention, graph.heads
        self.states_output = graph.states
        self.preprocessor = preprocessor
        self.features = tuple(graph.inputs)

    @classmethod
    def check_arguments(cls, config):
        """Refuses arguments that do not go together, and works out those that depend on others."""

    @staticmethod
    def shared_with(preprocessor):
        """Arguments of the model that its preprocessor has too: what the latter says."""
        return {}

    @classmethod
    def check_preprocessor(cls, preprocessor, config):
        """Checks that a preprocessor lays out features as the model reads them."""
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
        """An untrained model for the words and answers of training examples.

        Args:
            examples: training examples, or what `keras_corefmem.datasets.as_examples` makes
                examples of; its preprocessing is learned from them.
            **arguments: further arguments of the constructor.
        """
        raise NotImplementedError(f"{cls.__name__} must implement from_examples.")

    @classmethod
    def arguments(cls):
        """Names of the arguments that `from_examples` takes besides the examples."""
        names = inspect.signature(cls.from_examples).parameters.keys()
        return sorted(names - {"examples", "name", "trainable"})

    @classmethod
    def defaults(cls):
        """Defaults of the constructor's arguments by name."""
        fields = specification(cls).model_fields.items()
        return {name: field.default for name, field in fields if not field.is_required()}

    @classmethod
    def start(cls, preprocessor, examples, word_vectors=None, counts=None, **arguments):
        """An untrained model for what a preprocessor has learned from training examples.

        Args:
            preprocessor: the preprocessor.
            examples: training examples.
            word_vectors: path of a file of pretrained vectors, GloVe's or word2vec's, to start
                from: `coverage` says how many words it has.
            counts: how often each word occurs, for `coverage`; `None` counts the examples' tokens.
            **arguments: further arguments of the constructor.

        Raises:
            ValueError: if the vectors have another width than those of the model, or it has none.
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
        """Further arguments of the constructor that come from the data."""
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
        """The model again, also from a configuration of version 0.1."""
        arguments = rename(config)
        state = pop_state(arguments)
        check_positive(temperature=state["temperature"])
        check_names(cls, arguments)
        model = cls(**arguments)
        model.temperature = state["temperature"]
        if state["quantized"] is not None:
            model.quantize(config=keras.saving.deserialize_keras_object(state["quantized"]))
        freeze(model, state["frozen"])
        return model

    def __dir__(self):
        # Keras reads all attributes when it saves: these warn, read files or build models.
        return sorted({*super().__dir__()} - {"reader", "presets"} - cached_names(type(self)))

    @property
    def has_attention(self):
        """Whether there is something to `attend` to."""
        return self.attention_output is not None

    def predictor(self, outputs):
        """Makes the function that predicts symbolic outputs from features."""
        model = LightModel({tensor.name: tensor for tensor in self.inputs}, outputs)
        # Only a function is kept: Keras tracks and saves a model that is an attribute.
        return predictor_of(model)

    def predict_with(self, predictor, features):
        """Predicts from features, of which it refuses those that the model does not know."""
        check_features(features, self.inputs)
        self.check_features(features)
        inputs = {name: features[name] for name in self.features}
        return first_replica(predictor(inputs), len(inputs[self.features[0]]))

    @functools.cached_property
    def _inspect(self):
        attention = {"attention": self.attention_output} if self.has_attention else {}
        return self.predictor({"logits": self.output, **attention})

    def inspect(self, features):
        """What the model answers and where it looks.

        Args:
            features: dictionary of at least the features in `model.features`, as arrays.

        Returns:
            Two arrays: logits `(batch, answers)`, divided by the temperature, and the attention of
            the model, `None` if it has none.

        Raises:
            ValueError: if a feature is missing or of another shape, or there is an id that the
                model does not know.
        """
        results = self.predict_with(self._inspect, features)
        return results["logits"] / self.temperature, results.get("attention")

    def check_features(self, features):
        """Refuses ids that the model does not know; Keras' own `predict` does not check them."""
        for name, count in self.id_counts().items():
            check_ids(name, np.asarray(features[name]), count)

    def id_counts(self):
        """How many ids there are, by the name of the feature that has them."""
        words = [name for name in self.features if name in WORD_FEATURES]
        return dict.fromkeys(words, self.config["vocabulary_size"])

    def attend(self, features):
        """The attention of the model, as `inspect` returns it.

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
            question: a string or a list of strings; one string goes with each passage of a list.
            top: how many answers to give, at most all that the model knows.
            annotator: what finds the chains of the text, for a reader of annotated text: `"exact"`,
                a spaCy pipeline or its name or path, or a function from texts to annotations;
                `None` links repeated words alone.
            truecase: what gives capital letters to text in lower case for it: `"novels"`, a
                `keras_corefmem.text.Truecaser`, or its path.
            edges: typed edges of the text, `[(3, 17, "married_to")]`, see `Example`; for lists of
                texts, a list of such lists.

        Returns:
            A `zoo.Reading` for strings, a list of them for lists.

        Raises:
            TypeError: if a text is no string.
            ValueError: if a text is empty, the lists differ in length, the model has no
                preprocessor, or it reads no annotations or edges and is given some.
        """
        options = {"annotator": annotator, "truecase": truecase, "edges": edges}
        return read(self, passage, question, top=top, **options)

    def answer_lines(self, examples):
        """Lines of text that say how the model answers examples, and whether it is right."""
        logits = views.inspect_examples(examples, self.preprocessor, self.inspect).logits
        for example, row in zip(examples, logits, strict=True):
            best = views.predicted_answer(example, row, self.preprocessor)
            answer, probability, is_right = best
            right = "right" if is_right else f"wrong: {example.answer}"
            yield f"{example.question}  {answer} ({probability:.0%}), {right}"

    def views(self, examples):
        """Views of what the model answers and where it looks, see `keras_corefmem.visualization`.

        Args:
            examples: list of examples.

        Returns:
            A list of lists: the views of each example, the attention first; empty ones of a model
            that attends to nothing.
        """
        return [[] for _ in examples]

    def answer_views(self, examples):
        """Views of the answers to questions after each sentence of the passage.

        Args:
            examples: list of examples.

        Returns:
            A list of dictionaries, of each example by the name of the view: `"after-sentence"`, of
            the passage read up to each sentence, where answers are classes; and `"one-reading"`,
            from the states of one reading, of a reader of passages.
        """
        if not self.has_shared_answers:
            return [{} for _ in examples]
        shown = views.beginning_views(examples, self.preprocessor, self.inspect)
        return [{"after-sentence": view} for view in shown]

    def tensorboard_callbacks(self, log_dir, examples):
        """Callbacks that show in TensorBoard what the model makes of words and questions.

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
    """Logits whose answer 0, the unknown one, is never the best."""
    unknown = np.eye(1, logits.shape[-1], dtype="float32") * -100.0
    exact = keras.backend.standardize_dtype(logits.dtype) == "float64"
    return keras.ops.cast(logits, "float64" if exact else "float32") + unknown
