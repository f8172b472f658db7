"""The linguistic structure of one text: tokens, sentences, dependencies and coreference chains."""

import dataclasses
import typing
from itertools import pairwise

import numpy as np
from typing_extensions import deprecated

from keras_corefmem.graphs.edges import TypedEdges

MENTIONS = ("heads", "spans")


class Mention(typing.NamedTuple):
    """A mention of an entity, by 0-based numbers of tokens.

    Args:
        start: the first token.
        end: the token behind the last one.
        head: the token that the others depend on, syntactically.
    """

    start: int
    end: int
    head: int


@dataclasses.dataclass(frozen=True)
class Annotation:
    """What an annotator says of a text. Tokens are numbered from 0, across sentences.

    Args:
        text: the text.
        tokens: strings, pieces of the text in its order.
        starts: character of the text at which each token starts.
        sentences: the first token of each sentence, ascending, from 0.
        heads: the token that each token depends on, itself for the root of a sentence; empty where
            nothing was parsed.
        labels: label of each of these dependencies, of Universal Dependencies or spaCy's own; empty
            where `heads` is.
        tags: part of speech of each token, universal or of the Penn Treebank; empty where unknown.
        chains: coreference chains, each a tuple of `Mention`s in the order of the text.
        relations: `(source, target, type)` of further edges between tokens, in either direction:
            relations of WordNet, predicates and their arguments, and so on.

    Raises:
        ValueError: if a part does not fit the others; it says which.
    """

    text: str
    tokens: tuple[str, ...]
    starts: tuple[int, ...]
    sentences: tuple[int, ...] = (0,)
    heads: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    chains: tuple[tuple[Mention, ...], ...] = ()
    relations: tuple[tuple[int, int, str], ...] = ()

    def __post_init__(self):
        for name in ("tokens", "starts", "sentences", "heads", "labels", "tags"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        chains = tuple(
            tuple(sorted((Mention(*m) for m in chain), key=lambda m: (m.start, m.end)))
            for chain in self.chains
        )
        object.__setattr__(self, "chains", tuple(sorted(chains)))
        object.__setattr__(self, "relations", tuple(sorted(map(tuple, self.relations))))
        self._check()

    def _check(self):
        count = len(self.tokens)
        if not count:
            raise ValueError(f"An annotation needs a token; there is none of {self.text!r}.")
        for name, empty in (("starts", False), ("heads", True), ("labels", True), ("tags", True)):
            found = len(getattr(self, name))
            if found != count and not (empty and not found):
                raise ValueError(f"There are {count} tokens, but {found} {name}: give one of each.")
        if len(self.heads) != len(self.labels):
            raise ValueError("`heads` and `labels` go together: give both, or neither.")
        end = 0
        for number, (token, start) in enumerate(zip(self.tokens, self.starts, strict=True)):
            if start < end or not token or not self.text.startswith(token, start):
                raise ValueError(
                    f"Token {number}, {token!r}, is not at character {start} of the text, behind "
                    "the token before it."
                )
            end = start + len(token)
        first, ascending = self.sentences[:1], all(a < b for a, b in pairwise(self.sentences))
        if first != (0,) or not ascending or self.sentences[-1] >= count:
            raise ValueError(
                f"`sentences` must be the first token of each, ascending from 0 and below {count}; "
                f"got {self.sentences}."
            )
        if self.heads and not (0 <= min(self.heads) and max(self.heads) < count):
            raise ValueError(f"`heads` must be numbers of tokens from 0 to {count - 1}.")
        for chain in self.chains:
            for mention in chain:
                if not 0 <= mention.start <= mention.head < mention.end <= count:
                    raise ValueError(
                        f"{mention} is no mention in {count} tokens: its head lies inside, and its "
                        "end is the token behind it."
                    )
        for source, target, kind in self.relations:
            if not (0 <= source < count and 0 <= target < count and source != target):
                raise ValueError(
                    f"Relation ({source}, {target}, {kind!r}) must join two different tokens from "
                    f"0 to {count - 1}."
                )

    def __len__(self):
        return len(self.tokens)

    @property
    def ends(self):
        """Character behind each token, a tuple."""
        pairs = zip(self.starts, self.tokens, strict=True)
        return tuple(start + len(token) for start, token in pairs)

    @property
    def sentence_numbers(self):
        """Number of the sentence of each token, from 0, int array `(T,)`."""
        tokens = np.arange(len(self))
        return np.searchsorted(self.sentences, tokens, side="right") - 1

    @property
    def sentence_ends(self):
        """1-based position of the last token of each sentence, int32 array `(S,)`."""
        return np.array([*self.sentences[1:], len(self)], "int32")

    def chain_ids(self, mentions="heads"):
        """Number of the chain that each token mentions, from 1; 0 = none.

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
        found = [(m, number) for number, chain in enumerate(self.chains, 1) for m in chain]
        numbers = np.zeros(len(self), "int32")
        for mention, number in sorted(found, key=lambda pair: pair[0].start - pair[0].end):
            spans = slice(mention.start, mention.end)
            numbers[mention.head if mentions == "heads" else spans] = number
        return numbers

    @deprecated("Annotation.entities is now called chain_ids.")
    def entities(self, mentions="heads"):
        """The old name of `chain_ids`."""
        return self.chain_ids(mentions)

    def edges(self, mentions="heads", dependencies="one"):
        """The typed edges of a MAGE-GRU.

        Args:
            mentions: what chains join, as in `chain_ids`; `None` for no edges of chains.
            dependencies: `"one"` for edges of type `dependency` from a head to its dependents,
                `"labels"` for a type of each label, such as `nsubj`; `None` for none.

        Returns:
            `TypedEdges` of 1-based positions: `coref` between neighbours in a chain, dependencies,
            and the `relations`.

        Raises:
            ValueError: if an argument is something else.
        """
        if dependencies not in ("one", "labels", None):
            raise ValueError(f"dependencies must be one, labels or None; got {dependencies!r}.")
        edges = [(source + 1, target + 1, kind) for source, target, kind in self.relations]
        if mentions is not None:
            edges += TypedEdges.from_chains(self.chain_ids(mentions)).edges
        if dependencies is not None:
            edges += [
                (head + 1, token + 1, label if dependencies == "labels" else "dependency")
                for token, (head, label) in enumerate(zip(self.heads, self.labels, strict=True))
                if head != token
            ]
        return TypedEdges(len(self), tuple(edges))

    def to_dict(self):
        """What JSON can hold of it."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, content):
        """The annotation of a `to_dict`, from JSON or not.

        Raises:
            ValueError: if it is not one.
        """
        try:
            return cls(**content)
        except TypeError as error:
            raise ValueError(f"This is no annotation: {error}.") from None
