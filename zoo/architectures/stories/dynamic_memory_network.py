"""Dynamic memory networks: DMN and DMN+."""

from __future__ import annotations

from typing import Any, Literal

import keras
from keras import ops

from keras_corefmem.layers import (
    MAGEGRU,
    AnswerDecoder,
    EpisodicMemory,
    HashDropout,
    PositionEncoding,
    ScaledGradient,
    SentenceEnds,
)
from keras_corefmem.preprocessing.encoding.answers import SEPARATOR
from keras_corefmem.preprocessing.story_preprocessor import StoryPreprocessor
from zoo.architectures.config import (
    Count,
    ExamplesMethod,
    Factor,
    Initializer,
    Learned,
    Share,
    Size,
)
from zoo.architectures.precision import answer_dtype
from zoo.architectures.stories.story_model import StoryModel, unit_uniform

# Name of the layer whose factor is the weight of the loss of answers.
ANSWER_WEIGHT = "answer_weight"


@keras.saving.register_keras_serializable("keras_corefmem")
class DynamicMemoryNetwork(StoryModel):
    """Reads the facts of a passage in several passes, guided by the question and earlier passes.

    ```
    c_t = state of a GRU over the words of the passage at the end of sentence t
    q = last state of a GRU over the words of the question
    m = EpisodicMemory(c, q)
    P = softmax(W [m ; q] + b)
    ```

    With `input_module="fusion"` (DMN+), `c` is the sum of both directions of a GRU over sentences
    that are encoded by position. With an `answer_length` above 1, an `AnswerDecoder` generates
    answers of several words, and logits are `(batch, answer_length, num_answers)`. With a
    `gate_loss`, training also needs the feature `supporting_facts` `(batch, facts)`: the 1-based
    number of the sentence that each pass should attend to; 0 = unknown, as in prediction.

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: int, number of words of a sentence or question.
        units: int, width of word vectors, facts and memory.
        passes: int, number of passes.
        attention: str, see `EpisodicMemory`.
        compact: bool, see `EpisodicMemory`.
        update: str, see `EpisodicMemory`.
        end_of_passes: bool, see `EpisodicMemory`.
        input_module: str, `"words"` (DMN) or `"fusion"` (DMN+).
        answer_length: int, number of words of the longest answer with its end, or 1 if answers are
            classes.
        max_facts: int, width of `supporting_facts`.
        gate_loss: float, weight of the loss of passes that do not attend to the supporting facts.
        teacher_forcing: bool, see `EpisodicMemory`.
        gates_first: int, number of epochs at the start of training that use only the supporting
            facts, not the answers (`GatesFirst`).
        embeddings_initializer: initializer of the word vectors; `None` for a uniform one with
            variance 1. With the default of Keras, vectors are so small that the gates cannot tell
            facts apart at first.
        dropout: float, fraction of the units to drop in the passage's word vectors (DMN+: in its
            sentences and facts), with one mask for the whole passage, and in the answer module.
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

    `attend` returns the attention of all passes, `(batch, sentences, passes)`; with `end_of_passes`
    the last row is that of the fact that ends the reading.

    References: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285); DMN+: [Xiong et al.,
    ICML 2016](https://arxiv.org/abs/1603.01417).

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> model = zoo.DynamicMemoryNetwork.from_examples(stories, units=4, passes=2)
    >>> model.output.shape[-1] == len(model.preprocessor.answers)
    True
    """

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        sentence_length: Learned,
        units: Size = 80,
        passes: Count = 3,
        attention: Literal["gated", "softmax", "attention_gru"] = "gated",
        compact: bool = False,
        update: Literal["gru", "relu"] = "gru",
        end_of_passes: bool = False,
        input_module: Literal["words", "fusion"] = "words",
        answer_length: Learned = 1,
        max_facts: Learned = 1,
        gate_loss: Factor = 0.0,
        teacher_forcing: bool = False,
        gates_first: Count = 0,
        embeddings_initializer: Initializer = None,
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

    @classmethod
    def check_arguments(cls, config):
        if config.gate_loss and config.retrieve is not None:
            raise ValueError(
                "gate_loss and retrieve exclude each other: supporting facts are numbered in "
                "whole passages."
            )
        if config.gates_first and not config.gate_loss:
            raise ValueError("gates_first needs a gate_loss: nothing else learns in these epochs.")

    @property
    def warm_up_epochs(self):
        return self.config["gates_first"]

    def training_callbacks(self):
        return [GatesFirst(epochs)] if (epochs := self.config["gates_first"]) else []

    @staticmethod
    def extra_inputs(config):
        if not config.gate_loss:
            return {}
        shape, name = (config.max_facts,), "supporting_facts"
        return {name: keras.Input(shape, dtype="int32", name=name)}

    @staticmethod
    def read_story(sentences, question, read, config, supporting_facts=None):
        units, length = config.units, config.sentence_length
        initializer = config.embeddings_initializer or unit_uniform()
        table = StoryModel.embedding(config, embeddings_initializer=initializer)
        drop = HashDropout(config.dropout, noise_shape=(None, 1, None))
        if config.input_module == "words":
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
        encoded_question = MAGEGRU((units,), return_sequences=False, name="question_gru")(
            table(question), mask=ops.not_equal(question, 0)
        )
        episodes = EpisodicMemory(
            units,
            config.passes,
            config.attention,
            config.compact,
            config.update,
            config.end_of_passes,
            config.gate_loss,
            teacher_forcing=config.end_of_passes
            and bool(config.gate_loss)
            and config.teacher_forcing,
            name="episodic_memory",
        )
        memory, gates = episodes(facts, encoded_question, supporting_facts, mask=read)
        attention = ops.transpose(gates, (0, 2, 1))
        drop = HashDropout(config.dropout, name="answer_dropout")
        if config.answer_length > 1:
            decode = AnswerDecoder(config.num_answers, config.answer_length, name="answer")
            logits = decode(drop(memory), encoded_question)
        else:
            both = drop(ops.concatenate([memory, encoded_question], axis=-1))
            answer = keras.layers.Dense(config.num_answers, dtype=answer_dtype(), name="answer")
            logits = answer(both)
        if config.gates_first:
            logits = ScaledGradient(name=ANSWER_WEIGHT, dtype=answer_dtype())(logits)
        return logits, attention

    @ExamplesMethod
    def from_examples(
        cls,
        examples,
        max_sentences=70,
        answer_words="auto",
        free_symbols=0,
        word_vectors=None,
        **arguments,
    ):
        """Makes an untrained model for the words, sentences and answers of training examples.

        Args:
            examples: training examples, in any form that `keras_corefmem.datasets.as_examples`
                takes; the preprocessing is learned from them.
            max_sentences: number of sentences of a passage that are read, the last ones.
            answer_words: whether answers are sequences of words instead of classes; with `"auto"`,
                they are if an example has an answer of several words.
            free_symbols: number of free symbols. Each unknown word of a text is read as one, in the
                order of first mention, and may be the answer. The augmentation `"unseen"` trains
                them.
            word_vectors: path of a file of pretrained vectors, of GloVe or word2vec, to start
                from; `coverage` says how many words it contains.
            **arguments: arguments of the constructor. With a `gate_loss`, `passes` defaults to the
                largest number of supporting facts, plus one with `end_of_passes`.
        """
        if answer_words == "auto":
            answer_words = any(SEPARATOR in example.answer for example in examples)
        preprocessor = StoryPreprocessor.fit(
            examples,
            max_sentences=max_sentences,
            answer_words=answer_words,
            free_symbols=free_symbols,
        )
        if arguments.get("gate_loss"):
            passes = preprocessor.max_facts + bool(arguments.get("end_of_passes"))
            arguments = {"passes": passes, **arguments}
        return cls.start(preprocessor, examples, word_vectors, **arguments)

    @classmethod
    def learned(cls, preprocessor, examples):
        return {
            "answer_length": preprocessor.answer_length,
            "max_facts": preprocessor.max_facts,
        }


class GatesFirst(keras.callbacks.Callback):
    """Trains a `DynamicMemoryNetwork` on the supporting facts alone for the first epochs.

    The loss is `gate_loss` times that of the gates plus β times that of the answers, where β is 0
    in these epochs and 1 afterwards. The answer module does not change in these epochs, not even by
    the penalty on its weights. The `fit` of the network adds this callback.

    Args:
        epochs: number of epochs without the loss of answers.

    Reference: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).

    Example:

    >>> zoo.GatesFirst(epochs=10).epochs
    10
    """

    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.get_layer(ANSWER_WEIGHT).factor.assign(float(epoch >= self.epochs))
        self.kept = self.model.get_layer("answer").get_weights()

    def on_epoch_end(self, epoch, logs=None):
        self.model.get_layer(ANSWER_WEIGHT).factor.assign(1.0)
        if epoch < self.epochs:
            self.model.get_layer("answer").set_weights(self.kept)
