"""The record that every reader of a data set of questions yields."""

import collections
import dataclasses
import itertools
import os
from collections.abc import Callable, Iterable

import regex

from keras_corefmem.graphs.edges import check_edges
from keras_corefmem.text.lexicons import ABBREVIATED_TITLES
from keras_corefmem.utils.checks import check_characters

# The answer of examples without one, and of passages that do not hold it.
UNKNOWN_ANSWER = "[unknown]"
# "St." also abbreviates "Street", which may end a sentence.
_TITLE = rf"\b(?i:{'|'.join(sorted(ABBREVIATED_TITLES - {'st'}))})\."
_BETWEEN_SENTENCES = regex.compile(rf"(?<=[.?!])(?<!{_TITLE})\s+|\s*\n\s*")


@dataclasses.dataclass(frozen=True)
class Example:
    """A question about a passage.

    Args:
        sentences: the sentences of the passage up to the question, split as in the data set.
        question: the question.
        answer: the answer as in the data set; lists are joined by commas, `"apple,milk"`.
            `"[unknown]"` if it is not known.
        supporting_facts: numbers of sentences, from 1, in the data set's order.
        source: where the question was read, as `"path:line"`; ignored in comparisons.
        edges: typed edges `(source, target, type)`, `[(3, 17, "married_to")]`. Source and target
            are tokens as the reader splits them, numbered from 1 through passage and question.
        chains: coreference chain of each of these tokens, 0 = none, instead of the chains that the
            reader finds itself.
        kinds: kinds of questions that it belongs to, which are counted separately; ignored in
            comparisons.
        is_raw: whether the reader splits the passage into sentences itself, as in `model.read`;
            `sentences` are then used for display only. Ignored in comparisons.

    Raises:
        ValueError: if the passage, one of its sentences, the question or the answer is empty, not a
            string, or has half of a surrogate pair; if a supporting fact is not a sentence of the
            passage, a chain not an integer from 0, or an edge a loop.

    Example:
        >>> sentences = "Mary went to the office.", "She slept."
        >>> example = keras_corefmem.datasets.Example(sentences, "Where is Mary?", "office", (1,))
        >>> example.passage
        'Mary went to the office. She slept.'
    """

    sentences: tuple[str, ...]
    question: str
    answer: str
    supporting_facts: tuple[int, ...] = ()
    source: str = dataclasses.field(default="", compare=False)
    edges: tuple[tuple[int, int, str], ...] = dataclasses.field(default=(), kw_only=True)
    chains: tuple[int, ...] = dataclasses.field(default=(), kw_only=True)
    kinds: tuple[str, ...] = dataclasses.field(default=(), compare=False, kw_only=True)
    is_raw: bool = dataclasses.field(default=False, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        place = self._place
        object.__setattr__(self, "edges", check_edges(self.edges, place))
        for name in ("sentences", "kinds"):
            self._set_strings(name)
        self._set_integers("supporting_facts")
        self._set_chains("chains")
        if not self.sentences:
            raise ValueError(f"{place}the passage is empty, a question needs a sentence before it.")
        for number, sentence in enumerate(self.sentences, 1):
            if not sentence.strip():
                raise ValueError(f"{place}sentence {number} of the passage is empty, drop it.")
            check_characters(f"{place}sentence {number} of the passage", sentence)
        for name in ("question", "answer"):
            text = getattr(self, name)
            if not isinstance(text, str):
                raise ValueError(f"{place}the {name} must be a string, got {text!r:.80}.")
            if not text.strip():
                raise ValueError(f"{place}the {name} is empty, give it a word.")
            check_characters(f"{place}the {name}", text)
        for fact in self.supporting_facts:
            if not 1 <= fact <= len(self.sentences):
                raise ValueError(
                    f"{place}supporting fact {fact} is no sentence of the passage, "
                    f"number them 1..{len(self.sentences)}."
                )

    @classmethod
    def from_text(cls, passage: str, question: str) -> "Example":
        """Makes an example without an answer from raw text.

        Sentences end after a `.`, `?` or `!` that a space follows, unless it belongs to a title
        ("Mr."), and at the end of each line.
        """
        sentences = filter(None, _BETWEEN_SENTENCES.split(passage.strip()))
        return cls(tuple(sentences), question, UNKNOWN_ANSWER, is_raw=True)

    @property
    def _place(self):
        return f"{self.source}: " if self.source else ""

    def _set_strings(self, name):
        values = getattr(self, name)
        if isinstance(values, str):
            raise ValueError(f"{self._place}`{name}` is one string, pass a tuple of strings.")
        values = tuple(values) if isinstance(values, Iterable) else (values,)
        for value in values:
            if not isinstance(value, str):
                raise ValueError(f"{self._place}`{name}` must be strings, got {value!r:.80}.")
        object.__setattr__(self, name, values)

    def _set_integers(self, name):
        values = getattr(self, name)
        try:
            values = tuple(values)
            integers = tuple(map(int, values))
            whole = integers == values
        except (OverflowError, TypeError, ValueError):
            whole = False
        if not whole:
            raise ValueError(
                f"{self._place}`{name}` must be a tuple of integers, got {values!r:.80}."
            )
        object.__setattr__(self, name, integers)

    def _set_chains(self, name):
        self._set_integers(name)
        # Other conventions count from 0, and write -1 for none.
        if wrong := [number for number in getattr(self, name) if number < 0]:
            raise ValueError(
                f"{self._place}`{name}` number chains from 1, 0 is none; got {wrong[0]}."
            )

    def _set_candidates(self):
        self._set_strings("candidates")
        object.__setattr__(self, "candidates", tuple(dict.fromkeys(self.candidates)))

    def _check_answer(self, candidates):
        if self.answer not in (*candidates, UNKNOWN_ANSWER):
            raise ValueError(
                f"{self._place}the answer {self.answer!r:.80} is none of the {len(candidates)} "
                "candidates; leave the question out."
            )

    def check_chains(self, tokens: int) -> None:
        """Raises a ValueError if it has chains, but not one for each token."""
        if self.chains and len(self.chains) != tokens:
            raise ValueError(
                f"{self.source or 'An example'}: {len(self.chains)} chains for {tokens} "
                "tokens of passage and question, give one of each."
            )

    @property
    def is_linked(self) -> bool:
        """Whether it is annotated, or has edges or chains of its own."""
        return bool(self.edges or self.chains) or hasattr(self, "chain_ids")

    def check_unlinked(self, change: str, remedy: str = "give them to what it makes") -> None:
        """Raises a ValueError if it is linked, since a `change` would move the linked tokens."""
        if self.is_linked:
            raise ValueError(
                f"{self.source or 'An example'} is annotated or has edges or chains, whose tokens "
                f"{change} moves: leave them out, or {remedy}."
            )

    @property
    def passage(self) -> str:
        """The sentences as one string, joined by spaces."""
        return " ".join(self.sentences)

    @property
    def guesses(self) -> dict[str, str | None]:
        """The answers that baselines guess without reading, by the name of the baseline."""
        return {}

    def beginning(self, count: int, tokenizer: Callable[[str], list[str]]) -> "Example":
        """Returns the question about the first `count` sentences, with their chains and edges."""
        lengths = list(map(len, self.cut_sentences(tokenizer)))
        kept, length, sentences = sum(lengths[:count]), sum(lengths), self.sentences[:count]
        # The last sentence may be split differently if nothing follows.
        own = len(self.tokens(" ".join(sentences), tokenizer))
        links = self._links_of_beginning(kept, length, own)
        return dataclasses.replace(self, sentences=sentences, supporting_facts=(), **links)

    def _links_of_beginning(self, kept, length, own):
        """Returns edges and chains without tokens `kept` to `length`; the passage has `own` now."""

        def moved(end: int) -> int:
            return end if end <= kept else end - length + own

        edges = tuple(
            (moved(source), moved(target), edge_type)
            for source, target, edge_type in self.edges
            if not any(kept < end <= length for end in (source, target))
        )
        new = (0,) * (own - kept) if self.chains else ()
        return {"edges": edges, "chains": self.chains[:kept] + new + self.chains[length:]}

    def cut_sentences(
        self, tokenizer: Callable[[str], list[str]], cut: Callable | None = None
    ) -> list[list[str]]:
        """Splits the passage into tokens as a whole, and the tokens into its sentences.

        Some tokenizers split the end of a text differently from text that goes on; tokens for which
        this makes a difference belong to the next sentence.

        Args:
            tokenizer: the tokenizer.
            cut: `self.cut`, by default, or `self.tokens`.
        """
        cut = cut or self.cut
        whole = cut(self.passage, tokenizer)
        each = [cut(sentence, tokenizer) for sentence in self.sentences]
        if list(itertools.chain.from_iterable(each)) == whole:
            return each
        ends = [0]
        for count in range(1, len(self.sentences)):
            before = cut(" ".join(self.sentences[:count]), tokenizer)
            ends.append(max(ends[-1], len(os.path.commonprefix([before, whole]))))
        return [whole[start:end] for start, end in itertools.pairwise([*ends, len(whole)])]

    def recut(self, tokenizer: Callable[[str], list[str]]) -> "Example":
        """Returns the example in a tokenizer's tokens, if others were only chosen for it."""
        return self

    def tokens(self, text: str, tokenizer: Callable[[str], list[str]]) -> list[str]:
        """Splits one of its texts into tokens, by a tokenizer that lower-cases."""
        return self.cut(text, tokenizer)

    def cut(self, text: str, tokenizer: Callable[[str], list[str]]) -> list[str]:
        """Splits one of its texts into the tokens that are shown."""
        return tokenizer(text)


@dataclasses.dataclass(frozen=True)
class CandidateExample(Example):
    """An `Example` whose answer is one of its candidates.

    Args:
        candidates: possible answers, each a string of one or more words; duplicates are dropped.

    Raises:
        ValueError: if the answer is not a candidate.

    Example:
        >>> example = keras_corefmem.datasets.CandidateExample(
        ...     ["Mary left."], "XXXXX left.", "Mary", candidates=["Mary", "John"])
        >>> example.candidates
        ('Mary', 'John')
    """

    candidates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_candidates()
        self._check_answer(self.candidates)


def most_frequent(words: Iterable[str]) -> str | None:
    """Returns the most frequent word, in a tie the first one; `None` without words."""
    counts = collections.Counter(words)
    return max(counts, key=counts.__getitem__) if counts else None


def count_kinds(examples: Iterable[Example], wrong: Iterable[int]) -> dict[str, list[int]]:
    """Counts right answers and questions of each kind; `wrong` has indices of wrong answers."""
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    missed = set(wrong)
    for index, example in enumerate(examples):
        for kind in getattr(example, "kinds", ()):
            counts[kind][0] += index not in missed
            counts[kind][1] += 1
    return dict(counts)


def group_by_kind(examples: Iterable[Example]) -> dict[str, list[Example]]:
    """Groups examples by the first of their kinds, `""` for those without any."""
    groups: dict[str, list[Example]] = collections.defaultdict(list)
    for example in examples:
        groups[next(iter(getattr(example, "kinds", ())), "")].append(example)
    return dict(groups)


def group_by_story(examples: Iterable[Example]) -> list[list[Example]]:
    """Groups consecutive examples about the same story, each of which extends the one before.

    Args:
        examples: questions in the order in which they are asked.

    Returns:
        Non-empty lists of examples, in that order.

    Example:
        >>> stories = keras_corefmem.datasets.simulator.simulate(1, questions=12)
        >>> list(map(len, keras_corefmem.datasets.group_by_story(stories)))
        [5, 5, 2]
    """
    groups, told = [], None
    for example in examples:
        if told is not None and example.sentences[: len(told)] == told:
            groups[-1].append(example)
        else:
            groups.append([example])
        told = example.sentences
    return groups
