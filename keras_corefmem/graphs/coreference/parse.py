"""A parsed text as plain lists, with the same labels for every parser."""

import dataclasses
from bisect import bisect_left
from typing import Any

import numpy as np

from keras_corefmem.graphs.formats.spacy_docs import leave_out_spaces
from keras_corefmem.graphs.universal import universal_label, universal_tag

ARGUMENTS = frozenset(("nsubj", "obj", "iobj", "obl"))


@dataclasses.dataclass
class Parse:
    """A parsed text without whitespace tokens; every list has an item for each token."""

    words: list[str]
    lowers: list[str]
    tags: list[str]
    plural: list[bool]
    governors: list[int]
    labels: list[str]
    sentences: list[int]
    # The number of each token in its Doc.
    places: list[int]

    def __post_init__(self) -> None:
        self._retag_names()
        self.children: list[list[int]] = [[] for _ in self.words]
        for token, governor in enumerate(self.governors):
            if governor != token:
                self.children[governor].append(token)

    def _retag_names(self):
        """Tags capitalised words as names after a name ("Mrs. Hall"), or if tagged so elsewhere."""
        count = len(self.words)
        capital = [word[:1].isupper() for word in self.words]
        names = {self.words[t] for t in range(count) if self.tags[t] == "PROPN" and capital[t]}
        common = {self.words[t] for t in range(count) if not capital[t]}
        for token in range(count):
            if not capital[token] or self.tags[token] not in ("NOUN", "ADJ"):
                continue
            behind = token > 0 and capital[token - 1] and self.tags[token - 1] == "PROPN"
            elsewhere = self.words[token] in names and self.lowers[token] not in common
            if elsewhere or (behind and self.tags[token] == "NOUN"):
                self.tags[token] = "PROPN"

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def from_doc(cls, doc: Any) -> "Parse":
        """Reads a `spacy.tokens.Doc` without its whitespace tokens."""
        if not doc.has_annotation("DEP"):
            raise ValueError(
                "The text has no dependencies, which coreference is resolved with: put a parser "
                "before corefmem_resolver, or take a pipeline that has one."
            )
        columns = doc.to_array(["HEAD", "DEP", "POS", "TAG", "SENT_START", "MORPH", "LOWER"])
        columns = columns.astype(np.uint64)
        words = [token.text for token in doc]
        kept, _, governors = leave_out_spaces(words, columns[:, 0])
        sentence_starts = np.cumsum(columns[:, 4] == 1)[kept]
        sentences = np.unique(sentence_starts, return_inverse=True)[1].tolist()
        distances, deps, pos, tags, _, morphs, lowers = columns[kept].T.tolist()
        strings = doc.vocab.strings
        universal = {dep: universal_label(strings[dep]) for dep in set(deps)}
        labels = [universal[dep] for dep in deps]
        for token, distance in enumerate(distances):
            if distance and governors[token] == token:
                # Its governor was whitespace.
                labels[token] = "root"
        keys = list(zip(pos, tags, morphs, strict=True))
        forms = {key: _form(*(strings[k] for k in key)) for key in set(keys)}
        tagged = [forms[key] for key in keys]
        lower_strings = {key: strings[key] for key in set(lowers)}
        return cls(
            [words[token] for token in kept],
            [lower_strings[key] for key in lowers],
            [tag for tag, _ in tagged],
            [plural for _, plural in tagged],
            governors,
            labels,
            sentences,
            kept,
        )

    def numbered(self, start: int, end: int) -> tuple[int, int]:
        """Converts a span of the Doc's tokens to one of this parse."""
        return bisect_left(self.places, start), bisect_left(self.places, end)

    def subtree(self, token: int) -> tuple[int, int]:
        """Returns the first and last token of the subtree of a token."""
        first = last = token
        stack = [token]
        while stack:
            for child in self.children[stack.pop()]:
                first, last = min(first, child), max(last, child)
                stack.append(child)
        return first, last

    def dependent(self, token: int, *labels: str) -> int | None:
        """Returns the first dependent of a token that has one of the labels, or `None`."""
        return next((c for c in self.children[token] if self.labels[c] in labels), None)

    def predicate(self, token: int) -> int:
        """Returns the predicate of a nominal argument, skipping prepositions and conjuncts."""
        for _ in range(8):
            label, governor = self.labels[token], self.governors[token]
            if governor == token:
                break
            token = governor
            if label in ARGUMENTS and self.labels[token] != "prep":
                break
            if self.tags[token] in ("VERB", "AUX"):
                break
        return token

    def subject(self, predicate: int) -> int | None:
        """Returns the subject of a predicate, or of one it is coordinated with or depends on."""
        for _ in range(4):
            subject = self.dependent(predicate, "nsubj")
            if subject is not None:
                return subject
            if self.labels[predicate] not in ("conj", "xcomp", "advcl", "aux", "cop"):
                return None
            predicate = self.governors[predicate]
        return None


def _form(pos, tag, morph):
    """Returns the universal part of speech of a token, and whether it is plural."""
    tag, _, features = tag.partition("__")
    plural = tag in ("NNS", "NNPS") or "Number=Plur" in features or "Number=Plur" in morph
    return pos or universal_tag(tag), plural
