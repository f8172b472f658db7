"""Dynamic memory networks: DMN and DMN+."""

import keras
from keras import ops

from keras_corefmem.layers import MAGEGRU, EpisodicMemory, PositionEncoding, SentenceEnds
from zoo.story_model import StoryModel


@keras.saving.register_keras_serializable("keras_corefmem")
class DynamicMemoryNetwork(StoryModel):
    """Reads the facts of a passage again and again, led by the question and by what it found.

    ```
    c_t = state of a GRU over the words of the passage at the end of sentence t
    q = last state of a GRU over the words of the question
    m = EpisodicMemory(c, q)
    P = softmax(W [m ; q] + b)
    ```

    With `input_module="fusion"` (DMN+), `c` is the sum of both directions of a GRU over sentences
    that are encoded by position.

    Args:
        vocabulary_size: number of token ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: words of a sentence or question.
        units: width of word vectors, facts and memory.
        passes: number of passes.
        attention: see `EpisodicMemory`.
        compact: see `EpisodicMemory`.
        update: see `EpisodicMemory`.
        end_of_passes: see `EpisodicMemory`.
        input_module: `"words"` (DMN) or `"fusion"` (DMN+).
        dropout: fraction of word vectors, and of the units of the answer module, to drop.
        l2: factor of the squares of the word vectors and the answer's weights.
        **kwargs: `preprocessor` and the arguments of a Keras model.

    `attend` gives the attention of every pass, `(batch, sentences, passes)`; with `end_of_passes`
    the last row is that of the fact which ends the reading.

    References: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285); DMN+: [Xiong et al.,
    ICML 2016](https://arxiv.org/abs/1603.01417).
    """

    def __init__(
        self,
        vocabulary_size,
        num_answers,
        sentence_length,
        units=80,
        passes=3,
        attention="gated",
        compact=False,
        update="gru",
        end_of_passes=False,
        input_module="words",
        dropout=0.1,
        l2=0.0,
        **kwargs,
    ):
        if input_module not in ("words", "fusion"):
            raise ValueError(f"input_module must be words or fusion; got {input_module!r}.")
        config = {
            "units": units,
            "passes": passes,
            "attention": attention,
            "compact": compact,
            "update": update,
            "end_of_passes": end_of_passes,
            "input_module": input_module,
            "dropout": dropout,
            "l2": l2,
        }
        super().__init__(vocabulary_size, num_answers, sentence_length, config, **kwargs)

    @staticmethod
    def build_graph(sentences, question, read, config):
        units, length = config["units"], config["sentence_length"]
        table, regularizer = StoryModel.embedding(config)
        drop = keras.layers.Dropout(config["dropout"], noise_shape=(None, 1, None))
        if config["input_module"] == "words":
            flat = keras.layers.Reshape((-1,), name="words")(sentences)
            states = MAGEGRU((units,), name="input_gru")(
                drop(table(flat)), mask=ops.not_equal(flat, 0)
            )
            facts = SentenceEnds(length, name="sentence_ends")(states)
        else:
            encode = PositionEncoding(length, name="position_encoding")
            encoded = drop(encode(table(sentences), mask=ops.not_equal(sentences, 0)))
            fused = MAGEGRU((units,), bidirectional=True, name="fusion")(encoded, mask=read)
            facts = drop(fused[..., :units] + fused[..., units:])
        asked = MAGEGRU((units,), return_sequences=False, name="question_gru")(
            table(question), mask=ops.not_equal(question, 0)
        )
        episodes = EpisodicMemory(
            units,
            config["passes"],
            config["attention"],
            config["compact"],
            config["update"],
            config["end_of_passes"],
            name="episodic_memory",
        )
        memory, scores = episodes(facts, asked, mask=read)
        found = ops.concatenate([memory, asked], axis=-1)
        found = keras.layers.Dropout(config["dropout"], name="answer_dropout")(found)
        logits = keras.layers.Dense(
            config["num_answers"], kernel_regularizer=regularizer, dtype="float32", name="answer"
        )(found)
        return logits, ops.transpose(episodes.attention_of(scores), (0, 2, 1))
