"""Recurrent encoders of a reader, by name."""

from typing import Literal

from keras_corefmem import layers

# What each encoder reads besides the tokens.
STRUCTURE = {
    "gru": None,
    "one_hot": "chains",
    "dag_rnn": "sources",
    "mage_gru": "sources",
    "mage_gru_shared": "sources",
    "coref_gru": "antecedents",
}
Encoder = Literal["gru", "one_hot", "dag_rnn", "mage_gru", "mage_gru_shared", "coref_gru"]
Carry = Literal["gathered", "previous", "mixed"]


def make_encoder(config, name, encoder=None):
    """Makes a bidirectional layer, called by `encode`."""
    units, options = config.units, {"bidirectional": True, "name": name}
    match encoder or config.encoder:
        case "dag_rnn":
            return layers.DAGRNN(units, **options)
        case "mage_gru":
            slices = units - config.edge_units, config.edge_units
            return layers.MAGEGRU(slices, carry=config.carry, **options)
        case "mage_gru_shared":
            slices = units // 2, units - units // 2
            return layers.MAGEGRU(slices, carry=config.carry, shared=True, **options)
        case "coref_gru":
            return layers.CorefGRU(units, **options)
    # Called without edges, a plain GRU; `.keras` files find its weights by the class.
    return layers.MAGEGRU((units,), **options)


def encode(encoder, vectors, structure, mask):
    """Runs an encoder over a sequence, with its structure where it reads some."""
    reads = () if structure is None else (structure,)
    return encoder(vectors, *reads, mask=mask)
