"""Edge types by name: those that a text's structure implies, and those that others add."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from keras_corefmem.graphs.edges import INVERSE, Edge
from keras_corefmem.graphs.targets import Structure, narrative_arguments
from keras_corefmem.utils.checks import check_listed

Relation = Callable[[str, str], str | Iterable[str] | None] | Mapping[tuple[str, str], str]


def _narrative(structure: Structure) -> set[tuple[int, int]]:
    own = set(map(tuple, structure.arguments.tolist()))
    return {(predicate, argument) for argument, predicate in narrative_arguments(structure)} - own


# Edges that a structure implies, as pairs of source and target numbered from 0. Edges of any other
# type are given by an annotator or a user.
EDGE_TYPES: dict[str, Callable[[Structure], Iterable]] = {
    "dependency": lambda structure: [
        (g, token) for token, g in enumerate(structure.governors.tolist()) if g != token
    ],
    "role": lambda structure: structure.arguments.tolist(),
    "narrative": _narrative,
}


def edges_of(structure: Structure, edge_type: str) -> np.ndarray:
    """Returns the edges of one type in a structure.

    | type | edges |
    |---|---|
    | `dependency` | from a governor to each of its dependents |
    | `role` | from a predicate to each of its arguments |
    | `narrative` | from a predicate to arguments of others that corefer with one of its own |
    | any other | the annotator's `typed_edges` of that type |

    Coreference edges are not among them: they come from chains, see `chain_ids`.

    Args:
        structure: the `Structure` of a text.
        edge_type: name of the type.

    Returns:
        int32 array of shape `(N, 2)`, 1-based positions of source and target, sorted and without
        duplicates.

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["So Mary slept ."], tokenized=True)
        >>> structure = keras_corefmem.graphs.Structure.of(annotation)
        >>> keras_corefmem.graphs.edges_of(structure, "dependency").shape
        (0, 2)
    """
    implied = EDGE_TYPES[edge_type](structure) if edge_type in EDGE_TYPES else ()
    pairs = [np.reshape(list(implied), (-1, 2)), structure.edges.get(edge_type, np.zeros((0, 2)))]
    return np.unique(np.concatenate(pairs), axis=0).astype("int32") + 1


def base_type(edge_type: str) -> str:
    """Returns the name of a type without its inverse mark: `"role"` for `"role^-1"`."""
    return edge_type.removesuffix(INVERSE)


def check_edge_types(types: Any) -> list[str]:
    """Checks the names of edge types and returns them as a list.

    Raises:
        ValueError: if they are not a list of different names.
    """
    names = list(types) if isinstance(types, Sequence) and not isinstance(types, str) else []
    are_names = all(isinstance(name, str) and name for name in names)
    if not names or not are_names or len(set(names)) < len(names):
        raise ValueError(
            "edge_types must be a list of different names, such as "
            f"['coreference', 'dependency']; got {types!r}."
        )
    return names


def lexical_edges(tokens: Sequence[str], relation: Relation) -> tuple[Edge, ...]:
    """Joins tokens whose words are related.

    Args:
        tokens: the tokens of a text, or of a passage followed by its question.
        relation: function from two different words to the type of an edge from the first to the
            second, several types, or `None`; or a mapping from pairs of words to types. A lookup
            in WordNet or another ontology is such a function.

    Returns:
        Edges `(source, target, type)` of 1-based positions, for `Annotation.typed_edges` and the
        `edges` of an example. Each target has an edge from the nearest token of the source word on
        either side.

    Raises:
        ValueError: if `tokens` is one string, or a key of the mapping no pair.

    Example:
        >>> hypernyms = {("robin", "bird"): "hypernym"}
        >>> keras_corefmem.graphs.lexical_edges("the robin is a bird".split(), hypernyms)
        ((2, 5, 'hypernym'),)
    """
    check_listed(tokens=tokens)
    related = _table(relation) if isinstance(relation, Mapping) else relation
    places: dict[str, list[int]] = {}
    for position, token in enumerate(tokens, 1):
        places.setdefault(token, []).append(position)
    edges = set()
    for first in places:
        for second in places:
            types = related(first, second) if first != second else None
            for edge_type in [types] if isinstance(types, str) else types or ():
                edges |= {(*pair, edge_type) for pair in _nearest(places[first], places[second])}
    return tuple(sorted(edges))


def _table(table):
    # One key stands for all, since a table may be that of a whole ontology.
    key = next(iter(table), ("", ""))
    if not isinstance(key, tuple) or len(key) != 2:
        raise ValueError(f"relation must have pairs of words as keys, got {key!r:.80}.")
    return lambda first, second: table.get((first, second))


def _nearest(sources, targets):
    """Yields each target's nearest source on either side, as `(source, target)`."""
    ends = np.searchsorted(sources, targets)
    for target, end in zip(targets, ends.tolist(), strict=True):
        yield from ((source, target) for source in sources[max(end - 1, 0) : end + 1])
