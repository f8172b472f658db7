"""The dynamic memory network on single sentences: classification and tagging."""

import keras
from keras import ops

from keras_corefmem.layers import MAGEGRU, CharacterCNN, EpisodicMemory, HashDropout, WordMemory
from keras_corefmem.text import UNKNOWN
from zoo.architectures.sentences.sentence_model import SentenceModel


@keras.saving.register_keras_serializable("keras_corefmem")
class SentenceDynamicMemoryNetwork(SentenceModel):
    """Reads the words of a sentence again and again; every word is a fact.

    ```
    x_t = [E w_t ; CharacterCNN(characters of w_t)]
    c_t = state of a GRU over x at word t, s = its last state
    m = EpisodicMemory(c, q),           P = softmax(W [m ; s] + b)            (class)
    m_i = EpisodicMemory(c_1 … c_i, q), P_i = softmax(W [m_i ; c_i] + b)      (tags)
    ```

    Nothing is asked of a single sentence, and the paper does not say what stands in the question's
    place: here q is learned, one for all sentences. Nor does it say how it answers without passes,
    or what the later passes of a tagger read. Here the answer sees the memory beside the last state
    of the input (the word's, for tags), which is all that is left without passes; and a tagger
    remembers for each word what it would have remembered at the end of the sentence up to there,
    which is the paper's e_i = h_i in the first pass.

    Args:
        vocabulary_size: number of word ids.
        num_answers: number of answers; answer 0 is the unknown one and never predicted.
        num_characters: number of character ids; 0 where words are not spelt.
        word_length: characters of a word.
        output: `"class"`, or `"tags"` for an answer a word.
        embedding_dim: width of word vectors.
        units: width of facts and memory, both directions together.
        passes: number of passes.
        attention: see `EpisodicMemory`.
        compact: see `EpisodicMemory`.
        update: see `EpisodicMemory`.
        bidirectional: whether the GRU reads in both directions, each half as wide.
        character_dim: width of character vectors.
        filters: filters of each width of the `CharacterCNN`.
        filter_widths: these widths.
        word_dropout: fraction of the words to read as unknown in training, so that their characters
            and neighbours have to tell their answers.
        dropout: fraction of the word vectors and of the units of facts and answer module to drop.
        l2: factor of the squares of all weights but biases.
        **kwargs: `preprocessor` and the arguments of a Keras model.

    `attend` gives the attention of every pass: `(batch, words, passes)`, for tags `(batch, words,
    facts, passes)`. Without passes there is none.

    Raises:
        ValueError: if `units` are odd where bidirectional, or an argument is not as described.

    Reference: [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285), Sections 4.2 and 4.3.
    """

    def __init__(
        self,
        vocabulary_size,
        num_answers,
        num_characters=0,
        word_length=16,
        output="class",
        embedding_dim=50,
        units=64,
        passes=2,
        attention="gated",
        compact=False,
        update="gru",
        bidirectional=True,
        character_dim=16,
        filters=32,
        filter_widths=(2, 3, 4),
        word_dropout=0.0,
        dropout=0.3,
        l2=0.0,
        **kwargs,
    ):
        if bidirectional and units % 2:
            raise ValueError(f"units must be even where bidirectional, got {units}.")
        config = {
            "embedding_dim": embedding_dim,
            "units": units,
            "passes": passes,
            "attention": attention,
            "compact": compact,
            "update": update,
            "bidirectional": bidirectional,
            "character_dim": character_dim,
            "filters": filters,
            "filter_widths": tuple(filter_widths),
            "word_dropout": word_dropout,
            "dropout": dropout,
            "l2": l2,
        }
        super().__init__(
            vocabulary_size, num_answers, num_characters, word_length, output, config, **kwargs
        )

    @staticmethod
    def build_graph(inputs, read, config):
        units, words = config["units"], inputs["words"]
        drop = HashDropout(config["dropout"], noise_shape=(None, 1, None))
        half = units // 2 if config["bidirectional"] else units
        encode = MAGEGRU((half,), bidirectional=config["bidirectional"], name="input_gru")
        states = encode(drop(vectors(inputs, config)), mask=read)
        # There is one question, number 0.
        asked = keras.layers.Embedding(1, units, name="question")(ops.zeros_like(words[:, 0]))
        options = {name: config[name] for name in ("passes", "attention", "compact", "update")}
        if config["output"] == "tags":
            episodes = WordMemory(units, **options, name="episodic_memory")
            last = states
        else:
            episodes = EpisodicMemory(units, **options, name="episodic_memory")
            # Padding carries the state.
            last = ops.concatenate([states[:, -1, :half], states[:, 0, half:]], axis=-1)
        memory, gates = episodes(drop(states), asked, mask=read)
        found = ops.concatenate([memory, last], axis=-1)
        found = HashDropout(config["dropout"], name="answer_dropout")(found)
        logits = keras.layers.Dense(config["num_answers"], dtype="float32", name="answer")(found)
        if not config["passes"]:
            return logits, None
        attention = ops.moveaxis(gates, 1, -1)
        if config["output"] == "tags":
            attention = ops.where(read[:, :, None, None], attention, 0.0)
        return logits, attention


def vectors(inputs, config):
    """Vectors of words, with what their characters say."""
    table = keras.layers.Embedding(
        config["vocabulary_size"], config["embedding_dim"], name="word_embedding"
    )
    words = inputs["words"]
    kept = HashDropout(config["word_dropout"], name="word_dropout")(ops.ones_like(words, "float32"))
    x = table(ops.where(kept > 0, words, UNKNOWN))
    if not config["num_characters"]:
        return x
    characters = inputs["characters"]
    letters = keras.layers.Embedding(
        config["num_characters"], config["character_dim"], name="character_embedding"
    )
    spell = CharacterCNN(config["filters"], config["filter_widths"], name="character_cnn")
    spelt = spell(letters(characters), mask=ops.not_equal(characters, 0))
    return ops.concatenate([x, spelt], axis=-1)
