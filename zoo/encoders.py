"""Recurrent encoders of a reader, by name."""

import keras
from keras import ops

from keras_corefmem import layers

ENCODERS = ("gru", "one_hot", "dag_rnn", "mage_gru", "mage_gru_shared", "coref_gru")

# What each encoder reads besides the tokens.
STRUCTURE = {
    "gru": None,
    "one_hot": None,
    "dag_rnn": "sources",
    "mage_gru": "sources",
    "mage_gru_shared": "sources",
    "coref_gru": "antecedents",
}


def make_encoder(encoder, units, edge_units, carry, name):
    """A bidirectional layer, called on `(x, structure, mask=mask)`.

    Args:
        encoder: one of `ENCODERS`.
        units: width of the state per direction.
        edge_units: units of the state that a coreference edge carries, for `mage_gru`.
        carry: carry rule of the MAGE-GRU.
        name: name of the layer.

    Raises:
        ValueError: if the encoder is unknown.
    """
    options = {"bidirectional": True, "name": name}
    if encoder in ("gru", "one_hot"):
        return layers.MAGEGRU((units,), **options)
    if encoder == "dag_rnn":
        return layers.DAGRNN(units, **options)
    if encoder == "coref_gru":
        return layers.CorefGRU(units, **options)
    if encoder == "mage_gru_shared":
        return layers.MAGEGRU((units // 2, units - units // 2), carry=carry, shared=True, **options)
    if encoder == "mage_gru":
        return layers.MAGEGRU((units - edge_units, edge_units), carry=carry, **options)
    raise ValueError(f"encoder must be one of {', '.join(ENCODERS)}; got {encoder!r}.")


def embed(tokens, chains, vocabulary_size, embedding_dim, encoder, max_chains):
    """Word vectors of several sequences, followed by the one-hot chain where the encoder wants it.

    Args:
        tokens: symbolic ids `(batch, time)` by name.
        chains: chain ids `(batch, time)` by name.
        vocabulary_size: number of ids.
        embedding_dim: width of the word vectors.
        encoder: one of `ENCODERS`.
        max_chains: highest chain id.

    Returns:
        Features `(batch, time, width)` by name.
    """
    table = keras.layers.Embedding(vocabulary_size, embedding_dim, name="word_embedding")
    vectors = {name: table(ids) for name, ids in tokens.items()}
    if encoder == "one_hot":
        for name in vectors:
            one_hot = ops.one_hot(chains[name], max_chains + 1)[..., 1:]
            vectors[name] = ops.concatenate([vectors[name], one_hot], axis=-1)
    return vectors
