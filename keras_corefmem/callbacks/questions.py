"""A few questions, answered again and again while a model learns."""

import importlib.util
import pathlib
import warnings
from collections.abc import Collection

import keras

from keras_corefmem.callbacks.events import EventFile
from keras_corefmem.datasets import as_examples
from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.markdown import table_cell
from keras_corefmem.visualization import draw, views

# TensorBoard keeps ten pictures of a tag.
EPOCHS = (0, 1, 2, 4, 8, 16, 32, 64)


class Questions(keras.callbacks.Callback):
    """Base class of callbacks that let a model answer the same few questions again and again.

    Subclasses define `write(step)`, called at the end of the chosen epochs and of training; it
    writes to the run `validation`.

    Args:
        log_dir: folder of the run.
        examples: list of `Example` or `Sentence`, or other data that `as_examples` converts, from
            which the questions are chosen.
        preprocessor: the model's preprocessor.
        inspect: function from features to logits `(batch, answers)` and attention or `None`, such
            as `model.inspect`.
        count: number of questions, from short to long texts; `None` for the default of the class.
        epochs: a number n for every n-th epoch, or a collection of epochs, counted from 0.

    Raises:
        ValueError: if there are no examples, or `count` or `epochs` is not positive.

    Example:
        >>> class Verdicts(keras_corefmem.callbacks.Questions):
        ...     def write(self, step):
        ...         self.events.scalars(step, {"questions": len(self.examples)})
    """

    COUNT = 4

    def __init__(self, log_dir, examples, preprocessor, inspect, count=None, epochs=EPOCHS):
        super().__init__()
        count = self.COUNT if count is None else count
        check_sizes(count=count)
        examples = as_examples(examples)
        if not examples:
            raise ValueError("Give at least one example to ask, got none.")
        if not isinstance(epochs, Collection) or isinstance(epochs, str):
            check_sizes(1, ", or a collection", epochs=epochs)
        self.events = EventFile(pathlib.Path(log_dir) / "validation")
        by_length = sorted(examples, key=lambda e: preprocessor.length(preprocessor.encode(e)))
        count = min(count, len(examples))
        self.examples = [
            by_length[(2 * n + 1) * len(examples) // (2 * count)] for n in range(count)
        ]
        self.preprocessor, self.inspect, self.epochs = preprocessor, inspect, epochs
        self.epoch = self.last_written = -1

    def on_train_begin(self, logs=None):
        # A run that was interrupted after its last epoch has no other.
        self.epoch, self.last_written = (self.params or {}).get("epochs", 0) - 1, -1

    def on_epoch_end(self, epoch, logs=None):
        self.epoch, chosen = epoch, self.epochs
        if epoch in chosen if isinstance(chosen, Collection) else epoch % chosen == 0:
            self._write_once(epoch)

    def on_train_end(self, logs=None):
        self._write_once(self.epoch)

    def _write_once(self, epoch):
        if epoch != self.last_written:
            self.write(epoch)
            self.last_written = epoch


class _Pictures(Questions):
    """Base class of callbacks that draw views of their questions."""

    TAG = "attention"

    def views(self):
        return self.VIEWS(self.examples, self.preprocessor, self.inspect)

    def write(self, step):
        if importlib.util.find_spec("matplotlib") is None:
            warnings.warn(
                "TensorBoard gets no pictures of questions, since they need Matplotlib: "
                "pip install 'keras_corefmem[reports]'.",
                stacklevel=2,
            )
            return
        for n, view in enumerate(self.views(), 1):
            # TensorBoard opens with the first two groups of tags; these stay accuracy and loss.
            self.events.image(step, f"questions/{self.TAG}/{n}", draw(view))


class AttentionPictures(_Pictures):
    """Pictures `questions/attention/n`: the passage shaded by the reader's attention.

    Tokens of one coreference chain are underlined in one colour, in the question too where question
    and passage are one sequence; supporting facts are marked. Other edges are arcs.

    Args: those of `Questions`, with attention `(batch, time)`.

    Example:
        >>> make = keras_corefmem.callbacks.AttentionPictures
        >>> def callback(model, examples):
        ...     return make("logs", examples, model.preprocessor, model.inspect)
    """

    VIEWS = staticmethod(views.token_views)


class EdgeAttention(Questions):
    """Scalars `questions/edge_attention/TYPE`: mean attention of a reader to edges of each type.

    Args: those of `Questions`, with `inspect` a function from features and the number of rows that
    count to the attention by type: `model.attend_to_edges`.

    Example:
        >>> make = keras_corefmem.callbacks.EdgeAttention
        >>> def callback(model, examples):
        ...     return make("logs", examples, model.preprocessor, model.attend_to_edges)
    """

    COUNT = 16

    def write(self, step):
        shares = views.edge_shares(self.examples, self.preprocessor, self.inspect)
        tags = {f"questions/edge_attention/{name}": share for name, share in shares.items()}
        self.events.scalars(step, tags)


class HeadPictures(_Pictures):
    """Pictures `questions/heads/n`: the attention of each supervised head, beside its targets.

    Rows of a heat map are the tokens of a passage, columns the tokens that they attend to.

    Args: those of `Questions`, with `inspect` a function from features to the attention of heads
    `(batch, time, time)` by signal: `model.look`.

    Example:
        >>> make = keras_corefmem.callbacks.HeadPictures
        >>> def callback(model, examples):
        ...     return make("logs", examples, model.preprocessor, model.look)
    """

    TAG, COUNT = "heads", 2
    VIEWS = staticmethod(views.head_views)


class SentencePictures(_Pictures):
    """Pictures `questions/attention/n`: how far slots or passes open to each sentence.

    Every sentence is a row and every slot or pass a column; the question stands above. The
    attention is `(batch, sentences, columns)` and belongs to the last sentences of the passage.

    Args: those of `Questions`, and `columns`, a function that returns the names of the columns:
    `model.columns`. It is called each time, since the words that slots stand for change.

    References: Figure 2 of [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922), with rows
    and columns exchanged; Table 5 of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).

    Example:
        >>> make = keras_corefmem.callbacks.SentencePictures
        >>> def callback(model, examples):
        ...     return make("logs", examples, model.preprocessor, model.inspect, model.columns)
    """

    def __init__(self, log_dir, examples, preprocessor, inspect, columns, **kwargs):
        super().__init__(log_dir, examples, preprocessor, inspect, **kwargs)
        self.columns = columns

    def views(self):
        columns = self.columns()
        return views.sentence_views(self.examples, self.preprocessor, self.inspect, columns)


class WordPictures(_Pictures):
    """Pictures `questions/attention/n`: the attention of each pass to the words of a sentence.

    Every word is a row and every pass a column; for a tagger, a column is a word that the last pass
    attends to.

    Args: those of `Questions`, with examples that are `Sentence`s.

    Reference: Figures 4 and 5 of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).

    Example:
        >>> make = keras_corefmem.callbacks.WordPictures
        >>> def callback(model, sentences):
        ...     return make("logs", sentences, model.preprocessor, model.inspect)
    """

    VIEWS = staticmethod(views.word_views)


class AnswerAfterSentence(_Pictures):
    """Pictures `questions/answer_after_sentence/n`: the answer as the story is told.

    The model answers the question after the first sentence, after the second, and so on, and reads
    from the start each time. Answers have to be classes.

    Args: those of `Questions`.

    Example:
        >>> make = keras_corefmem.callbacks.AnswerAfterSentence
        >>> def callback(model, examples):
        ...     return make("logs", examples, model.preprocessor, model.inspect)
    """

    TAG, COUNT = "answer_after_sentence", 2
    VIEWS = staticmethod(views.beginning_views)


class AnswerFromOneReading(_Pictures):
    """Pictures `questions/answer_from_one_reading/n`: the answer at the end of each sentence.

    The model reads the passage once, and answers from its states at the ends of sentences.

    Args: those of `Questions`, with `inspect` a function from features and the positions where
    sentences end to probabilities `(batch, sentences, answers)`: `model.follow`.

    Reference: Figure 4 of [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620).

    Example:
        >>> make = keras_corefmem.callbacks.AnswerFromOneReading
        >>> def callback(model, examples):
        ...     return make("logs", examples, model.preprocessor, model.follow)
    """

    TAG, COUNT = "answer_from_one_reading", 2
    VIEWS = staticmethod(views.reading_views)


class AnswerTable(Questions):
    """Text `answers`: a table of questions with the right and the predicted answer.

    Args: those of `Questions`.

    Example:
        >>> make = keras_corefmem.callbacks.AnswerTable
        >>> def callback(model, examples):
        ...     return make("logs", examples, model.preprocessor, model.inspect)
    """

    # Heading of the column of `text`.
    TEXT, COUNT = "question", 16

    def write(self, step):
        lines = [f"| | {self.TEXT} | answer | predicted | probability |", "|---|---|---|---|---:|"]
        answered = views.inspect_examples(self.examples, self.preprocessor, self.inspect)
        for example, logits in zip(self.examples, answered.logits, strict=True):
            best = views.predicted_answer(example, logits, self.preprocessor)
            answer, probability, is_right = best
            sign = "✓" if is_right else "✗"
            cells = sign, self.text(example), example.answer, answer, f"{probability:.0%}"
            lines.append("|".join(["", *map(table_cell, cells), ""]))
        self.events.text(step, "answers", "\n".join(lines))

    def text(self, example):
        return example.question


class LabelTable(AnswerTable):
    """Text `answers`: a table of single sentences with the right and the predicted label.

    Args: those of `Questions`, with examples that are `Sentence`s.

    Example:
        >>> make = keras_corefmem.callbacks.LabelTable
        >>> def callback(model, sentences):
        ...     return make("logs", sentences, model.preprocessor, model.inspect)
    """

    TEXT = "sentence"

    def text(self, example):
        return " ".join(example.words)
