"""The linguistic structure of one text: tokens, sentences, dependencies and coreference chains."""

import dataclasses
import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from typing_extensions import deprecated

from keras_corefmem.graphs.edges import TypedEdges
from keras_corefmem.utils.deprecation import renamed_arguments

MENTIONS = ("heads", "spans")
_OF_TOKENS = "starts", "governors", "labels", "tags", "named_entities"
# Keys of the governors and of the typed edges in files, which number tokens from 0.
_GOVERNORS, _RELATIONS = "heads", "relations"


class Mention(NamedTuple):
    """A mention of an entity, in 0-based token numbers.

    Args:
        start: the first token.
        end: the token after the last one.
        head: the head word, which governs the others.

    Example:
        >>> keras_corefmem.graphs.Mention(start=2, end=5, head=4)
        Mention(start=2, end=5, head=4)
    """

    start: int
    end: int
    head: int


def head_of(governors: Sequence[int], start: int, end: int) -> int:
    """Returns the first token of a span whose governor is outside, or the last token if none is."""
    span = range(start, end)
    return next((t for t in span if governors[t] not in span or governors[t] == t), end - 1)


def _integers(values):
    """Converts integers, of NumPy too, to those of Python, which JSON can hold."""
    return tuple(map(operator.index, values))


def _moved(edges, by):
    return tuple((source + by, target + by, kind) for source, target, kind in edges)


def _convert(name, value):
    return _moved(value, 1) if name == _RELATIONS else value


@renamed_arguments(_convert, heads="governors", relations="typed_edges")
@dataclasses.dataclass(frozen=True)
class Annotation:
    """The linguistic structure of a text.

    Tokens are numbered from 0 through the whole text. Only `typed_edges` use positions, which count
    from 1, as in `TypedEdges` and in the inputs of layers.

    Args:
        text: the text.
        tokens: strings, substrings of the text in order.
        starts: character offset of each token in the text.
        sentences: the first token of each sentence, in ascending order, beginning with 0.
        governors: the token that each token depends on, itself for the root of a sentence; empty
            if the text was not parsed.
        labels: label of each of these dependencies, from Universal Dependencies or spaCy's own
            scheme; empty if `governors` is.
        tags: part of speech of each token, universal or from the Penn Treebank; empty if unknown.
        chains: coreference chains, each a tuple of `Mention`s in the order of the text.
        typed_edges: further edges `(source, target, type)` of 1-based positions, in either
            direction: WordNet relations, predicates and their arguments, and so on.
        named_entities: label of the named entity that each token is part of, `""` for none; empty
            if named entities were not recognized.

    Raises:
        ValueError: if an argument does not fit the others; the message says which.

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
        try:
            for name in ("starts", "sentences", "governors"):
                object.__setattr__(self, name, _integers(getattr(self, name)))
            chains = (
                tuple(sorted((Mention(*_integers(m)) for m in chain), key=lambda m: m[:2]))
                for chain in self.chains
            )
            object.__setattr__(self, "chains", tuple(sorted(chains)))
        except TypeError as error:
            raise ValueError(
                "`starts`, `sentences`, `governors` and the three numbers of a mention must be "
                f"integers: {error}."
            ) from None
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
        object.__setattr__(self, "typed_edges", TypedEdges(count, self.typed_edges).edges)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    @deprecated("Annotation.heads is now called governors.")
    def heads(self) -> Sequence[int]:
        """The deprecated name of `governors`."""
        return self.governors

    @property
    @deprecated("Annotation.relations is now called typed_edges, and counts from 1.")
    def relations(self) -> tuple[tuple[int, int, str], ...]:
        """The deprecated form of `typed_edges`, with tokens numbered from 0."""
        return _moved(self.typed_edges, -1)

    @property
    def ends(self) -> tuple[int, ...]:
        """Character offset of the end of each token, exclusive."""
        pairs = zip(self.starts, self.tokens, strict=True)
        return tuple(start + len(token) for start, token in pairs)

    @property
    def sentence_numbers(self) -> np.ndarray:
        """Sentence number of each token, from 0, an int array of shape `(T,)`."""
        return np.searchsorted(self.sentences, np.arange(len(self)), side="right") - 1

    @property
    def sentence_ends(self) -> np.ndarray:
        """1-based position of the last token of each sentence, an int32 array of shape `(S,)`."""
        return np.array([*self.sentences[1:], len(self)], "int32")

    def chain_ids(self, mentions: str = "heads") -> np.ndarray:
        """Returns the chain that each token mentions, numbered from 1; 0 = none.

        A token of several mentions gets the chain of the shortest one ("his" in "his wife").

        Args:
            mentions: `"heads"` for only the heads of mentions, `"spans"` for all their tokens.

        Returns:
            int32 array of shape `(T,)`, an input of the functions `antecedents` and `chain_ids`.

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
        """The deprecated name of `chain_ids`."""
        return self.chain_ids(mentions)

    def edges(self, mentions: str | None = "heads", dependencies: str | None = "one") -> TypedEdges:
        """Collects the typed edges for a MAGE-GRU.

        Args:
            mentions: tokens of mentions to join in a chain, as in `chain_ids`; `None` for no
                coreference edges.
            dependencies: `"one"` for edges of type `dependency` from a governor to its dependents,
                `"labels"` for one type per label, such as `nsubj`; `None` for no such edges.

        Returns:
            Edges of type `coreference` from each token of a chain to the next one, dependencies,
            and the `typed_edges`.

        Raises:
            ValueError: if an argument has another value.
        """
        if dependencies not in ("one", "labels", None):
            raise ValueError(f"dependencies must be one, labels or None; got {dependencies!r}.")
        edges = list(self.typed_edges)
        if mentions is not None:
            edges += TypedEdges.from_chains(self.chain_ids(mentions)).edges
        if dependencies is not None:
            labels = self.labels if dependencies == "labels" else ["dependency"] * len(self.labels)
            pairs = enumerate(zip(self.governors, labels, strict=True))
            edges += [(g + 1, token + 1, label) for token, (g, label) in pairs if g != token]
        return TypedEdges(len(self), tuple(edges))

    def to_dict(self) -> dict[str, Any]:
        """Returns the annotation as a dictionary that JSON can hold.

        Its keys are the names of the fields, except `heads` for governors and `relations` for typed
        edges, whose tokens are numbered from 0 too. Named entities are left out if there are none.
        """
        content = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        edges, governors = content.pop("typed_edges"), content.pop("governors")
        if not self.named_entities:
            del content["named_entities"]
        return {**content, _GOVERNORS: governors, _RELATIONS: _moved(edges, -1)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Annotation":
        """Restores an annotation from the result of `to_dict`, from JSON or not.

        Raises:
            ValueError: if the dictionary is not that of an annotation.
        """
        fields = dict(content)
        fields["governors"] = fields.pop(_GOVERNORS, ())
        fields["typed_edges"] = _moved(fields.pop(_RELATIONS, ()), 1)
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError(f"This is no annotation: {error}.") from None
