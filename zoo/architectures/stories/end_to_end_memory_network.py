"""End-to-end memory networks (MemN2N)."""

import keras
from keras import ops

from keras_corefmem.layers import EndToEndMemory
from keras_corefmem.text.tokenizers import lower
from zoo.architectures.stories.story_model import StoryModel


@keras.saving.register_keras_serializable("keras_corefmem")
class EndToEndMemoryNetwork(StoryModel):
    """Attends to the sentences of a passage several times, see `EndToEndMemory`.

    Answers that are words of the vocabulary share their embeddings, others have their own.

    Args:
        vocabulary_size: number of token ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: words of a sentence or question.
        answer_tokens: token id of each answer, `None` for those that are no word.
        units: width of embeddings.
        hops: number of hops.
        max_sentences: number of places of the memory; `from_examples` takes the sentences of the
            longest passage.
        linear_start: number of epochs without softmax at the start of training (`LinearStart`).
        time_noise: share of empty sentences that training adds.
        **kwargs: `preprocessor` and the arguments of a Keras model.

    `attend` gives the attention of every hop, `(batch, sentences, hops)`.

    Reference: [Sukhbaatar et al., NIPS 2015](https://arxiv.org/abs/1503.08895).
    """

    COLUMN = "hop"
    READ_ENDS = False
    FIXED = ("word_vectors",)

    def __init__(
        self,
        vocabulary_size,
        num_answers,
        sentence_length,
        answer_tokens=None,
        units=20,
        hops=3,
        max_sentences=70,
        linear_start=20,
        time_noise=0.1,
        **kwargs,
    ):
        config = {
            "answer_tokens": list(answer_tokens or [None] * num_answers),
            "units": units,
            "hops": hops,
            "max_sentences": max_sentences,
            "linear_start": linear_start,
            "time_noise": time_noise,
        }
        super().__init__(vocabulary_size, num_answers, sentence_length, config, **kwargs)

    @property
    def warm_up_epochs(self):
        return self.config["linear_start"]

    def training_callbacks(self):
        return [LinearStart(self.config["linear_start"])]

    @staticmethod
    def build_graph(sentences, question, read, config):
        size, tokens = config["vocabulary_size"], []
        for token in config["answer_tokens"]:
            tokens.append(size if token is None else token)
            size += token is None
        memory = EndToEndMemory(
            size,
            config["units"],
            config["hops"],
            config["max_sentences"],
            config["sentence_length"],
            tokens,
            config["time_noise"],
            name="memory",
        )
        logits, attention = memory(sentences, question)
        return logits, ops.transpose(attention, (0, 2, 1))

    @classmethod
    def learned(cls, preprocessor, examples):
        ids = preprocessor.vocabulary.encode([lower(answer) for answer in preprocessor.answers])
        longest = max(len(preprocessor.encode(example).sentences) for example in examples)
        return {
            "max_sentences": longest,
            "answer_tokens": [None if n < 2 else int(n) for n in ids],
        }


class LinearStart(keras.callbacks.Callback):
    """Trains an `EndToEndMemoryNetwork` without the softmax of its hops for the first epochs.

    The `fit` of the network adds it by itself. Between epochs the softmax is there, so that what is
    validated and saved is the network itself.

    Args:
        epochs: number of these epochs.

    Reference: [Sukhbaatar et al., NIPS 2015](https://arxiv.org/abs/1503.08895), Section 4.2.
    """

    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.get_layer("memory").linear.assign(float(epoch < self.epochs))

    def on_epoch_end(self, epoch, logs=None):
        self.model.get_layer("memory").linear.assign(0.0)
