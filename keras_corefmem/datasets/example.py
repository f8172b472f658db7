"""The record that every reader of a data set yields."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Example:
    """One question about a passage.

    Args:
        sentences: Tuple of strings, the sentences of the passage up to the question.
        question: String.
        answer: String, as the data set writes it; lists are joined by commas (`"apple,milk"`).
        supporting_facts: Tuple of 1-based numbers into `sentences`, in the data set's order.
        source: Where the question was read, as `"path:line"`; does not enter comparisons.

    Raises:
        ValueError: If the passage, one of its sentences, the question or the answer is empty, or
            if a supporting fact is no sentence of the passage.
    """

    sentences: tuple[str, ...]
    question: str
    answer: str
    supporting_facts: tuple[int, ...] = ()
    source: str = dataclasses.field(default="", compare=False)

    def __post_init__(self):
        place = self._place
        if isinstance(self.sentences, str):
            raise ValueError(f"{place}`sentences` is one string, pass a tuple of sentences.")
        object.__setattr__(self, "sentences", tuple(self.sentences))
        object.__setattr__(self, "supporting_facts", tuple(self.supporting_facts))
        if not self.sentences:
            raise ValueError(f"{place}the passage is empty, a question needs a sentence before it.")
        for number, sentence in enumerate(self.sentences, 1):
            if not sentence.strip():
                raise ValueError(f"{place}sentence {number} of the passage is empty, drop it.")
        for name in ("question", "answer"):
            if not getattr(self, name).strip():
                raise ValueError(f"{place}the {name} is empty, give it a word.")
        for fact in self.supporting_facts:
            if not 1 <= fact <= len(self.sentences):
                raise ValueError(
                    f"{place}supporting fact {fact} is no sentence of the passage, "
                    f"number them 1..{len(self.sentences)}."
                )

    @property
    def _place(self):
        return f"{self.source}: " if self.source else ""

    def _check_answer(self):
        """Refuses an answer that is none of the candidates, where a subclass has some."""
        if self.answer not in self.candidates:
            raise ValueError(
                f"{self._place}the answer {self.answer!r} is none of the "
                f"{len(self.candidates)} candidates; leave the question out."
            )

    @property
    def passage(self):
        """The sentences as one string, joined by spaces."""
        return " ".join(self.sentences)


@dataclasses.dataclass(frozen=True)
class CandidateExample(Example):
    """An `Example` whose answer is one of its candidates.

    Args:
        candidates: Tuple of c strings, which may have several words.

    Raises:
        ValueError: If the answer is no candidate.
    """

    candidates: tuple[str, ...] = ()

    def __post_init__(self):
        super().__post_init__()
        if isinstance(self.candidates, str):
            raise ValueError(f"{self._place}`candidates` is one string, pass a tuple of strings.")
        object.__setattr__(self, "candidates", tuple(self.candidates))
        self._check_answer()


def group_by_story(examples):
    """Groups examples into stories.

    Consecutive examples whose sentences extend the previous ones ask about the same story.

    Args:
        examples: Iterable of `Example`.

    Returns:
        List of non-empty lists of `Example`, in the given order.
    """
    groups, told = [], None
    for example in examples:
        if told is not None and example.sentences[: len(told)] == told:
            groups[-1].append(example)
        else:
            groups.append([example])
        told = example.sentences
    return groups
