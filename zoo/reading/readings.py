"""Records of a model's answers and tags for raw text."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Reading:
    """Answers of a reader to one question, or labels of one sentence.

    Args:
        answer: the best answer.
        probability: its probability.
        answers: tuple of the best answers, best first.
        probabilities: tuple of their probabilities.
        unknown_words: tuple of the words of the text that the model does not know.

    Example:
        >>> zoo.Reading("kitchen", 0.9, ("kitchen", "garden"), (0.9, 0.1), ()).answer
        'kitchen'
    """

    answer: str
    probability: float
    answers: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Tagging:
    """Tags of the words of one sentence.

    Args:
        words: tuple of the words into which the tokenizer splits it.
        tags: tuple of the best tag of each word.
        probabilities: tuple of their probabilities.
        unknown_words: tuple of the words that the tagger does not know.

    Example:
        >>> zoo.Tagging(("Mary", "left"), ("NNP", "VBD"), (0.9, 0.8), ("Mary",)).tags
        ('NNP', 'VBD')
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: tuple[str, ...]
