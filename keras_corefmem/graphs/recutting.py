"""The structure of a text that is cut to other tokens."""

import difflib
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from keras_corefmem.graphs.annotators import QUOTES
from keras_corefmem.graphs.targets import Structure
from keras_corefmem.text.tokenizers import lower

Edge = tuple[int, int, str]
# Spellings of one mark, such as those of the Penn Treebank.
_MARKS = {"\u2026": "...", **dict.fromkeys("\u2013\u2014\u2015", "--")}
_MARKS |= {
    **dict.fromkeys("\u201c\u201d\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2018\u2019`\u00b4", "'"),
}
_ONE_MARK = str.maketrans(_MARKS)


class Recutting:
    """Moves what is known of the tokens of texts to other tokens of the same texts.

    Tokens are matched by their letters and digits, and punctuation between the same letters by its
    marks. Of several tokens that become one, the one that governs the others stands for all; of a
    token that becomes several, the first one has its chain and edges, and governs the others.

    Args:
        old: the tokens of each text, such as a passage and its question.
        new: other tokens of each text, with the same letters and digits, in any case.
        governors: the token that each of the old tokens depends on, itself for a root, numbered
            from 0 through all texts; of the first texts, or of none.

    Attributes:
        places: the new tokens that each old one becomes; none if it is left out.
        stands: the old token that stands for each new one, `None` for a new mark.

    Raises:
        ValueError: if the letters and digits of a text differ.
    """

    def __init__(
        self,
        old: Sequence[Sequence[str]],
        new: Sequence[Sequence[str]],
        governors: Iterable[int] = (),
    ) -> None:
        # The start of each text and the end of the last one.
        self._bounds, self._new_bounds = (
            tuple(itertools.accumulate(map(len, texts), initial=0)) for texts in (old, new)
        )
        self.places: list[list[int]] = [[] for _ in range(self._bounds[-1])]
        groups: list[list[int]] = [[] for _ in range(self._new_bounds[-1])]
        starts = zip(self._bounds, self._new_bounds, strict=True)
        for tokens, others, (start, other_start) in zip(old, new, starts, strict=False):
            for a, b in _pairs(tokens, others):
                self.places[start + a].append(other_start + b)
                groups[other_start + b].append(start + a)
        known = list(governors)
        self.governors = [*known, *range(len(known), self._bounds[-1])]
        self.stands = [
            min(group, key=self._depth) if group[1:] else next(iter(group), None)
            for group in groups
        ]

    def _depth(self, token: int) -> int:
        """Returns the number of tokens that govern an old one."""
        seen = {token}
        while (token := self.governors[token]) not in seen:
            seen.add(token)
        return len(seen)

    def labels(self, values: Sequence[str]) -> tuple[str, ...]:
        """Moves a label of each token, `""` for new marks; none if there are none."""
        return tuple("" if n is None else values[n] for n in self.stands) if values else ()

    def chains(self, chains: Sequence[int]) -> tuple[int, ...]:
        """Moves the chain of each token, 0 = none; none if there are none."""
        moved = [0] * len(self.stands)
        # Of several tokens with chains that become one, the one that stands for it comes last.
        for token in sorted(reversed(range(len(chains))), key=self._stands):
            if chains[token] and self.places[token]:
                moved[self.places[token][0]] = chains[token]
        return tuple(moved) if chains else ()

    def _stands(self, token: int) -> bool:
        return bool(self.places[token]) and self.stands[self.places[token][0]] == token

    def edges(self, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        """Moves edges of 1-based positions; those of tokens that are left out or merge are none."""
        ends = ((self.places[a - 1][:1], self.places[b - 1][:1], t) for a, b, t in edges)
        return tuple(
            dict.fromkeys((a[0] + 1, b[0] + 1, t) for a, b, t in ends if a and b and a != b)
        )

    def structure(self, structure: Structure) -> Structure:
        """Moves a `Structure`."""
        pairs = {name: self._moved(each) for name, each in structure.edges.items()}
        mentions = [(n, self.places[head][:1]) for n, head in structure.mentions.tolist()]
        heads = sorted({(number, *head) for number, head in mentions if head})
        covered = self._new_bounds[self._bounds.index(len(structure.governors))]
        return Structure(
            np.array([self._governor(n) for n in range(covered)], "int32"),
            np.array(heads, "int32").reshape(-1, 2),
            self._moved(structure.arguments),
            pairs,
        )

    def _moved(self, pairs: np.ndarray) -> np.ndarray:
        ends = ((self.places[a][:1], self.places[b][:1]) for a, b in pairs.tolist())
        kept = sorted({(*a, *b) for a, b in ends if a and b and a != b})
        return np.array(kept, "int32").reshape(-1, 2)

    def _governor(self, token: int) -> int:
        own = self.stands[token]
        if own is None:
            return token if token in self._new_bounds else token - 1
        first = self.places[own][0]
        if first != token:
            return first
        return next(iter(self.places[self.governors[own]]), token)


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs the tokens of a text with those other tokens of it that share letters or are marks."""
    letters = [list(map(_letters, tokens)) for tokens in (old, new)]
    if "".join(map(lower, letters[0])) != "".join(map(lower, letters[1])):
        raise ValueError(f"{new!r:.80} are no tokens of {old!r:.80}.")
    owners = ((n for n, own in enumerate(each) for _ in own) for each in letters)
    pairs = list(zip(*owners, strict=True))
    gaps: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, each in enumerate(letters):
        read = 0
        for number, own in enumerate(each):
            if not own:
                gaps[read][side].append(number)
            read += len(own)
    for first, second in gaps.values():
        marks = [_mark(old[n]) for n in first], [_mark(new[n]) for n in second]
        if marks[0] == marks[1]:
            pairs += zip(first, second, strict=True)
            continue
        for kind, a, b, c, d in difflib.SequenceMatcher(None, *marks, False).get_opcodes():
            if kind in ("equal", "replace"):
                # Several marks may have become one, such as dots, or one several.
                count = max(b - a, d - c)
                pairs += (
                    (first[min(a + n, b - 1)], second[min(c + n, d - 1)]) for n in range(count)
                )
    return sorted(set(pairs))


def _letters(token: str) -> str:
    """Returns the letters and digits of a token; `-LRB-` and the like are punctuation."""
    return "".join(filter(str.isalnum, "" if token in QUOTES else token))


def _mark(token: str) -> str:
    """Returns the usual spelling of a mark, the same for quotation marks of all kinds."""
    mark = QUOTES.get(token, token).translate(_ONE_MARK)
    return re.sub(r"\.{2,}", "...", re.sub("-{2,}", "--", mark))
