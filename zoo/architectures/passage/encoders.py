"""Recurrent encoders of a reader: named ones, and any Keras layer."""

import inspect

import keras
from keras import ops

from keras_corefmem import layers
from keras_corefmem.layers.core.masking import clear_masked
from zoo.architectures.config import STRUCTURE, underscored
from zoo.configs.widths import edge_widths


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


def encode(encoder, vectors, structure, mask):
    """Runs an encoder over a sequence, with its structure if there is one."""
    options = {} if structure is None else {structure_read(encoder): structure}
    if "mask" in inspect.signature(encoder.call).parameters:
        options["mask"] = mask
    else:
        # A convolution would read what padding holds next to the last token.
        vectors = clear_masked(vectors, mask)
    states = encoder(vectors, **options)
    if not keras.utils.is_keras_tensor(states) or len(states.shape) != 3:
        shapes = keras.tree.map_structure(lambda tensor: tensor.shape, states)
        raise ValueError(
            f"encoder must return a state for each token, (batch, time, units); the "
            f"{type(encoder).__name__} returns {shapes}: give it return_sequences=True, and no "
            "return_state."
        )
    return states


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
