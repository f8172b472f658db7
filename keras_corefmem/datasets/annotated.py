"""Questions about passages whose linguistic structure is known."""

import dataclasses

from keras_corefmem.datasets.example import Example


@dataclasses.dataclass(frozen=True)
class AnnotatedExample(Example):
    """An `Example` of tokens, each with its coreference chain.

    Sentences and question are tokens joined by single spaces.

    Args:
        entities: number of the chain of each token, the passage's T and then the question's Q; 0 =
            none. Chains run across both.
        candidates: what may be the answer, each a string of one or more tokens; empty where any
            word of the passage may be.

    Raises:
        ValueError: if `entities` are not one for each token, or there are candidates and the answer
            is none of them.
    """

    entities: tuple[int, ...] = ()
    candidates: tuple[str, ...] = ()

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "entities", tuple(map(int, self.entities)))
        object.__setattr__(self, "candidates", tuple(self.candidates))
        count = sum(text.count(" ") + 1 for text in (*self.sentences, self.question))
        if len(self.entities) != count:
            raise ValueError(
                f"{self._place}{len(self.entities)} entities for {count} tokens of passage and "
                "question, give one of each."
            )
        if self.candidates and self.answer not in self.candidates:
            raise ValueError(
                f"{self._place}the answer {self.answer!r} is none of the {len(self.candidates)} "
                "candidates; leave the question out."
            )

    @classmethod
    def from_annotation(cls, annotation, question_start, answer, mentions="heads", **fields):
        """The question at the end of an annotated text.

        Args:
            annotation: an `Annotation` of the passage and then its question.
            question_start: number of the first token of the question, from 0.
            answer: string.
            mentions: see `Annotation.entities`.
            **fields: further fields of the example: `candidates`, `source`.

        Raises:
            ValueError: if passage or question is empty.
        """
        tokens = annotation.tokens
        if not 0 < question_start < len(tokens):
            raise ValueError(
                f"{fields.get('source') or 'An example'}: the question starts at token "
                f"{question_start} of {len(tokens)}; there must be tokens before it and from it."
            )
        starts = [n for n in annotation.sentences if n < question_start]
        ends = [*starts[1:], question_start]
        sentences = [" ".join(tokens[a:b]) for a, b in zip(starts, ends, strict=True)]
        return cls(
            sentences,
            " ".join(tokens[question_start:]),
            answer,
            entities=annotation.entities(mentions).tolist(),
            **fields,
        )
