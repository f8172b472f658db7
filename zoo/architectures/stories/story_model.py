"""The base class of readers of stories."""

import keras
import numpy as np
from keras import ops

from keras_corefmem import callbacks as boards
from keras_corefmem.layers import (
    RestoreSentences,
    RetrieveSentences,
    inverse_sentence_frequency,
)
from keras_corefmem.preprocessing.story_preprocessor import StoryPreprocessor
from keras_corefmem.visualization import views
from zoo.architectures.config import ExamplesMethod
from zoo.architectures.text_model import Graph, TextModel


class StoryModel(TextModel):
    """A model that reads a passage sentence by sentence.

    `attend` returns numbers for each sentence, `(batch, sentences, columns)`: gates of slots, or
    the attention of passes; `columns()` names them. Baselines may have no attention.

    With `retrieve=k`, the model only reads the k sentences that match the question best, see
    `RetrieveSentences`; `attend` is 0 for the others. `from_examples` weights words by how rare
    they are in the passages; otherwise all words have equal weight.
    """

    # Whether the model's authors read the marks that end sentences and questions.
    READ_ENDS = True
    # Name of a column of the attention.
    COLUMN = "pass"

    @staticmethod
    def shared_with(preprocessor):
        return {"sentence_length": preprocessor.sentence_length}

    @classmethod
    def build_graph(cls, config):
        inputs = {
            "sentences": keras.Input(
                (None, config.sentence_length), dtype="int32", name="sentences"
            ),
            "question": keras.Input((config.sentence_length,), dtype="int32", name="question"),
        }
        sentences, question = inputs["sentences"], inputs["question"]
        if config.retrieve is not None:
            sizes = config.retrieve, config.vocabulary_size, config.retrieve_hops
            search = RetrieveSentences(*sizes, name="retrieve")
            sentences, positions = search(sentences, question)
        read = ops.any(ops.not_equal(sentences, 0), axis=-1)
        extra = cls.extra_inputs(config)
        logits, attention = cls.read_story(sentences, question, read, config, **extra)
        if config.retrieve is not None and attention is not None:
            restore = RestoreSentences(name="restore")
            attention = restore(attention, positions, inputs["sentences"])
        return Graph(inputs | extra, logits, attention)

    @staticmethod
    def extra_inputs(config):
        """Returns further symbolic features by name, which `read_story` takes as arguments."""
        return {}

    @staticmethod
    def read_story(sentences, question, read, config, **extra):
        """Builds the logits, and the attention or `None`.

        Args:
            sentences: `(batch, sentences, words)`.
            question: `(batch, words)`.
            read: bool `(batch, sentences)`, true for sentences that are not padding.
            config: arguments of the model.
            **extra: the `extra_inputs`.
        """
        raise NotImplementedError("A subclass of StoryModel must implement read_story.")

    @staticmethod
    def embedding(config, width=None, **kwargs):
        """Makes the table of word vectors."""
        return keras.layers.Embedding(
            config.vocabulary_size, width or config.units, name="word_embedding", **kwargs
        )

    @ExamplesMethod
    def from_examples(
        cls,
        examples,
        max_sentences=70,
        read_ends=None,
        free_symbols=0,
        word_vectors=None,
        **arguments,
    ):
        """Makes an untrained model for the words, sentences and answers of training examples.

        Args:
            examples: training examples, in any form that `keras_corefmem.datasets.as_examples`
                takes; the preprocessing is learned from them.
            max_sentences: number of sentences of a passage that are read, the last ones.
            read_ends: whether the mark that ends a sentence or question is read as a word;
                `None` follows the model's authors.
            free_symbols: number of free symbols. Each unknown word of a text is read as one, in the
                order of first mention, and may be the answer. The augmentation `"unseen"` trains
                them.
            word_vectors: path of a file of pretrained vectors, of GloVe or word2vec, to start
                from; `coverage` says how many words it contains.
            **arguments: arguments of the constructor.
        """
        preprocessor = cls.fit_stories(examples, max_sentences, read_ends, free_symbols)
        return cls.start(preprocessor, examples, word_vectors, **arguments)

    @classmethod
    def fit_stories(cls, examples, max_sentences, read_ends, free_symbols):
        """Fits the `StoryPreprocessor` of `from_examples`."""
        return StoryPreprocessor.fit(
            examples,
            max_sentences=max_sentences,
            read_ends=cls.READ_ENDS if read_ends is None else read_ends,
            free_symbols=free_symbols,
        )

    @classmethod
    def start(cls, preprocessor, examples, *args, **arguments):
        model = super().start(preprocessor, examples, *args, **arguments)
        if model.config["retrieve"] is not None:
            rows = np.concatenate([preprocessor.encode(e).sentences for e in examples])
            idf = inverse_sentence_frequency(rows, len(preprocessor.vocabulary))
            model.get_layer("retrieve").idf.assign(idf)
        return model

    def columns(self):
        """Returns the names of the columns of `attend`, such as `"pass 1"`."""
        return [f"{self.COLUMN} {n}" for n in range(1, self.attention_output.shape[-1] + 1)]

    def views(self, examples):
        if not self.has_attention:
            return super().views(examples)
        shown = examples, self.preprocessor, self.inspect, self.columns()
        return [[view] for view in views.sentence_views(*shown)]

    def tensorboard_callbacks(self, log_dir, examples):
        watching = super().tensorboard_callbacks(log_dir, examples)
        if self.has_attention:
            shown = log_dir, examples, self.preprocessor, self.inspect
            watching.append(boards.SentencePictures(*shown, columns=self.columns))
        return watching


def unit_uniform():
    """Makes an initializer of uniform numbers with variance 1."""
    return keras.initializers.RandomUniform(-(3**0.5), 3**0.5)
