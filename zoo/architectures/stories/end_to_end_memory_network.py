"""End-to-end memory networks (MemN2N)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from keras_corefmem.layers import EndToEndMemory
from keras_corefmem.text.tokenizers import lower
from zoo.architectures.config import Count, Learned, Share, Size, Tokens
from zoo.architectures.stories.story_model import StoryModel


@keras.saving.register_keras_serializable("keras_corefmem")
class EndToEndMemoryNetwork(StoryModel):
    """Attends to the sentences of a passage several times, see `EndToEndMemory`.

    Answers that are words of the vocabulary share the words' embeddings; others have their own.

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: int, number of words of a sentence or question.
        answer_tokens: list, token id of each answer, `None` for those that are not words.
        units: int, width of embeddings.
        hops: int, number of hops.
        max_sentences: int, number of places of the memory; `from_examples` uses the number of
            sentences of the longest passage.
        linear_start: int, number of epochs without softmax at the start of training
            (`LinearStart`).
        time_noise: float, share of empty sentences that are added in training.
        retrieve: int, number k of sentences to read, those that match the question best; `None` for
            all.
        retrieve_hops: int, number of hops of the retrieval.
        preprocessor: the preprocessor (or its configuration) that turns text into features.
        name: str, name of the model.
        trainable: bool, whether its weights are trained.
        dtype: str or `keras.DTypePolicy`, precision, such as `"mixed_bfloat16"`; `None` for Keras'
            default.

    Input: int32 `sentences` `(batch, sentences, words)` and `question` `(batch, words)`, padded
    with 0. Output: logits `(batch, num_answers)`, float32.

    `attend` returns the attention of all hops, `(batch, sentences, hops)`.

    Reference: [Sukhbaatar et al., NIPS 2015](https://arxiv.org/abs/1503.08895).

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> model = zoo.EndToEndMemoryNetwork.from_examples(stories, units=4)
    >>> model.output.shape[-1] == len(model.preprocessor.answers)
    True
    """

    COLUMN = "hop"
    READ_ENDS = False
    HAS_WORD_VECTORS = False
    ELSEWHERE = ("linear_start",)

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        sentence_length: Learned,
        answer_tokens: Tokens = None,
        units: Size = 20,
        hops: Size = 3,
        max_sentences: Size = 70,
        linear_start: Count = 20,
        time_noise: Share = 0.1,
        retrieve: Size | None = None,
        retrieve_hops: Size = 1,
        preprocessor: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(locals())

    @classmethod
    def check_arguments(cls, config):
        tokens, size = config.answer_tokens, config.vocabulary_size
        if tokens is not None and len(tokens) != config.num_answers:
            raise ValueError(
                f"answer_tokens must hold a token or None for each of {config.num_answers} "
                f"answers; got {len(tokens)}."
            )
        for token in tokens or ():
            if token is not None and not 0 <= token < size:
                raise ValueError(
                    f"answer_tokens must be below vocabulary_size={size}, got {token}."
                )

    @property
    def warm_up_epochs(self):
        return self.config["linear_start"]

    def training_callbacks(self):
        return [LinearStart(self.config["linear_start"])]

    @staticmethod
    def read_story(sentences, question, read, config):
        size, tokens = config.vocabulary_size, []
        for token in config.answer_tokens or [None] * config.num_answers:
            tokens.append(size if token is None else token)
            size += token is None
        memory = EndToEndMemory(
            size,
            config.units,
            config.hops,
            config.max_sentences,
            config.sentence_length,
            tokens,
            config.time_noise,
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

    The `fit` of the network adds this callback. The softmax is restored at the end of each epoch,
    so that the network is validated and saved with it.

    Args:
        epochs: number of epochs without softmax.

    Reference: [Sukhbaatar et al., NIPS 2015](https://arxiv.org/abs/1503.08895), Section 4.2.

    Example:

    >>> zoo.LinearStart(epochs=20).epochs
    20
    """

    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.get_layer("memory").linear.assign(float(epoch < self.epochs))

    def on_epoch_end(self, epoch, logs=None):
        self.model.get_layer("memory").linear.assign(0.0)

    def on_test_begin(self, logs=None):
        self.on_epoch_end(-1)
