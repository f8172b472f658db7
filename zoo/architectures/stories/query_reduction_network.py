"""Query-reduction networks (QRN)."""

import keras
from keras import ops

from keras_corefmem.layers import PositionEncoding, QueryReduction
from zoo.architectures.stories.story_model import StoryModel, unit_uniform


@keras.saving.register_keras_serializable("keras_corefmem")
class QueryReductionNetwork(StoryModel):
    """Turns the question into one that is easier to answer, sentence by sentence.

    ```
    x_t = Σ_j l_j ⊙ e_j over the words of sentence t,   q_t^1 = Σ_j l_j ⊙ e_j of the question
    h^k = QueryReduction(x, q^k) forward and backward,   q^{k+1} = their sum
    P = softmax(W h^K_T), forward only in the last layer, and without its reset gate
    ```

    Args:
        vocabulary_size: number of token ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: words of a sentence or question.
        units: width of word vectors and states.
        layers: number K of layers.
        tied: whether all layers share their weights.
        update_bias: constant of the update gates.
        l2: factor of the squares of all weights but biases.
        **kwargs: `preprocessor` and the arguments of a Keras model.

    `attend` gives the update gates of every layer, `(batch, sentences, layers)`.

    Reference: [Seo et al., ICLR 2017](https://arxiv.org/abs/1606.04582).
    """

    COLUMN = "layer"
    READ_ENDS = False

    def __init__(
        self,
        vocabulary_size,
        num_answers,
        sentence_length,
        units=50,
        layers=2,
        tied=True,
        update_bias=-2.5,
        l2=0.0,
        **kwargs,
    ):
        config = {
            "units": units,
            "layers": layers,
            "tied": tied,
            "update_bias": update_bias,
            "l2": l2,
        }
        super().__init__(vocabulary_size, num_answers, sentence_length, config, **kwargs)

    @staticmethod
    def build_graph(sentences, question, read, config):
        table = StoryModel.embedding(config, embeddings_initializer=unit_uniform())
        encode = PositionEncoding(config["sentence_length"], name="position_encoding")
        x, q = (encode(table(ids), mask=ops.not_equal(ids, 0)) for ids in (sentences, question))
        queries = q[:, None] + ops.zeros_like(x)

        def make_layer(n):
            name = f"query_reduction_{n}"
            return QueryReduction(config["units"], config["update_bias"], name=name)

        tied, opened = make_layer(1) if config["tied"] else None, []
        for n in range(1, config["layers"] + 1):
            last = n == config["layers"]
            reduce = tied or make_layer(n)
            forward, backward, gates = reduce(x, queries, reset=not last, mask=read)
            opened.append(gates)
            queries = forward if last else forward + backward
        answer = keras.layers.Dense(
            config["num_answers"], use_bias=False, dtype="float32", name="answer"
        )
        return answer(queries[:, -1]), ops.stack(opened, axis=-1)
