"""Recurrent entity networks: REN and, question dependent, QDREN."""

import keras
from keras import ops

from keras_corefmem.layers import EntityMemory, EntityOutput, MultiplicativeMask
from zoo.story_model import StoryModel


@keras.saving.register_keras_serializable("keras_corefmem")
class RecurrentEntityNetwork(StoryModel):
    """Keeps a memory of entities up to date, sentence by sentence, and answers from it.

    ```
    s_t = Σ_r f_r ⊙ e_r over the words of sentence t,   q = Σ_r f'_r ⊙ e_r
    memory = EntityMemory(s_1 … s_T [, q])
    y = φ(q + H Σ_j softmax_j(q·h_j) h_j),   P = softmax(R y)
    ```

    Args:
        vocabulary_size: number of token ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: words of a sentence or question.
        question_dependent: whether the question opens gates (QDREN), or not (REN).
        slots: number of entities.
        units: width of word vectors, sentences and slots.
        activation: φ of the memory and the output, which share the slopes of a PReLU.
        output_activation: φ of the output, where it is another one.
        dropout: fraction of the word vectors of the story to drop, before they are summed.
        mask_initializer: initializer of f: `"ones"` in the paper; the authors' code starts that of
            the sentences at random.
        gate_bias: whether gates have a bias per slot, as in the authors' code.
        slot_slopes: whether every slot has PReLU slopes of its own; the output then has others.
        l2: factor of the squares of all weights but biases.
        initializer: initializer of word vectors and matrices.
        **kwargs: `preprocessor` and the arguments of a Keras model.

    `attend` gives the gates, `(batch, sentences, slots)`.

    References: [Henaff et al., ICLR 2017](https://arxiv.org/abs/1612.03969);
    [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922).
    """

    COLUMN = "slot"

    def __init__(
        self,
        vocabulary_size,
        num_answers,
        sentence_length,
        question_dependent=False,
        slots=20,
        units=100,
        activation="prelu",
        output_activation=None,
        dropout=0.0,
        mask_initializer="ones",
        gate_bias=True,
        slot_slopes=False,
        l2=0.0,
        initializer="glorot_uniform",
        **kwargs,
    ):
        config = {
            "question_dependent": question_dependent,
            "slots": slots,
            "units": units,
            "activation": activation,
            "output_activation": output_activation,
            "dropout": dropout,
            "mask_initializer": mask_initializer,
            "gate_bias": gate_bias,
            "slot_slopes": slot_slopes,
            "l2": l2,
            "initializer": initializer,
        }
        super().__init__(vocabulary_size, num_answers, sentence_length, config, **kwargs)

    @staticmethod
    def build_graph(sentences, question, read, config):
        table, regularizer = StoryModel.embedding(
            config, embeddings_initializer=config["initializer"]
        )
        shared = {"initializer": config["initializer"], "regularizer": regularizer}
        words = {"sentence": sentences, "question": question}
        vectors = {name: table(ids) for name, ids in words.items()}
        vectors["sentence"] = keras.layers.Dropout(config["dropout"])(vectors["sentence"])
        encoded = {
            name: MultiplicativeMask(
                config["sentence_length"],
                config["mask_initializer"],
                regularizer,
                name=f"{name}_mask",
            )(vectors[name], mask=ops.not_equal(ids, 0))
            for name, ids in words.items()
        }
        activation = config["activation"]
        if activation == "prelu":
            axes = None if config["slot_slopes"] else [1]
            activation = keras.layers.PReLU(alpha_initializer="ones", shared_axes=axes)
        memory = EntityMemory(
            config["slots"],
            config["units"],
            question_dependent=config["question_dependent"],
            activation=activation,
            gate_bias=config["gate_bias"],
            return_gates=True,
            name="entity_memory",
            **shared,
        )
        asked = [encoded["question"]] if config["question_dependent"] else []
        slots, gates = memory(encoded["sentence"], *asked, mask=read)
        output = config["output_activation"] or ("prelu" if config["slot_slopes"] else activation)
        read_out = EntityOutput(output, name="output_module", **shared)
        summary, _ = read_out(slots, encoded["question"])
        logits = keras.layers.Dense(
            config["num_answers"],
            use_bias=False,
            kernel_initializer=config["initializer"],
            kernel_regularizer=regularizer,
            dtype="float32",
            name="answer",
        )(summary)
        return logits, gates
