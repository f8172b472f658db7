"""Assignment of supervision signals to heads of a reader's self-attention."""

import typing

from keras_corefmem.graphs.targets import check_signal

# Places of self-attention, by name of the variant.
SELF_ATTENTION = {"none": (), "early": ("early",), "late": ("late",), "both": ("early", "late")}
# The layer that the paper supervises; an encoder with fewer layers uses its last.
LAYER = 3
# Signals whose heads attend only within the sentence of the token.
WITHIN_SENTENCES = ("dependency",)


class Supervision(typing.NamedTuple):
    """A supervised head."""

    signal: str  # See `attention_pairs`.
    place: str  # "early" or "late".
    layer: int  # From 1.
    head: int  # From 0.


def as_sequences(supervision):
    """Converts `supervision` to a list of sequences that start with a signal."""
    items = [supervision] if isinstance(supervision, str) else supervision
    if not isinstance(items, list | tuple):
        raise ValueError(f"supervision must be a list of signals, got {supervision!r}.")
    sequences = [[item] if isinstance(item, str) else item for item in items]
    for sequence in sequences:
        if not isinstance(sequence, list | tuple) or not 1 <= len(sequence) <= 4:
            raise ValueError(
                "supervision must be a list whose items are signals, or sequences of signal, "
                f'place, layer and head, such as ["coref_all", "early", 3, 0]; got {sequence!r}.'
            )
    return sequences


def plan_supervision(supervision, self_attention, layers, heads):
    """Checks `supervision`, and fills in places, layers and heads that are left out."""
    places = SELF_ATTENTION[self_attention]
    planned = []
    for signal, *rest in as_sequences(supervision):
        check_signal(signal)
        if not places:
            raise ValueError(
                f"supervision by {signal} needs self_attention: early, late or both; got none."
            )
        place = rest[0] if rest else places[0]
        if place not in places:
            raise ValueError(
                f"supervision by {signal}: there is no self-attention {place!r}, but "
                f"{' and '.join(places)}."
            )
        for name, number in zip(("layer", "head"), rest[1:], strict=False):
            if not isinstance(number, int) or isinstance(number, bool):
                raise ValueError(
                    f"supervision by {signal}: {name} must be an integer, got {number!r}."
                )
        layer = rest[1] if len(rest) > 1 else min(LAYER, layers[place])
        taken = {each.head for each in planned if (each.place, each.layer) == (place, layer)}
        head = rest[2] if len(rest) > 2 else min(set(range(heads + 1)) - taken)
        if not 1 <= layer <= layers[place] or not 0 <= head < heads:
            raise ValueError(
                f"supervision by {signal}: there is no head {head} of layer {layer}; {place} has "
                f"{layers[place]} layers of {heads} heads, counted from layer 1 and head 0."
            )
        if head in taken or any(signal == each.signal for each in planned):
            raise ValueError(
                f"supervision by {signal}: give each signal once, and each head one signal."
            )
        planned.append(Supervision(signal, place, layer, head))
    return planned


def heads_at(config, place):
    """Returns the signals and windows of an `AttentionEncoder` at a place of a reader."""
    here = [each for each in map(Supervision._make, config.supervision) if each.place == place]
    signals = [(each.layer, each.head, each.signal) for each in here]
    windows = [(each.layer, each.head) for each in here if each.signal in WITHIN_SENTENCES]
    return signals, windows
