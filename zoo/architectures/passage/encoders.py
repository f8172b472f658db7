"""Recurrent encoders of a reader, by name."""

from keras_corefmem import layers
from keras_corefmem.layers.rnn.mage_gru import CARRIES
from keras_corefmem.utils.checks import check_sizes

# What each encoder reads besides the tokens.
STRUCTURE = {
    "gru": None,
    "one_hot": None,
    "dag_rnn": "sources",
    "mage_gru": "sources",
    "mage_gru_shared": "sources",
    "coref_gru": "antecedents",
}
ENCODERS = tuple(STRUCTURE)


def check_encoder(encoder, units, edge_units, carry):
    """Refuses arguments that make no encoder.

    Raises:
        ValueError: naming the argument.
    """
    if encoder not in ENCODERS:
        raise ValueError(f"encoder must be one of {', '.join(ENCODERS)}; got {encoder!r}.")
    if carry not in CARRIES:
        raise ValueError(f"carry must be one of {', '.join(CARRIES)}; got {carry!r}.")
    slices = 2 if encoder in ("mage_gru", "mage_gru_shared") else 1
    check_sizes(slices, f" for {encoder}", units=units)
    if encoder == "coref_gru" and units % 2:
        raise ValueError(f"units must be even for coref_gru, half for coreference; got {units}.")
    if encoder == "mage_gru":
        check_sizes(edge_units=edge_units)
        if edge_units >= units:
            raise ValueError(
                f"edge_units must be less than units for mage_gru, which keeps the rest for the "
                f"sequence; got edge_units={edge_units} and units={units}."
            )


def make_encoder(encoder, units, edge_units, carry, name):
    """A bidirectional layer, called on `(x, structure, mask=mask)`.

    Args:
        encoder: one of `ENCODERS`.
        units: width of the state per direction.
        edge_units: units of the state that a coreference edge carries, for `mage_gru`.
        carry: carry rule of the MAGE-GRU.
        name: name of the layer.
    """
    options = {"bidirectional": True, "name": name}
    slices = units - edge_units, edge_units
    halves = units // 2, units - units // 2
    makers = {
        # Called without edges, a plain GRU; `.keras` files find its weights by the class.
        "gru": lambda: layers.MAGEGRU((units,), **options),
        "one_hot": lambda: layers.MAGEGRU((units,), **options),
        "dag_rnn": lambda: layers.DAGRNN(units, **options),
        "mage_gru": lambda: layers.MAGEGRU(slices, carry=carry, **options),
        "mage_gru_shared": lambda: layers.MAGEGRU(halves, carry=carry, shared=True, **options),
        "coref_gru": lambda: layers.CorefGRU(units, **options),
    }
    return makers[encoder]()
