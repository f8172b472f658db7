"""What the models of single sentences share."""

import keras
from keras import ops

from keras_corefmem.preprocessing.batches import SentenceBatches
from keras_corefmem.preprocessing.loading import get
from keras_corefmem.preprocessing.sentence_preprocessor import SentencePreprocessor, word_counts
from zoo.architectures.text_model import TextModel, without_unknown

OUTPUTS = ("class", "tags")


class SentenceModel(TextModel):
    """A model that labels a sentence, or each of its words.

    Input: a dictionary of int32 features: `words` `(batch, time)` and, where words are spelt,
    `characters` `(batch, time, word_length)`. Padding is 0, at the end.

    Output: logits `(batch, num_answers)`, or `(batch, time, num_answers)` for tags, float32.

    Args:
        vocabulary_size: number of word ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        num_characters: number of character ids; 0 where words are not spelt.
        word_length: characters of a word.
        output: `"class"`, or `"tags"` for an answer a word.
        config: further arguments of the subclass.
        preprocessor: the `SentencePreprocessor` (or its configuration) that turns text into
            features.

    Raises:
        ValueError: if the output does not exist, or the preprocessor does not fit the model.
    """

    BATCHES = SentenceBatches
    STRINGS = ("sentence",)

    def __init__(
        self,
        vocabulary_size,
        num_answers,
        num_characters,
        word_length,
        output,
        config,
        preprocessor=None,
        **kwargs,
    ):
        if output not in OUTPUTS:
            raise ValueError(f"output must be one of {', '.join(OUTPUTS)}; got {output!r}.")
        config = {
            "vocabulary_size": vocabulary_size,
            "num_answers": num_answers,
            "num_characters": num_characters,
            "word_length": word_length,
            "output": output,
            **config,
        }
        preprocessor = get(preprocessor)
        if preprocessor is not None:
            check_preprocessor(preprocessor, config)
        inputs = {"words": keras.Input((None,), dtype="int32", name="words")}
        if num_characters:
            shape = (None, word_length)
            inputs["characters"] = keras.Input(shape, dtype="int32", name="characters")
        read = ops.not_equal(inputs["words"], 0)
        logits, attention = self.build_graph(inputs, read, config)
        super().__init__(inputs, without_unknown(logits), attention, config, preprocessor, **kwargs)

    @staticmethod
    def build_graph(inputs, read, config):
        """Logits and attention from symbolic features.

        Args:
            inputs: the features by name.
            read: bool `(batch, time)`, which words are not padding.
            config: the arguments of the model.
        """
        raise NotImplementedError("A subclass of SentenceModel must implement build_graph.")

    @classmethod
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
        """An untrained model for the words and answers of training sentences.

        With tags for the words of the examples, it is a tagger.

        Args:
            examples: list of `Sentence`.
            word_vectors: path of a file of pretrained vectors, GloVe's or word2vec's, to start
                from: `coverage` says how many words it has. A cased word that it lacks gets the
                vector of its lower case.
            characters: whether to spell words.
            lower_case: whether the vocabulary is lower-cased; characters never are.
            min_count: how often a word has to occur to have a vector of its own.
            word_length: characters of a word that are read.
            **arguments: further arguments of the constructor.

        Raises:
            ValueError: if the examples are no `Sentence`s, or the vectors have another width than
                an `embedding_dim` that is given.
        """
        preprocessor = SentencePreprocessor.fit(
            examples,
            characters=characters,
            lower_case=lower_case,
            min_count=min_count,
            word_length=word_length,
        )
        return cls.start(
            preprocessor,
            word_vectors,
            None if word_vectors is None else word_counts(examples, lower_case),
            num_characters=preprocessor.num_characters,
            word_length=word_length,
            output="tags" if preprocessor.tags else "class",
            **arguments,
        )

    def id_counts(self):
        counts, characters = super().id_counts(), self.config["num_characters"]
        return {**counts, "characters": characters} if characters else counts

    def read(self, sentences, top=5):
        """Labels raw text, see `zoo.reading.answers.read`."""
        from zoo.reading.answers import read

        return read(self, sentences, top=top)

    def compile(self, optimizer=None, loss=None, *, weighted_metrics=None, **kwargs):
        """Compiles as `TextModel` does; loss and accuracy are means over all that has an answer."""
        if weighted_metrics is None:
            weighted_metrics = ["accuracy"]
        if loss is None:
            loss = keras.losses.SparseCategoricalCrossentropy(
                from_logits=True, reduction="mean_with_sample_weight"
            )
        super().compile(optimizer, loss, weighted_metrics=weighted_metrics, **kwargs)


def check_preprocessor(preprocessor, config):
    """Refuses a preprocessor that lays out features differently from the model.

    Raises:
        ValueError: naming the argument that differs.
    """
    has = {
        "num_characters": preprocessor.num_characters,
        "word_length": preprocessor.word_length,
        "output": OUTPUTS[preprocessor.tags],
    }
    for name, value in has.items():
        if value != config[name]:
            raise ValueError(
                f"The preprocessor has {name}={value!r}, the model {config[name]!r}; give both "
                "the same."
            )
