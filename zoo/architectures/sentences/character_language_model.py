"""A bidirectional language model that reads characters."""

from __future__ import annotations

import pathlib
from typing import Annotated, Any, Literal

import keras
import pydantic
from keras import ops

from keras_corefmem.layers import MAGEGRU, CharacterCNN, HashDropout, Highway, SpelledWords
from keras_corefmem.preprocessing.language_preprocessor import LanguagePreprocessor, as_text
from keras_corefmem.visualization import views
from zoo.architectures.config import LEARNED, ExamplesMethod, Learned, Share, Size
from zoo.architectures.loading import load
from zoo.architectures.precision import answer_dtype
from zoo.architectures.sentences.sentence_model import SentenceModel


@keras.saving.register_keras_serializable("keras_corefmem")
class CharacterLanguageModel(SentenceModel):
    """Predicts each word of a text from the characters of the words before and after it.

    ```
    x_t = W Highway(CharacterCNN(characters of w_t)) + b
    f⁰ = b⁰ = x,   fᵏ = fᵏ⁻¹ + GRU(fᵏ⁻¹),   bᵏ = bᵏ⁻¹ + GRU(bᵏ⁻¹) read backwards
    P(w_t) = softmax(V [fᴷ_{t-1} ; bᴷ_{t+1}] + c)
    ```

    Its layers `[fᵏ ; bᵏ]` are contextual word vectors. `word_encoder` makes a layer of them for a
    reader, as `BiDAFReader.from_examples(..., language_model=)` does. They are like those of ELMo,
    which has LSTMs and a softmax for each direction.

    Args:
        vocabulary_size: int, number of word ids.
        num_answers: int, number of words that are predicted, plus one.
        num_characters: int, number of character ids.
        word_length: int, number of characters of a word.
        output: str, `"tags"`: an answer for each word.
        units: int, width of each direction.
        layers: int, number K of GRUs of each direction.
        character_dim: int, width of character vectors.
        filters: int, number of filters of each width of the `CharacterCNN`.
        filter_widths: tuple, widths of the filters.
        dropout: float, fraction of the units of x and of the last layers to drop.
        preprocessor: the `LanguagePreprocessor` (or its configuration) that turns text into
            features.
        name: str, name of the model.
        trainable: bool, whether its weights are trained.
        dtype: str or `keras.DTypePolicy`, precision, such as `"mixed_bfloat16"`; `None` for Keras'
            default.

    Input: a dictionary of int32 features: `words` `(batch, time)`, of which only the padding, 0 at
    the end, is used, and `characters` `(batch, time, word_length)`.

    Output: logits `(batch, time, num_answers)`, float32.

    Reference: [Peters et al., NAACL 2018](https://arxiv.org/abs/1802.05365).

    Example:

    >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
    >>> texts = list(map(keras_corefmem.preprocessing.as_text, stories))
    >>> model = zoo.CharacterLanguageModel.from_examples(texts, units=4)
    >>> model.features
    ('words', 'characters')
    """

    HAS_WORD_VECTORS = False

    def __init__(
        self,
        vocabulary_size: Learned,
        num_answers: Learned,
        num_characters: Learned,
        word_length: Size = 16,
        output: Annotated[Literal["tags"], LEARNED] = "tags",
        units: Size = 128,
        layers: Size = 2,
        character_dim: Size = 16,
        filters: Size = 32,
        filter_widths: Annotated[tuple[Size, ...], pydantic.Field(strict=False)] = (1, 2, 3, 4, 5),
        dropout: Share = 0.1,
        preprocessor: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        super().__init__(locals())

    @staticmethod
    def read_sentence(inputs, read, config):
        units, characters = config.units, inputs["characters"]
        letters = keras.layers.Embedding(
            config.num_characters, config.character_dim, name="character_embedding"
        )
        spell = CharacterCNN(config.filters, config.filter_widths, "relu", name="character_cnn")
        spelt = spell(letters(characters), mask=ops.not_equal(characters, 0))
        x = keras.layers.Dense(units, name="projection")(Highway(1, name="highway")(spelt))
        x = x * ops.cast(read, x.dtype)[..., None]
        drop = HashDropout(config.dropout, noise_shape=(None, 1, None), name="dropout")
        states = drop(keras.layers.Concatenate(name="layer_0")([x, x]))
        for n in range(1, config.layers + 1):
            read_on = MAGEGRU((units,), name=f"forward_{n}")
            read_back = MAGEGRU((units,), go_backwards=True, name=f"backward_{n}")
            forward = read_on(states[..., :units], mask=read)
            backward = ops.flip(read_back(states[..., units:], mask=read), axis=1)
            both = ops.concatenate([forward, backward], axis=-1)
            states = keras.layers.Add(name=f"layer_{n}")([states, both])
        around = drop(states)
        before = ops.pad(around[:, :-1, :units], ((0, 0), (1, 0), (0, 0)))
        after = ops.pad(around[:, 1:, units:], ((0, 0), (0, 1), (0, 0)))
        answer = keras.layers.Dense(config.num_answers, dtype=answer_dtype(), name="answer")
        return answer(ops.concatenate([before, after], axis=-1)), None

    @ExamplesMethod
    def from_examples(cls, examples, max_words=None, min_count=1, word_length=16, **arguments):
        """Makes an untrained model for the words and characters of training texts.

        Args:
            examples: list of `Sentence`, which `keras_corefmem.preprocessing.as_text` makes of
                examples of any kind.
            max_words: number of the most frequent words that are predicted; `None` for all.
            min_count: number of times that a word must occur to be predicted.
            word_length: number of characters of a word that are read.
            **arguments: arguments of the constructor.
        """
        preprocessor = LanguagePreprocessor.fit(
            examples, max_words=max_words, min_count=min_count, word_length=word_length
        )
        return cls.start(preprocessor, examples, **arguments)

    def _encode(self, examples):
        return super()._encode(list(map(as_text, examples)))

    def answer_lines(self, examples):
        for view in views.word_views(examples, self.preprocessor, self.inspect):
            # Only the number of right words, without the list of wrong ones.
            yield f"{view.question}  {view.heading[0][0]}"

    def word_encoder(self, words):
        """Makes a layer from word ids to the layers of this model, `(batch, time, 2 · units)`.

        It shares its weights with the model.

        Args:
            words: words by id, such as those of a `keras_corefmem.text.Vocabulary`; word 0 is
                padding.

        Example:
            >>> stories = keras_corefmem.datasets.simulator.simulate(1, 8)
            >>> texts = list(map(keras_corefmem.preprocessing.as_text, stories))
            >>> model = zoo.CharacterLanguageModel.from_examples(texts, units=4, layers=1)
            >>> encoder = model.word_encoder(["", "mary", "kitchen"])
            >>> [tuple(layer.shape) for layer in encoder(np.array([[1, 2, 0]]))]
            [(1, 3, 8), (1, 3, 8)]
        """
        names = (f"layer_{n}" for n in range(self.config["layers"] + 1))
        outputs = [self.get_layer(name).output for name in names]
        model = keras.Model({tensor.name: tensor for tensor in self.inputs}, outputs)
        return SpelledWords(model, self.preprocessor.spelling(words).tolist())


def load_language_model(path):
    """Loads a `CharacterLanguageModel` from a `.keras` file."""
    if not pathlib.Path(path).expanduser().exists():
        raise FileNotFoundError(
            f"There is no language model {path}: train one, corefmem train --model character-lm "
            "--dataset lambada --data-dir DIR, or give the path of yours, --set "
            "language_model='\"PATH\"'."
        )
    model = load(path)
    if not isinstance(model, CharacterLanguageModel):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a CharacterLanguageModel.")
    return model
