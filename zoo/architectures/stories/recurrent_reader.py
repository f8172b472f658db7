"""The recurrent baseline for memory networks: one LSTM or GRU over all words."""

from __future__ import annotations

from typing import Any, Literal

import keras
from keras import ops

from keras_corefmem.layers import MAGEGRU, HashDropout
from zoo.architectures.config import Factor, Learned, Share, Size
from zoo.architectures.precision import answer_dtype
from zoo.architectures.stories.story_model import StoryModel


@keras.saving.register_keras_serializable("keras_corefmem")
class RecurrentReader(StoryModel):
    """Reads the words of a passage, then those of the question, and answers from the last state.

    ```
    h_t = LSTM(e_t, h_{t-1}) over all words of the passage, then of the question
    P = softmax(W h_T + b)
    ```

    There is padding between the words, which does not change the state.

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: int, number of words of a sentence or question.
        cell: str, `"lstm"` or `"gru"`.
        units: int, width of the state.
        embedding_dim: int, width of the word vectors.
        dropout: float, fraction of the units of the word vectors and of the last state to drop,
            with one mask for all words of a text.
        l2: float, factor of an L2 penalty on all weights except biases.
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

    There is no attention: `attend` raises an error.

    Raises:
        ValueError: if there is no such cell.

    References: the LSTM of [Weston et al., 2015](https://arxiv.org/abs/1502.05698), Table 3, and of
    [Sukhbaatar et al., NIPS 2015](https://arxiv.org/abs/1503.08895), Table 1.

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> model = zoo.RecurrentReader.from_examples(stories, units=4)
    >>> model.output.shape[-1] == len(model.preprocessor.answers)
    True
    """

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        sentence_length: Learned,
        cell: Literal["lstm", "gru"] = "lstm",
        units: Size = 64,
        embedding_dim: Size = 64,
        dropout: Share = 0.1,
        l2: Factor = 0.0,
        retrieve: Size | None = None,
        retrieve_hops: Size = 1,
        preprocessor: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(locals())

    @staticmethod
    def read_story(sentences, question, read, config):
        table = StoryModel.embedding(config, config.embedding_dim)
        passage = keras.layers.Reshape((-1,), name="words")(sentences)
        words = ops.concatenate([passage, question], axis=1)
        vectors = table(words)
        drop = HashDropout(config.dropout, noise_shape=(None, 1, None), name="dropout")
        if config.cell == "gru":
            recurrence = MAGEGRU((config.units,), return_sequences=False, name="gru")
        else:
            # cuDNN requires padding after the words, and prevents XLA for the whole model.
            recurrence = keras.layers.LSTM(config.units, use_cudnn=False, name="lstm")
        state = recurrence(drop(vectors), mask=ops.not_equal(words, 0))
        state = HashDropout(config.dropout, name="answer_dropout")(state)
        logits = keras.layers.Dense(config.num_answers, dtype=answer_dtype(), name="answer")(state)
        return logits, None
