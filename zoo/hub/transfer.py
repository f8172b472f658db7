"""Transfer of a preset's weights to a new task, row by row for words and answers."""

import operator
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from keras_corefmem.layers import DAGRNN, MAGEGRU
from keras_corefmem.preprocessing import Preprocessor, get
from keras_corefmem.text import Coverage
from keras_corefmem.text.tokenizers import lower
from zoo.configs import rename
from zoo.configs.widths import edge_widths
from zoo.hub.record import Preset, Weights

_words = operator.attrgetter("vocabulary.words")


def _words_and_answers(preprocessor: Preprocessor) -> list[str]:
    """Names the rows of a memory network's embeddings: words, then answers that are not words."""
    known = set(preprocessor.vocabulary.known)
    others = [answer for answer in preprocessor.answers if lower(answer) not in known]
    return [*preprocessor.vocabulary.words, *(f"answer {answer}" for answer in others)]


# Weights with an axis whose entries have names: pattern, axis and names. Others are copied whole.
ALIGNED: tuple[tuple[str, int, Callable[[Preprocessor], Sequence]], ...] = (
    (r"word_embedding/embeddings", 0, _words),
    (r"character_embedding/embeddings", 0, operator.attrgetter("spelling.vocabulary.words")),
    (r"memory/embedding_\d+", 0, _words_and_answers),
    (r"memory/time_\d+|(sentence|question)_mask/factors", 0, lambda _: range(10_000)),
    (r"answer/(output/)?(kernel|bias)", -1, operator.attrgetter("answers")),
)
# Weights that depend on the training data, which are not copied.
OF_DATA = r"retrieve/idf|weights/embeddings"


def settings_of(preset: Preset, names: Sequence[str]) -> dict[str, Any]:
    """Returns the arguments of `from_examples` that make a model like a preset.

    Args:
        preset: the preset.
        names: names of the arguments of `from_examples`.

    Raises:
        ValueError: if the preset has no preprocessor.
    """
    arguments, preprocessor = rename(preset.arguments), get(preset.preprocessor)
    if preprocessor is None:
        raise ValueError(
            f"{preset.handle} has no preprocessor to learn like: make a model by "
            f"{preset.short_class_name}.from_examples(examples)."
        )
    if preprocessor.reads_edges and not preprocessor.strict_edge_types:
        # They are defaults, not a choice of the user.
        arguments.pop("edge_types", None)
    names_of = "half_width", "max_sentences", "max_windows", "read_ends"
    learned = {
        name: getattr(preprocessor, name)
        for name in (*names_of, "unknown_types", "free_symbols")
        if hasattr(preprocessor, name)
    }
    known = preprocessor.vocabulary.known
    learned |= {
        "answer_words": preprocessor.answer_length > 1,
        "characters": bool(preprocessor.characters),
        "local_answers": preprocessor.local,
        "lower_case": all(word == lower(word) for word in known),
        "tied_keys": arguments.get("entity_tokens") is not None,
        "tokenizer": preprocessor.tokenizer.name,
    }
    if "@placeholder" in known:
        learned["candidates"] = arguments.get("answer_tokens") is not None
    if arguments.get("answer_head") == "pointer_sum":
        # Passages of the new task may lack the answers, which takes another head.
        learned["answer_head"] = "auto"
    return {name: value for name, value in {**arguments, **learned}.items() if name in names}


def transfer(model: keras.Model, preset: Preset) -> Coverage:
    """Copies the weights of a preset to a model for another task.

    Rows of words, characters and answers are copied if both models know them, other weights if
    both have the same shape. Weights of another shape keep their new values, and so do encoders of
    other edge types, both with a warning.

    Args:
        model: an untrained model of the preset's class.
        preset: the preset.

    Returns:
        A `Coverage`: how many words of the model have a vector in the preset.

    Raises:
        ValueError: if the weights have no names.
    """
    older, newer = get(preset.preprocessor), model.preprocessor
    weights: Weights = preset.read_weights()
    if all(map(str.isdigit, weights)):
        raise ValueError(
            f"{preset.handle} has weights of version 0.1, without names: load it, and take the "
            "folder that its `save_to_preset` writes."
        )
    untrained, unfit = _paths_of_other_edges(model, preset), []
    words, known = newer.vocabulary.known, set(older.vocabulary.known)
    for weight in model.weights:
        path, value = weight.path, weights.get(weight.path)
        if value is None or path in untrained or re.fullmatch(OF_DATA, path):
            continue
        for pattern, axis, names in ALIGNED:
            if re.fullmatch(pattern, path):
                own = np.moveaxis(keras.ops.convert_to_numpy(weight).copy(), axis, 0)
                other = np.moveaxis(value, axis, 0)
                if own.shape[1:] == other.shape[1:]:
                    _copy_rows(own, other, names(newer), names(older))
                    value = np.moveaxis(own, 0, axis)
                elif names in (_words, _words_and_answers):
                    known = set()
        if value.shape == tuple(weight.shape):
            weight.assign(value)
        else:
            unfit.append(path)
    if unfit:
        warnings.warn(
            f"{len(unfit)} weights of {preset.handle} have another shape here and start untrained, "
            f"{', '.join(unfit[:3])}: leave out what changes their widths to keep them.",
            stacklevel=4,
        )
    return Coverage(len(words), tuple(word for word in words if word not in known))


def _paths_of_other_edges(model: keras.Model, preset: Preset) -> set[str]:
    """Returns the paths of encoder weights if the model's edges differ from the preset's."""
    before, now = map(_edges_of, (rename(preset.arguments), model.config))
    if not before or before == now:
        return set()
    encoders = [e for e in model._flatten_layers() if isinstance(e, MAGEGRU | DAGRNN)]
    if encoders:
        told = ", ".join(f"{name} units of {edge_type}" for edge_type, name in before)
        warnings.warn(
            f"The encoders of {preset.handle} start untrained, for its edges are others, {told}: "
            "leave edge_types and edge_units out to keep them.",
            stacklevel=4,
        )
    return {weight.path for encoder in encoders for weight in encoder.weights}


def _edges_of(arguments: dict[str, Any]) -> list[tuple[str, Any]]:
    """Returns the edge types of a configuration with their widths; empty if it has none."""
    types = arguments.get("edge_types", ())
    return list(zip(types, edge_widths(types, arguments.get("edge_units")), strict=True))


def _copy_rows(own: np.ndarray, other: np.ndarray, names: Sequence, old_names: Sequence) -> None:
    rows = {name: row for row, name in enumerate(old_names[: len(other)])}
    for n, name in enumerate(names[: len(own)]):
        if name in rows:
            own[n] = other[rows[name]]
