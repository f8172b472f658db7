"""Recurrent entity networks: REN, and the question-dependent QDREN."""

from __future__ import annotations

from typing import Any, Literal

import keras
import numpy as np
from keras import ops

from keras_corefmem.datasets.passages.cnn import ClozeExample
from keras_corefmem.graphs import learn_entity_words
from keras_corefmem.layers import (
    CandidateAnswers,
    EntityMemory,
    EntityOutput,
    HashDropout,
    MultiplicativeMask,
)
from keras_corefmem.preprocessing.story_preprocessor import StoryPreprocessor
from keras_corefmem.preprocessing.window_preprocessor import WindowPreprocessor, fit_sentences
from keras_corefmem.text.vocabulary import UNKNOWN
from zoo.architectures.config import (
    ExamplesMethod,
    Factor,
    Initializer,
    Learned,
    Share,
    Size,
    Tokens,
)
from zoo.architectures.passage.encoders import copy_layer
from zoo.architectures.precision import answer_dtype
from zoo.architectures.stories.story_model import StoryModel

# A cosine greater than that of any two of a few hundred random vectors.
CLOSE = 0.5
PASSAGES = {"sentences": StoryPreprocessor, "windows": WindowPreprocessor}
# Arguments of `from_examples` that are read for only one kind of examples or passages.
OF_STORIES, OF_CLOZE = (
    {"read_ends", "free_symbols"},
    {"max_words", "markers", "candidates", "max_length"},
)
OF_SENTENCES, OF_WINDOWS = {"max_sentences", "max_length"}, {"half_width", "max_windows"}


