"""The base class of models of single sentences."""

import keras
from keras import ops

from keras_corefmem import callbacks as boards
from keras_corefmem.preprocessing.sentence_preprocessor import SentencePreprocessor, word_counts
from keras_corefmem.visualization import views
from zoo.architectures.config import ExamplesMethod
from zoo.architectures.text_model import Graph, TextModel
from zoo.reading.answers import read


class SentenceModel(TextModel):
    """A model that labels a sentence, or each of its words."""

    TEXTS = {"sentence": "A great film."}

    @staticmethod
    def shared_with(preprocessor):
        return {
            "num_characters": preprocessor.num_characters,
            "word_length": preprocessor.word_length,
            "output": "tags" if preprocessor.tags else "class",
        }

    @classmethod
    def build_graph(cls, config):
        inputs = {"words": keras.Input((None,), dtype="int32", name="words")}
        if config.num_characters:
            shape = (None, config.word_length)
            inputs["characters"] = keras.Input(shape, dtype="int32", name="characters")
        read = ops.not_equal(inputs["words"], 0)
        return Graph(inputs, *cls.read_sentence(inputs, read, config))

    @staticmethod
    def read_sentence(inputs, read, config):
        """Builds the logits, and the attention or `None`.

        Args:
            inputs: symbolic features by name.
            read: bool `(batch, time)`, true for words that are not padding.
            config: arguments of the model.
        """
        raise NotImplementedError("A subclass of SentenceModel must implement read_sentence.")

    @ExamplesMethod
    def from_examples(
        cls,
        examples,
        word_vectors=None,
        characters=False,
        lower_case=True,
        min_count=1,
        word_length=16,
        **arguments,
    ):
        """Makes an untrained model for the words and answers of training sentences.

        The model is a tagger if the examples have tags for their words.

        Args:
            examples: list of `Sentence`.
            word_vectors: path of a file of pretrained vectors, of GloVe or word2vec, to start
                from; `coverage` says how many words it contains. A word with capitals that it lacks
                gets the vector of its lower case.
            characters: whether to read the characters of words.
            lower_case: whether the vocabulary is lower-cased; characters never are.
            min_count: number of times that a word must occur to have its own vector.
            word_length: number of characters of a word that are read.
            **arguments: arguments of the constructor.

        Raises:
            ValueError: if the examples are not of type `Sentence`, or the vectors do not have the
                width `embedding_dim`, if this is passed.
        """
        preprocessor = SentencePreprocessor.fit(
            examples,
            characters=characters,
            lower_case=lower_case,
            min_count=min_count,
            word_length=word_length,
        )
        return cls.start(
            preprocessor, examples, word_vectors, word_counts(examples, lower_case), **arguments
        )

    def id_counts(self):
        counts, characters = super().id_counts(), self.config["num_characters"]
        return {**counts, "characters": characters} if characters else counts

    def read(self, sentences, top=5):
        """Labels raw text.

        Args:
            sentences: a string or a list of strings.
            top: number of labels, at most all that the model knows; a tagger returns one for each
                word.

        Returns:
            A `zoo.Reading`, or a `zoo.Tagging` from a tagger; a list of them for a list.

        Raises:
            ValueError: if a sentence is empty, or the model has no preprocessor.
        """
        return read(self, sentences, top=top)

    def answer_lines(self, examples):
        for view in views.word_views(examples, self.preprocessor, self.inspect):
            yield f"{view.question}  {', '.join(text for text, _ in view.heading)}"

    def views(self, examples):
        return [[view] for view in views.word_views(examples, self.preprocessor, self.inspect)]

    def tensorboard_callbacks(self, log_dir, examples):
        shown = log_dir, examples, self.preprocessor, self.inspect
        watching = [boards.WordProjector(log_dir, self.preprocessor)]
        if not self.preprocessor.tags:
            watching.append(boards.LabelTable(*shown))
        return [*watching, boards.WordPictures(*shown)] if self.has_attention else watching

    def default_loss(self):
        # The mean must be over words, whose number differs between batches.
        reduction = "mean_with_sample_weight"
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)

    def accuracy(self):
        return keras.metrics.SparseCategoricalAccuracy("accuracy")
