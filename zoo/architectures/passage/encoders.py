"""Recurrent encoders of a reader: named ones, and any Keras layer."""

import inspect
import warnings

import keras
from keras import ops

from keras_corefmem import layers
from keras_corefmem.layers.core.masking import clear_masked
from zoo.architectures.config import STRUCTURE, underscored
from zoo.configs.widths import edge_widths

MORE_THAN_TOKENS = 2**30
# A length to try layers with.
TRIED = 99


def structure_read(encoder):
    """Returns the structure that an encoder reads besides the tokens, or `None`."""
    if isinstance(encoder, str):
        return STRUCTURE.get(underscored(encoder))
    if isinstance(encoder, dict):
        encoder = copy_layer(encoder)
    if not isinstance(encoder, keras.Layer):
        return None
    parameters = inspect.signature(encoder.call).parameters
    return next((name for name in ("antecedents", "sources") if name in parameters), None)


def copy_layer(config, name=None):
    """Makes a layer from a configuration, with another name if one is passed."""
    # Layers may modify their configuration. The copy is built for the vectors that it reads.
    config = _unbuilt(config)
    if name is not None:
        config["config"]["name"] = name
    return keras.saving.deserialize_keras_object(config)


def _unbuilt(config):
    """Returns a copy of a configuration without the shapes that its layers were built for."""
    if isinstance(config, dict):
        return {name: _unbuilt(part) for name, part in config.items() if name != "build_config"}
    return list(map(_unbuilt, config)) if isinstance(config, list) else config


def make_encoder(config, name, encoder=None):
    """Makes an encoder, to be called by `encode`; named ones are bidirectional."""
    encoder, units = encoder or config.encoder, config.units
    if isinstance(encoder, dict):
        return copy_layer(encoder, name)
    options = {"bidirectional": True, "name": name}
    match encoder:
        case "dag_rnn":
            return layers.DAGRNN(units, **options)
        case "mage_gru" | "mage_gru_shared":
            options |= {"carry": config.carry, "edge_attention": config.edge_attention}
            if encoder == "mage_gru":
                edge_units = edge_widths(config.edge_types, config.edge_units)
                return layers.MAGEGRU((units - sum(edge_units), *edge_units), **options)
            # Only the number and the sum of the widths matter.
            count = len(config.edge_types)
            slices = [units // (count + 1)] * count
            return layers.MAGEGRU((*slices, units - sum(slices)), shared=True, **options)
        case "coref_gru":
            return layers.CorefGRU(units, **options)
    # Without edges this is a plain GRU; `.keras` files find its weights by the class.
    return layers.MAGEGRU((units,), **options)


def encode(encoder, vectors, structure, mask, joint=False):
    """Runs an encoder over a sequence, with its structure if there is one.

    In a joint sequence, padding may be anywhere.
    """
    options = {} if structure is None else {structure_read(encoder): structure}
    places = None
    if "mask" in inspect.signature(encoder.call).parameters:
        warn_of_lost_mask(encoder)
        options["mask"] = mask
    else:
        # A convolution would read what padding holds next to the last token.
        vectors = clear_masked(vectors, mask)
        if joint and structure is None:
            # It would also tell how long the padding between the parts is.
            order, places = tokens_first(mask)
            vectors = ops.take_along_axis(vectors, order, axis=1)
    states = encoder(vectors, **options)
    if not keras.utils.is_keras_tensor(states) or len(states.shape) != 3:
        shapes = keras.tree.map_structure(lambda tensor: tensor.shape, states)
        raise ValueError(
            f"encoder must return a state for each token, (batch, time, units); the "
            f"{type(encoder).__name__} returns {shapes}: give it return_sequences=True, and no "
            "return_state."
        )
    if "mask" not in options and structure is None:
        check_length(encoder, vectors)
    return states if places is None else ops.take_along_axis(states, places, axis=1)


def tokens_first(mask):
    """Returns the order that moves padding behind all tokens, and the one that moves it back."""
    columns = ops.cumsum(ops.ones_like(mask, dtype="int32"), axis=1)
    order = ops.argsort(ops.where(mask, columns, columns + MORE_THAN_TOKENS), axis=1)
    return order[..., None], ops.argsort(order, axis=1)[..., None]


def check_length(encoder, vectors):
    """Checks that an encoder of vectors returns as many states as there are tokens."""
    tried = keras.KerasTensor((1, TRIED, vectors.shape[-1]), vectors.dtype)
    try:
        length = encoder.compute_output_spec(tried).shape[1]
    except Exception:
        # A layer may not take so many tokens, or no number of them.
        return
    if length not in (TRIED, None):
        raise ValueError(
            f"encoder must return a state for each token; the {type(encoder).__name__} returns "
            f'{length} for {TRIED}: give convolutions padding="same" and no strides.'
        )


def warn_of_lost_mask(encoder):
    """Warns of layers of an encoder, a Keras model of layers, that do not pass on the mask."""
    # A model with a `call` of its own deals with masks itself.
    if not isinstance(encoder, keras.Model) or encoder.call.__module__.split(".")[0] != "keras":
        return
    for layer in encoder.layers:
        warn_of_lost_mask(layer)
        keeps = isinstance(layer, keras.Model | keras.layers.InputLayer) or layer.supports_masking
        if not keeps:
            warnings.warn(
                f"encoder: the {type(layer).__name__} in the {type(encoder).__name__} does not "
                "pass on the mask. If it, or a layer behind it, reads more than one token at a "
                "time, the length of the padding changes the states: give such a layer alone as "
                "the encoder, with `layers` for several.",
                stacklevel=2,
            )


def last_states(states, mask, encoder, units):
    """Returns the last state of a sequence: for two directions, last forward, first backward."""
    if isinstance(encoder, str):
        # Padding keeps the state, so that the last column is the state of the last token.
        return ops.concatenate([states[:, -1, :units], states[:, 0, units:]], axis=-1)
    following = ops.pad(mask[:, 1:], [[0, 0], [0, 1]])
    is_last = ops.logical_and(mask, ops.logical_not(following))
    last = ops.sum(ops.where(is_last[..., None], states, 0), axis=1)
    inner, half = encoder["config"], states.shape[-1] // 2
    both = encoder["class_name"] == "Bidirectional" and inner["merge_mode"] == "concat"
    if not both and not inner.get("bidirectional"):
        return last
    return ops.concatenate([last[:, :half], states[:, 0, half:]], axis=-1)
