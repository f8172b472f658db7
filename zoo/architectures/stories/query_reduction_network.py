"""Query-reduction networks (QRN)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from keras_corefmem.layers import PositionEncoding, QueryReduction
from zoo.architectures.config import Factor, Learned, Size
from zoo.architectures.precision import answer_dtype
from zoo.architectures.stories.story_model import StoryModel, unit_uniform


@keras.saving.register_keras_serializable("keras_corefmem")
class QueryReductionNetwork(StoryModel):
    """Reduces the question to one that is easier to answer, sentence by sentence.

    ```
    x_t = Σ_j l_j ⊙ e_j over the words of sentence t,   q_t^1 = Σ_j l_j ⊙ e_j of the question
    h^k = QueryReduction(x, q^k) forward and backward,   q^{k+1} = their sum
    P = softmax(W h^K_T), forward only in the last layer, and without its reset gate
    ```

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: int, number of words of a sentence or question.
        units: int, width of word vectors and states.
        layers: int, number K of layers.
        tied: bool, whether all layers share their weights.
        update_bias: float, constant added in the update gates.
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

    `attend` returns the update gates of all layers, `(batch, sentences, layers)`.

    Reference: [Seo et al., ICLR 2017](https://arxiv.org/abs/1606.04582).

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> model = zoo.QueryReductionNetwork.from_examples(stories, units=4)
    >>> model.output.shape[-1] == len(model.preprocessor.answers)
    True
    """

    COLUMN = "layer"
    READ_ENDS = False

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        sentence_length: Learned,
        units: Size = 50,
        layers: Size = 2,
        tied: bool = True,
        update_bias: float = -2.5,
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
        table = StoryModel.embedding(config, embeddings_initializer=unit_uniform())
        encode = PositionEncoding(config.sentence_length, name="position_encoding")
        x, q = (encode(table(ids), mask=ops.not_equal(ids, 0)) for ids in (sentences, question))
        queries = q[:, None] + ops.zeros_like(x)

        def make_layer(n):
            name = f"query_reduction_{n}"
            return QueryReduction(config.units, config.update_bias, name=name)

        tied, opened = make_layer(1) if config.tied else None, []
        for n in range(1, config.layers + 1):
            last = n == config.layers
            reduce = tied or make_layer(n)
            forward, backward, gates = reduce(x, queries, reset=not last, mask=read)
            opened.append(gates)
            queries = forward if last else forward + backward
        answer = keras.layers.Dense(
            config.num_answers, use_bias=False, dtype=answer_dtype(), name="answer"
        )
        return answer(queries[:, -1]), ops.stack(opened, axis=-1)
