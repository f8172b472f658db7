"""Trees of the Penn Treebank, [Marcus et al., 1993](https://aclanthology.org/J93-2004)."""

import dataclasses
import re
from collections.abc import Iterator
from typing import NamedTuple

from keras_corefmem.utils.files import Path, read_text

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


class Constituent(NamedTuple):
    """Words `start` to `end` (excluded) of a tree; leaves are single words.

    The label is empty for the outer bracket of the Penn Treebank's trees; `line` is the number of
    the line on which the bracket opens.
    """

    label: str
    start: int
    end: int
    is_leaf: bool
    line: int


class Tree(NamedTuple):
    """A sentence's words, traces included, and its constituents in the order in which they open."""

    words: tuple[str, ...]
    constituents: tuple[Constituent, ...]


def decode(word: str) -> str:
    """Undoes the escapes of a word: `-LRB-` to `-RCB-` in either case, and backslashes."""
    return _BRACKETS.get(word.upper()) or re.sub(r"\\([/*])", r"\1", word)


@dataclasses.dataclass
class _Node:
    """A bracket being read; `label` and `word` are None until they are read."""

    start: int
    line: int
    label: str | None = None
    word: str | None = None
    end: int | None = None

    def finished(self):
        return Constituent(self.label, self.start, self.end, self.word is not None, self.line)


def read_trees(path: Path, one_per_line: bool = False) -> Iterator[Tree]:
    """Reads trees; with `one_per_line`, errors name the line on which a bracket is missing."""
    stack: list[_Node] = []
    nodes: list[_Node] = []
    words: list[str] = []
    has_tree = False
    for line_number, line in enumerate(read_text(path, "Penn Treebank").split("\n"), 1):
        # A no-break space is part of a word.
        for token in re.findall(r"[()]|[^()\s]+", line, re.ASCII):
            problem = _step(token, stack, nodes, words, line_number)
            if problem:
                raise ValueError(f"{path}:{line_number}: {problem}")
            if not stack:
                yield Tree(tuple(words), tuple(node.finished() for node in nodes))
                nodes, words, has_tree = [], [], True
        if stack and one_per_line:
            raise ValueError(
                f"{path}:{line_number}: {len(stack)} brackets are not closed at the end of the "
                "line, one whole tree a line is expected; is the file truncated?"
            )
    if stack:
        raise ValueError(
            f"{path}:{stack[-1].line}: the bracket that opens here is never closed; "
            "is the file truncated?"
        )
    if not has_tree:
        raise ValueError(f"{path}: no tree in the file, pass a Penn Treebank file.")


def _step(token, stack, nodes, words, line_number):
    """Reads one token; returns an error message, or None."""
    top = stack[-1] if stack else None
    if token == "(":
        if top and top.label is None:
            if len(stack) > 1:
                return "a bracket inside a tree has no label; is one of the tree before unclosed?"
            top.label = ""
        if top and top.word is not None:
            return (
                f"a bracket opens behind the word {top.word!r:.80}, give the word its own bracket."
            )
        stack.append(_Node(len(words), line_number))
        nodes.append(stack[-1])
    elif not top:
        if token == ")":
            return "a bracket is closed that was never opened, remove it."
        return f"{token!r:.80} stands outside all brackets, pass a Penn Treebank file."
    elif token == ")":
        if top.start == len(words):
            return "a bracket holds no word, remove it or give it a label and a word."
        stack.pop().end = len(words)
    elif top.label is None:
        top.label = token
    elif top.word is not None or top.start < len(words):
        return f"{token!r:.80} stands beside another word or bracket, give it its own bracket."
    else:
        top.word = token
        words.append(token)
    return None
