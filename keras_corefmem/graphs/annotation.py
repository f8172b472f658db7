"""The linguistic structure of one text: tokens, sentences, dependencies and coreference chains."""

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from typing_extensions import deprecated

from keras_corefmem.graphs.edges import TypedEdges
from keras_corefmem.utils.deprecation import renamed_arguments

MENTIONS = ("heads", "spans")
_OF_TOKENS = "starts", "governors", "labels", "tags", "named_entities"
# What files call the governors, and the typed edges, whose tokens they number from 0.
_GOVERNORS, _RELATIONS = "heads", "relations"


class Mention(NamedTuple):
    """A mention of an entity, by 0-based numbers of tokens.

    Args:
        start: the first token.
        end: the token behind the last one.
        head: the head word, which governs the others.

    Example:
        >>> keras_corefmem.graphs.Mention(start=2, end=5, head=4)
        Mention(start=2, end=5, head=4)
    """

    start: int
    end: int
    head: int


def head_of(governors: Sequence[int], start: int, end: int) -> int:
    """The first token of a span that depends on none of it, the last one without such a token."""
    span = range(start, end)
    return next((t for t in span if governors[t] not in span or governors[t] == t), end - 1)


def _moved(edges, by):
    return tuple((source + by, target + by, kind) for source, target, kind in edges)


def _convert(name, value):
    return _moved(value, 1) if name == _RELATIONS else value