@keras.saving.register_keras_serializable("keras_corefmem")
class RecurrentEntityNetwork(StoryModel):
    """Updates a memory of entities sentence by sentence, and answers from it.

    News passages of cloze questions are read as sentences or as windows around each entity.

    ```
    s_t = Σ_r f_r ⊙ e_r over the words of sentence t,   q = Σ_r f'_r ⊙ e_r
    memory = EntityMemory(s_1 … s_T [, q])
    y = φ(q + H Σ_j softmax_j(q·h_j) h_j),   P = softmax(R y)
    ```

    Args:
        vocabulary_size: int, number of token ids.
        num_answers: int, number of answers; answer 0 is the unknown one and never predicted.
        sentence_length: int, number of words of a sentence or question.
        question_dependent: bool, whether gates depend on the question (QDREN) or not (REN).
        slots: int, number of entities if `entity_tokens` is `None`.
        units: int, width of word vectors, sentences and slots.
        activation: str, φ of the memory and the output, which share the slopes of a PReLU.
        output_activation: str, φ of the output if it differs from that of the memory.
        dropout: float, fraction of the units of the story's word vectors to drop before they are
            summed.
        mask_initializer: initializer of f: `"ones"` in the paper; the authors' code uses
            N(0, 0.1), as for all other weights.
        question_mask_initializer: initializer of f', ones in the paper and in the authors' code.
        gate_bias: bool, whether gates have a bias per slot, as in the authors' code.
        slot_slopes: bool, whether each slot has its own PReLU slopes; the output then has
            slopes of its own too.
        l2: float, factor of an L2 penalty on all weights except biases and slopes.
        initializer: initializer of word vectors and matrices.
        passages: str, `"sentences"`, or `"windows"` round entities (`WindowPreprocessor`).
        entity_tokens: list, token id of the entity of each slot, whose word vector is the key and
            the initial memory of the slot; `None` for keys that are learned freely.
        answer_tokens: list, token id of each answer. Only answers mentioned in the passage are
            candidates (`CandidateAnswers`); with `None`, all answers are.
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

    `attend` returns the gates, `(batch, sentences, slots)`.

    References: [Henaff et al., ICLR 2017](https://arxiv.org/abs/1612.03969);
    [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922).

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> model = zoo.RecurrentEntityNetwork.from_examples(stories, units=4, slots=3)
    >>> model.output.shape[-1] == len(model.preprocessor.answers)
    True
    """

    COLUMN = "slot"
    ELSEWHERE = ("passages",)

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        sentence_length: Learned,
        question_dependent: bool = False,
        slots: Size = 20,
        units: Size = 100,
        activation: Any = "prelu",
        output_activation: Any = None,
        dropout: Share = 0.0,
        mask_initializer: Initializer = "ones",
        question_mask_initializer: Initializer = "ones",
        gate_bias: bool = True,
        slot_slopes: bool = False,
        l2: Factor = 0.0,
        initializer: Initializer = "glorot_uniform",
        passages: Literal["sentences", "windows"] = "sentences",
        entity_tokens: Tokens = None,
        answer_tokens: Tokens = None,
        retrieve: Size | None = None,
        retrieve_hops: Size = 1,
        preprocessor: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(locals())

    @classmethod
    def check_preprocessor(cls, preprocessor, config):
        kind = PASSAGES[config.passages]
        if type(preprocessor) is not kind:
            raise ValueError(
                f"passages={config.passages!r} needs a {kind.__name__}, got a "
                f"{type(preprocessor).__name__}."
            )
        super().check_preprocessor(preprocessor, config)

    @staticmethod
    def read_story(sentences, question, read, config):
        initializer = config.initializer
        table = StoryModel.embedding(config, embeddings_initializer=initializer)

        def encode(name, ids, vectors, start):
            layer = MultiplicativeMask(config.sentence_length, start, name=f"{name}_mask")
            return layer(vectors, mask=ops.not_equal(ids, 0))

        story, query = table(sentences), table(question)
        story = HashDropout(config.dropout)(story)
        story = encode("sentence", sentences, story, config.mask_initializer)
        query = encode("question", question, query, config.question_mask_initializer)
        activation = config.activation
        if isinstance(activation, dict):
            # Memory and output share the layer of a file too.
            activation = copy_layer(activation)
        # Slopes of slots are none for the output.
        is_shared = 1 in (getattr(activation, "shared_axes", [1]) or ())
        output = activation if is_shared else "prelu"
        if activation == "prelu":
            axes = None if config.slot_slopes else [1]
            activation = keras.layers.PReLU("ones", shared_axes=axes, name="activation")
            output = "prelu" if config.slot_slopes else activation
        entities, keys = config.entity_tokens, {}
        if entities is not None:
            keys["keys"] = table(ops.zeros_like(question[:, :1]) + np.array(entities, "int32"))
        memory = EntityMemory(
            config.slots if entities is None else len(entities),
            config.units,
            question_dependent=config.question_dependent,
            activation=activation,
            gate_bias=config.gate_bias,
            initializer=initializer,
            return_gates=True,
            name="entity_memory",
        )
        slots, gates = memory(story, *[query] * config.question_dependent, **keys, mask=read)
        read_out = EntityOutput(
            config.output_activation or output, initializer, name="output_module"
        )
        summary, _ = read_out(slots, query)
        logits = keras.layers.Dense(
            config.num_answers,
            use_bias=False,
            kernel_initializer=initializer,
            dtype=answer_dtype(),
            name="answer",
        )(summary)
        if config.answer_tokens is not None:
            options = {"dtype": "float32", "name": "candidate_answers"}
            logits = CandidateAnswers(config.answer_tokens, **options)(logits, sentences)
        return logits, gates

    def columns(self):
        """Returns the names of the slots, each with the word that is or resembles its key."""
        names = super().columns()
        if self.preprocessor is None:
            return names
        words = self.preprocessor.vocabulary.words
        if (entities := self.config["entity_tokens"]) is not None:
            return [f"{n} {words[token]}" for n, token in zip(names, entities, strict=True)]
        keys, table = (
            rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
            for rows in (
                ops.convert_to_numpy(self.get_layer("entity_memory").cell.keys),
                ops.convert_to_numpy(self.get_layer("word_embedding").embeddings)[: len(words)],
            )
        )
        cosines = keys @ table.T
        cosines[:, : UNKNOWN + 1] = 0
        return [
            f"{name} {words[np.argmax(row)]}" if row.max() > CLOSE else name
            for name, row in zip(names, cosines, strict=True)
        ]

    @ExamplesMethod
    def from_examples(
        cls,
        examples,
        passages="sentences",
        tied_keys=False,
        max_sentences=70,
        read_ends=None,
        free_symbols=0,
        max_length=80,
        half_width=4,
        max_windows=150,
        max_words=50_000,
        markers=None,
        candidates=True,
        word_vectors=None,
        **arguments,
    ):
        """Makes an untrained model for the words, sentences and answers of training examples.

        Args:
            examples: training examples, stories or `ClozeExample`s. `read_ends` and `free_symbols`
                are only for stories; `max_words`, `markers`, `candidates` and `max_length` are only
                for `ClozeExample`s.
            passages: `"sentences"` or `"windows"`.
            tied_keys: whether there is a slot for each word of `learn_entity_words` (or each marker
                of cloze questions), with its word vector as the key.
            max_sentences: number of sentences of a passage that are read, the last ones.
            read_ends: whether the mark that ends a sentence of a story is read as a word; `None`
                follows the model's authors.
            free_symbols: number of free symbols. Each unknown word of a text is read as one, in the
                order of first mention, and may be the answer. The augmentation `"unseen"` trains
                them.
            max_length: largest number of words of a sentence or question that are read.
            half_width: number of words on each side of the entity of a window.
            max_windows: number of windows of a passage that are read, the first ones.
            max_words: size of the vocabulary besides the entities.
            markers: number of entities; `None` for that of the examples.
            candidates: whether only entities that are read are candidates. In the authors' model
                all are, even if the passage does not mention them.
            word_vectors: path of a file of pretrained vectors, of GloVe or word2vec, to start
                from; `coverage` says how many words it contains.
            **arguments: arguments of the constructor.

        Raises:
            ValueError: if `passages="windows"`, but the examples are not cloze questions.
        """
        cloze = all(isinstance(example, ClozeExample) for example in examples)
        known = {"max_words": max_words, "markers": markers}
        if passages == "windows":
            preprocessor = WindowPreprocessor.fit(
                examples, half_width=half_width, max_windows=max_windows, **known
            )
        elif cloze:
            preprocessor = fit_sentences(examples, max_sentences, max_length, **known)
        else:
            preprocessor = cls.fit_stories(examples, max_sentences, read_ends, free_symbols)
        words = preprocessor.vocabulary
        # The first answer, the unknown one, is not a word.
        tokens = words.encode(preprocessor.answers[1:]).tolist() if cloze else None
        if cloze and candidates:
            arguments["answer_tokens"] = [None, *tokens]
        if tied_keys and cloze:
            arguments["entity_tokens"] = tokens
        elif tied_keys:
            entities = sorted(learn_entity_words(examples, preprocessor.tokenizer))
            arguments["entity_tokens"] = words.encode(entities).tolist()
        arguments |= {"passages": passages, "word_vectors": word_vectors}
        model = cls.start(preprocessor, examples, **arguments)
        model.unread |= OF_STORIES if cloze else OF_CLOZE
        model.unread |= OF_SENTENCES if passages == "windows" else OF_WINDOWS
        return model
