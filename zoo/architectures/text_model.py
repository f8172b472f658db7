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
from keras_corefmem.utils.deprecation import renamed_property
from keras_corefmem.utils.files import validate
from keras_corefmem.visualization import views
from zoo.architectures.config import Config as BaseConfig
from zoo.architectures.config import ConstructorSignature
from zoo.architectures.devices import first_replica
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
    """

    inputs: dict
    logits: keras.KerasTensor
    attention: keras.KerasTensor | None = None
    heads: dict | None = None


class TextModel(PresetModel, TextTrainer):
    """A model from the features of texts to logits over answers, and to where it looks.

    A subclass lists its arguments in `Config`, from which the signature of its constructor,
    `arguments`, `defaults` and `get_config` follow, and builds its `Graph` from them. It states its
    own views and callbacks.

    Args:
        *args: the arguments of `Config`, in their order.
        preprocessor: its preprocessor, the configuration of one, or `None`.
        name: name of the model.
        trainable: whether its weights are trained.
        **kwargs: the arguments of `Config` by name.

    Raises:
        ValueError: if an argument is not as described, or the preprocessor does not fit the model.
    """

    Config: type[BaseConfig] = BaseConfig
    __signature__ = ConstructorSignature()
    reader = renamed_property("reader", "preprocessor")
    # Arguments of `from_examples` besides those of the constructor.
    FITTING: tuple[str, ...] = ()
    # How much of the vocabulary has a pretrained vector, a `Coverage`, where it starts from some.
    coverage = None
    # Texts that it reads, by name: an example of them.
    TEXTS = {"passage": "Mary went to the kitchen.", "question": "Where is Mary?"}

    def __init__(self, *args, **kwargs):
        values = inspect.signature(type(self)).bind(*args, **rename(kwargs)).arguments
        preprocessor = get(values.pop("preprocessor", None))
        options = {name: values.pop(name) for name in ("name", "trainable") if name in values}
        config = validate(type(self).__name__, values, self.Config)
        if preprocessor is not None:
            self.check_preprocessor(preprocessor, config)
        graph = self.build_graph(config)
        logits = without_unknown(graph.logits)
        super().__init__(inputs=graph.inputs, outputs=logits, **options)
        if getattr(config, "l2", 0):
            regularize(self.trainable_variables, config.l2)
        self.config = config.to_dict()
        self.attention_output, self.heads_output = graph.attention, graph.heads
        self.preprocessor = preprocessor
        self.features = tuple(graph.inputs)

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
        """Builds the `Graph` of a model from its `Config`."""
        raise NotImplementedError(f"{cls.__name__} must implement build_graph.")

    @classmethod
    def from_examples(cls, examples, **arguments):
        """An untrained model for the words and answers of training examples.

        Args:
            examples: training examples; its preprocessing is learned from them.
            **arguments: further arguments of the constructor.
        """
        raise NotImplementedError(f"{cls.__name__} must implement from_examples.")

    @classmethod
    def arguments(cls):
        """Names of the arguments that `from_examples` takes besides the examples."""
        return sorted({*cls.Config.chosen(), *cls.FITTING})

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
        words, fields = preprocessor.vocabulary, cls.Config.model_fields
        if word_vectors is not None:
            if "word_vectors" not in cls.FITTING:
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
        if preprocessor is not None:
            preprocessor = keras.saving.serialize_keras_object(preprocessor)
        return {
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype_policy.name,
            **self.config,
            "preprocessor": preprocessor,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """The model again, in the precision that it was made in."""
        before = keras.config.dtype_policy()
        keras.config.set_dtype_policy(config.get("dtype", before))
        try:
            return cls(**{name: value for name, value in config.items() if name != "dtype"})
        finally:
            keras.config.set_dtype_policy(before)

    @property
    def has_attention(self):
        """Whether there is something to `attend` to."""
        return self.attention_output is not None

    def predictor(self, outputs):
        """Makes the function that predicts symbolic outputs from features."""
        model = keras.Model({tensor.name: tensor for tensor in self.inputs}, outputs)
        # JAX without XLA would go operation by operation.
        if self.compiled and keras.backend.backend() != "jax":
            model.compile(jit_compile=self.jit_compile)
        # Only its method is kept: Keras tracks and saves a model that is an attribute.
        return model.predict_on_batch

    def predict_with(self, predictor, features):
        """Predicts from features, of which it refuses those that the model does not know."""
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
            Two arrays: logits `(batch, answers)`, and the attention of the model, `None` if it has
            none.

        Raises:
            ValueError: if there is an id that the model does not know.
        """
        results = self.predict_with(self._inspect, features)
        return results["logits"], results.get("attention")

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

    def read(self, passage, question, top=5, annotator=None, truecase=None):
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

        Returns:
            A `zoo.Reading` for strings, a list of them for lists.

        Raises:
            ValueError: if a text is empty, the lists differ in length, the model has no
                preprocessor, or it reads no annotations and is given an annotator.
        """
        texts = passage, question
        return read(self, *texts, top=top, annotator=annotator, truecase=truecase)

    def answer_lines(self, examples):
        """Lines of text that say how the model answers examples, and whether it is right."""
        logits = views.inspect_examples(examples, self.preprocessor, self.inspect).logits
        for example, row in zip(examples, logits, strict=True):
            answer, probability = views.predicted_answer(example, row, self.preprocessor)
            right = "right" if answer == example.answer else f"wrong: {example.answer}"
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


def regularize(variables, factor):
    """Adds the squares of all weights but biases and slopes to the loss."""
    for variable in variables:
        if len(variable.shape) > 1 and variable.name != "alpha":
            variable.regularizer = keras.regularizers.L2(factor)


def without_unknown(logits):
    """Logits whose answer 0, the unknown one, is never the best."""
    unknown = np.eye(1, logits.shape[-1], dtype="float32") * -100.0
    return keras.ops.cast(logits, "float32") + unknown