@renamed_arguments(_convert, heads="governors", relations="typed_edges")
@dataclasses.dataclass(frozen=True)
class Annotation:
    """The linguistic structure of a text.

    Tokens are numbered from 0, across sentences, as Python does. Positions, which edges join, count
    from 1, as in `TypedEdges` and in all that layers read.

    Args:
        text: the text.
        tokens: strings, pieces of the text in its order.
        starts: character of the text at which each token starts.
        sentences: the first token of each sentence, ascending, from 0.
        governors: the token that each token depends on, itself for the root of a sentence; empty
            where nothing was parsed.
        labels: label of each of these dependencies, of Universal Dependencies or spaCy's own; empty
            where `governors` is.
        tags: part of speech of each token, universal or of the Penn Treebank; empty where unknown.
        chains: coreference chains, each a tuple of `Mention`s in the order of the text.
        typed_edges: `(source, target, type)` of further edges, in either direction, 1-based
            positions: relations of WordNet, predicates and their arguments, and so on.
        named_entities: label of the named entity that each token is part of, `""` for none; empty
            where nothing recognized any.

    Raises:
        ValueError: if a part does not fit the others; it says which.

    Example:
        >>> mary, she = (0, 1, 0), (3, 4, 3)
        >>> annotation = keras_corefmem.graphs.Annotation(
        ...     "Mary slept. She", ("Mary", "slept", ".", "She"), (0, 5, 10, 12), (0, 3),
        ...     chains=[(mary, she)],
        ... )
        >>> annotation.chain_ids().tolist(), annotation.edges().edges
        ([1, 0, 0, 1], ((1, 4, 'coreference'),))
    """

    text: str
    tokens: Sequence[str]
    starts: Sequence[int]
    sentences: Sequence[int] = (0,)
    governors: Sequence[int] = ()
    labels: Sequence[str] = ()
    tags: Sequence[str] = ()
    chains: Sequence[Sequence[Mention]] = ()
    typed_edges: Sequence[tuple[int, int, str]] = ()
    named_entities: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("tokens", "sentences", *_OF_TOKENS):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        chains = (
            tuple(sorted((Mention(*m) for m in chain), key=lambda m: (m.start, m.end)))
            for chain in self.chains
        )
        object.__setattr__(self, "chains", tuple(sorted(chains)))
        object.__setattr__(self, "typed_edges", tuple(sorted(map(tuple, self.typed_edges))))
        self._check_lengths()
        self._check_places()

    def _check_lengths(self) -> None:
        count = len(self.tokens)
        if not count:
            raise ValueError(f"An annotation needs a token; there is none of {self.text!r:.80}.")
        for name in _OF_TOKENS:
            length = len(getattr(self, name))
            if length != count and (length or name == "starts"):
                raise ValueError(f"There are {count} tokens, but {length} {name}: give one each.")
        if len(self.governors) != len(self.labels):
            raise ValueError("`governors` and `labels` go together: give both, or neither.")

    def _check_places(self) -> None:
        count, end = len(self.tokens), 0
        for number, (token, start) in enumerate(zip(self.tokens, self.starts, strict=True)):
            if start < end or not token or not self.text.startswith(token, start):
                raise ValueError(
                    f"Token {number}, {token!r:.80}, is not at character {start} of the text, "
                    "behind the token before it."
                )
            end = start + len(token)
        first, ascending = self.sentences[:1], all(a < b for a, b in pairwise(self.sentences))
        if first != (0,) or not ascending or self.sentences[-1] >= count:
            raise ValueError(
                f"`sentences` must be the first token of each, ascending from 0 and below {count}; "
                f"got {self.sentences}."
            )
        if self.governors and not (0 <= min(self.governors) and max(self.governors) < count):
            raise ValueError(f"`governors` must be numbers of tokens from 0 to {count - 1}.")
        for mention in (mention for chain in self.chains for mention in chain):
            if not 0 <= mention.start <= mention.head < mention.end <= count:
                raise ValueError(
                    f"{mention} is no mention in {count} tokens: its head lies inside, and its "
                    "end is the token behind it."
                )
        TypedEdges(count, self.typed_edges)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    @deprecated("Annotation.heads is now called governors.")
    def heads(self) -> Sequence[int]:
        """The old name of `governors`."""
        return self.governors

    @property
    @deprecated("Annotation.relations is now called typed_edges, and counts from 1.")
    def relations(self) -> tuple[tuple[int, int, str], ...]:
        """The `typed_edges` by numbers of tokens, from 0."""
        return _moved(self.typed_edges, -1)

    @property
    def ends(self) -> tuple[int, ...]:
        """The character behind each token."""
        pairs = zip(self.starts, self.tokens, strict=True)
        return tuple(start + len(token) for start, token in pairs)

    @property
    def sentence_numbers(self) -> np.ndarray:
        """Number of the sentence of each token, from 0, int array `(T,)`."""
        return np.searchsorted(self.sentences, np.arange(len(self)), side="right") - 1

    @property
    def sentence_ends(self) -> np.ndarray:
        """1-based position of the last token of each sentence, int32 array `(S,)`."""
        return np.array([*self.sentences[1:], len(self)], "int32")

    def chain_ids(self, mentions: str = "heads") -> np.ndarray:
        """Numbers the chain that each token mentions, from 1; 0 = none.

        A token of several chains is in that of the shortest mention ("his" in "his wife").

        Args:
            mentions: `"heads"` for the heads of mentions alone, `"spans"` for all their tokens.

        Returns:
            int32 array `(T,)`, ready for `antecedents` and `chain_ids`.

        Raises:
            ValueError: if `mentions` is neither.
        """
        if mentions not in MENTIONS:
            raise ValueError(f"mentions must be one of {', '.join(MENTIONS)}; got {mentions!r}.")
        numbered = [(m, number) for number, chain in enumerate(self.chains, 1) for m in chain]
        numbers = np.zeros(len(self), "int32")
        for mention, number in sorted(numbered, key=lambda pair: pair[0].start - pair[0].end):
            span = slice(mention.start, mention.end)
            numbers[mention.head if mentions == "heads" else span] = number
        return numbers

    @deprecated("Annotation.entities is now called chain_ids.")
    def entities(self, mentions: str = "heads") -> np.ndarray:
        """The old name of `chain_ids`."""
        return self.chain_ids(mentions)

    def edges(self, mentions: str | None = "heads", dependencies: str | None = "one") -> TypedEdges:
        """Collects the typed edges of a MAGE-GRU.

        Args:
            mentions: what chains join, as in `chain_ids`; `None` for no edges of chains.
            dependencies: `"one"` for edges of type `dependency` from a governor to its dependents,
                `"labels"` for a type of each label, such as `nsubj`; `None` for none.

        Returns:
            Edges: `coreference` between neighbours in a chain, dependencies, and the `typed_edges`.

        Raises:
            ValueError: if an argument is something else.
        """
        if dependencies not in ("one", "labels", None):
            raise ValueError(f"dependencies must be one, labels or None; got {dependencies!r}.")
        edges = list(self.typed_edges)
        if mentions is not None:
            edges += TypedEdges.from_chains(self.chain_ids(mentions)).edges
        if dependencies is not None:
            edges += [
                (governor + 1, token + 1, label if dependencies == "labels" else "dependency")
                for token, (governor, label) in enumerate(
                    zip(self.governors, self.labels, strict=True)
                )
                if governor != token
            ]
        return TypedEdges(len(self), tuple(edges))

    def to_dict(self) -> dict[str, Any]:
        """Returns what JSON can hold of it.

        Governors are called `heads` there, and typed edges `relations`, numbered from 0 like all;
        named entities are left out where there are none.
        """
        content = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        edges, governors = content.pop("typed_edges"), content.pop("governors")
        if not self.named_entities:
            del content["named_entities"]
        return {**content, _GOVERNORS: governors, _RELATIONS: _moved(edges, -1)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Annotation":
        """Returns the annotation of a `to_dict`, from JSON or not.

        Raises:
            ValueError: if it is not one.
        """
        fields = dict(content)
        fields["governors"] = fields.pop(_GOVERNORS, ())
        fields["typed_edges"] = _moved(fields.pop(_RELATIONS, ()), 1)
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError(f"This is no annotation: {error}.") from None
