"""Questions about passages whose linguistic structure is known."""

import bisect
import dataclasses
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keras_corefmem.datasets.example import CandidateExample, Example, most_frequent
from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.graphs.annotators import EXACT, annotate
from keras_corefmem.graphs.recutting import Recutting
from keras_corefmem.graphs.targets import Structure
from keras_corefmem.text.tokenizers import ProseTokenizer, lower


@dataclasses.dataclass(frozen=True)
class AnnotatedExample(Example):
    """An `Example` of tokens, each with its coreference chain.

    Sentences and question are tokens joined by single spaces.

    Args:
        chain_ids: number of the chain of each token, of the passage and then of the question; 0 =
            none. Chains span both.
        candidates: possible answers, each a string of one or more tokens; empty if any word of the
            passage may be the answer. Duplicates are dropped.
        name_words: words of the passage that are names, in order, for the guesses of baselines.
        structure: `Structure` of passage and question, or of the passage alone, with the targets
            of supervised attention and the edges.
        named_entities: label of the named entity that each token is part of, `""` for none, as in
            `Annotation`; empty if no annotator recognized any.
        documents: numbers, from 1, of the sentences that begin a document or other part that is
            shuffled as a whole; empty if each sentence is a part of its own.
        annotator: name of the annotator, `""` if unknown.
        truecaser: name of the truecaser that was applied before, `""` for none.
        written: passage and question as they are written, if a reader cuts them to its own tokens;
            empty if it takes these.

    Raises:
        ValueError: if `chain_ids` or `named_entities` are not one for each token, a chain id is
            negative, `documents` are not ascending numbers of sentences that start with 1, or
            there are candidates and the answer is none of them.

    Example:
        >>> text = "Mary slept . She woke . And then"
        >>> (annotation,) = keras_corefmem.graphs.annotate([text], tokenized=True)
        >>> example = keras_corefmem.datasets.AnnotatedExample.from_annotation(
        ...     annotation, question_start=6, answer="Mary")
        >>> example.question, len(example.chain_ids)
        ('And then', 8)
    """

    chain_ids: tuple[int, ...] = ()
    candidates: tuple[str, ...] = ()
    name_words: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    structure: Structure | None = dataclasses.field(default=None, compare=False, repr=False)
    named_entities: tuple[str, ...] = dataclasses.field(
        default=(), compare=False, repr=False, kw_only=True
    )
    documents: tuple[int, ...] = dataclasses.field(default=(), compare=False, kw_only=True)
    annotator: str = dataclasses.field(default="", compare=False)
    truecaser: str = dataclasses.field(default="", compare=False)
    written: tuple[str, ...] = dataclasses.field(
        default=(), compare=False, repr=False, kw_only=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_chains("chain_ids")
        self._set_integers("documents")
        self._set_strings("named_entities")
        self._set_strings("written")
        self._set_candidates()
        count = sum(text.count(" ") + 1 for text in (*self.sentences, self.question))
        if len(self.chain_ids) != count:
            raise ValueError(
                f"{self._place}{len(self.chain_ids)} chain ids for {count} tokens between spaces "
                "of passage and question, give one of each."
            )
        if self.named_entities and len(self.named_entities) != count:
            raise ValueError(
                f"{self._place}{len(self.named_entities)} named_entities for {count} tokens of "
                "passage and question, give one label of each."
            )
        if self.documents:
            numbers = range(1, len(self.sentences) + 1)
            ascending = sorted(set(self.documents) & set(numbers))
            if list(self.documents) != ascending or ascending[0] != 1:
                raise ValueError(
                    f"{self._place}documents must be ascending numbers of sentences, the first of "
                    f"them 1, of 1..{len(numbers)}; got {self.documents!r:.80}."
                )
        if self.candidates:
            self._check_answer(self.candidates)

    @property
    def guesses(self) -> dict[str, str | None]:
        """The most frequent name of the passage, in a tie the last one, and the last name."""
        if not self.name_words:
            return {}
        frequent = most_frequent(reversed(self.name_words))
        return {"most frequent name": frequent, "last name": self.name_words[-1]}

    def tokens(self, text: str, tokenizer: Callable[[str], list[str]]) -> list[str]:
        return self.cut(lower(text), tokenizer)

    def cut(self, text: str, tokenizer: Callable[[str], list[str]]) -> list[str]:
        """Splits one of its texts at spaces, whatever the tokenizer."""
        return text.split(" ")

    def recut(self, tokenizer: Callable[[str], list[str]]) -> "AnnotatedExample":
        """Returns the example in other tokens of `written`, to which everything else moves.

        It stays as it is if it has no `written`, or if that has other letters, in any case, since
        one of the two was changed or a text spells brackets as `-LRB-`.

        Args:
            tokenizer: function that splits texts into tokens without changing their case.
        """
        count = len(self.chain_ids)
        # Readers refuse edges that leave the text.
        if not self.written or any(max(edge[:2]) > count for edge in self.edges):
            return self
        self.check_chains(count)
        texts = self.passage, self.question
        old, new = [text.split(" ") for text in texts], list(map(tokenizer, self.written))
        if old == new:
            return dataclasses.replace(self, written=())
        structure = self.structure
        governors = () if structure is None else structure.governors.tolist()
        try:
            moved = Recutting(old, new, governors)
        except ValueError:
            return self
        if not all(new):
            return self
        counts = (sentence.count(" ") + 1 for sentence in self.sentences)
        ends = itertools.pairwise(itertools.accumulate(counts, initial=0))
        firsts = [min(itertools.chain(*moved.places[a:b]), default=None) for a, b in ends]
        starts = sorted({first for first in firsts if first is not None})
        # The new number of each sentence, unless all of it is left out.
        numbers = {n: starts.index(a) + 1 for n, a in enumerate(firsts, 1) if a is not None}
        cuts = itertools.pairwise([0, *starts[1:], len(new[0])])
        documents = {1, *(numbers[n] for n in self.documents if n in numbers)}
        return dataclasses.replace(
            self,
            sentences=tuple(" ".join(new[0][a:b]) for a, b in cuts),
            question=" ".join(new[1]),
            supporting_facts=tuple(numbers[n] for n in self.supporting_facts if n in numbers),
            edges=moved.edges(self.edges),
            chains=moved.chains(self.chains),
            chain_ids=moved.chains(self.chain_ids),
            structure=None if structure is None else moved.structure(structure),
            named_entities=moved.labels(self.named_entities),
            documents=tuple(sorted(documents)) if self.documents else (),
            written=(),
        )

    def _links_of_beginning(self, kept, length, own):
        fields = {
            name: getattr(self, name)[:kept] + getattr(self, name)[length:]
            for name in ("chain_ids", "named_entities")
        }
        structure = self.structure and self.structure.without(kept, length)
        fields |= {"structure": structure, "documents": (), "written": ()}
        return {**super()._links_of_beginning(kept, length, own), **fields}

    @classmethod
    def from_annotation(
        cls,
        annotation: Annotation,
        question_start: int,
        answer: str,
        mentions: str = "heads",
        document_starts: Sequence[int] = (),
        **fields: Any,
    ) -> "AnnotatedExample":
        """Makes an example from an annotated text that ends with its question.

        Args:
            annotation: annotation of the passage and then its question.
            question_start: number of the first token of the question, from 0.
            answer: the answer.
            mentions: see `Annotation.chain_ids`.
            document_starts: number of the first token of each document, from 0; a sentence begins
                there too.
            **fields: further fields of the example: `candidates`, `edges`, `kinds`, `source`.

        Raises:
            ValueError: if passage or question is empty.
        """
        tokens = annotation.tokens
        if not 0 < question_start < len(tokens):
            raise ValueError(
                f"{fields.get('source') or 'An example'}: the question starts at token "
                f"{question_start} of {len(tokens)}; there must be tokens before it and from it."
            )
        beyond = [start for start in document_starts if not 0 <= start < question_start]
        if beyond:
            raise ValueError(
                f"{fields.get('source') or 'An example'}: a document starts at token {beyond[0]}, "
                f"which is not before the question, from token {question_start} on."
            )
        begun = {*annotation.sentences, *document_starts}
        starts = sorted(n for n in begun if n < question_start)
        ends = [*starts[1:], question_start]
        return cls(
            tuple(join_tokens(tokens[a:b]) for a, b in zip(starts, ends, strict=True)),
            join_tokens(tokens[question_start:]),
            answer,
            chain_ids=annotation.chain_ids(mentions).tolist(),
            structure=Structure.of(annotation),
            named_entities=tuple(annotation.named_entities),
            documents=tuple(starts.index(n) + 1 for n in document_starts),
            **fields,
        )

    @classmethod
    def from_record(
        cls, annotation: Annotation, fields: dict, mentions: str = "heads"
    ) -> "AnnotatedExample":
        """Makes an example from a record, see `to_text` and `corpora.read_shards`.

        Args:
            annotation: annotation of the passage and then its question.
            fields: `question_start`, the character at which the question starts, `answer` and,
                where they are known, `candidates`, `edges`, `kinds`, `source`, `annotator`,
                `truecaser` and `document_starts`, in characters too.
            mentions: see `Annotation.chain_ids`.

        Raises:
            ValueError: if a field is missing, or no token starts where the question should.
        """
        place = fields.get("source") or "A record"
        missing = [name for name in ("question_start", "answer") if name not in fields]
        if missing:
            raise ValueError(
                f"{place} has no field {missing[0]}: annotate a data set of questions, "
                "`corefmem annotate --dataset`."
            )
        if fields["question_start"] not in annotation.starts:
            raise ValueError(
                f"{place}: no token starts at character {fields['question_start']}, where the "
                "question should."
            )
        names = "candidates", "edges", "kinds", "source", "annotator", "truecaser"
        known = {name: fields[name] for name in names if name in fields}
        text, character = annotation.text, fields["question_start"]
        if text != join_tokens(annotation.tokens):
            known["written"] = text[:character], text[character:]
        start = annotation.starts.index(character)
        # A document may begin with a space.
        documents = fields.get("document_starts") or ()
        known["document_starts"] = [bisect.bisect_left(annotation.starts, n) for n in documents]
        return cls.from_annotation(annotation, start, fields["answer"], mentions, **known)


def join_tokens(tokens: Iterable[str]) -> str:
    """Joins tokens by spaces; a space in one, such as a merged entity, becomes a no-break space."""
    return " ".join(token.replace(" ", "\u00a0") for token in tokens)


def annotate_examples(
    examples: Iterable[Example],
    annotator: Any = EXACT,
    truecaser: Any = None,
    tokenizer: Callable[[str], list[str]] | None = None,
    make_example: Callable[..., AnnotatedExample] = AnnotatedExample.from_record,
) -> list[AnnotatedExample]:
    """Annotates examples, each passage and its question as one text.

    Args:
        examples: the questions. Sentences are found anew, so that supporting facts are lost.
        annotator: the annotator, see `keras_corefmem.graphs.annotate`.
        truecaser: the truecaser for texts in lower case, see there.
        tokenizer: function that splits texts into tokens without changing their case, such as the
            `cased` of the tokenizer that a reader of the annotated questions has. By default, texts
            are annotated as tokens of the Penn Treebank, and each reader cuts them to its own.
        make_example: function from an `Annotation` and a dictionary of fields to an example.

    Raises:
        ValueError: if one is no `Example`, a text is empty, an example has edges and no `tokenizer`
            says which tokens they count, or as in `annotate`.

    Example:
        >>> datasets = keras_corefmem.datasets
        >>> story = "Then Mary sat.", "Then Mary slept."
        >>> question = datasets.Example(story, "Who slept?", "Mary")
        >>> (example,) = datasets.annotate_examples(
        ...     [question], tokenizer=keras_corefmem.text.PennTokenizer())
        >>> example.chain_ids
        (0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0)
    """
    names = {"annotator": annotator, "truecaser": truecaser}
    names = {k: os.fspath(v) for k, v in names.items() if isinstance(v, str | os.PathLike)}
    cased, cut = tokenizer or ProseTokenizer().cased, []
    for example in examples:
        if not isinstance(example, Example):
            raise ValueError(f"This is no Example, convert it by as_examples: {example!r:.80}.")
        written = () if tokenizer else _written(example, cased)
        example = example.recut(cased)
        sentences = list(filter(None, map(" ".join, example.cut_sentences(cased))))
        question = " ".join(example.cut(example.question, cased))
        passage, fields = " ".join(sentences), to_text(example)[1]
        if "document_starts" in fields:
            fields["document_starts"] = _starts(sentences)
        for name, text in (("passage", passage), ("question", question)):
            if not text:
                place = f" of {example.source}" if example.source else ""
                raise ValueError(f"The {name}{place} has no tokens, give it at least one word.")
        fields |= {**names, "question_start": len(passage) + 1}
        cut.append((f"{passage} {question}", fields, written))
    texts = (text for text, *_ in cut)
    annotations = annotate(texts, annotator, tokenized=True, truecaser=truecaser)
    annotated = []
    for annotation, (_, fields, written) in zip(annotations, cut, strict=True):
        made = make_example(annotation, fields)
        annotated.append(dataclasses.replace(made, written=written) if written else made)
    return annotated


def _written(example: Example, cased: Callable[[str], list[str]]) -> tuple[str, ...]:
    """Returns passage and question as they are written, empty if they are tokens."""
    if isinstance(example, AnnotatedExample):
        return example.written
    texts = example.passage, example.question
    if example.edges and any(cased(text) != text.split() for text in texts):
        raise ValueError(
            f"{example.source or 'An example'} has edges, whose tokens depend on the tokenizer: "
            "give tokenizer=, the cased of the one that they were made with."
        )
    return texts


def to_text(example: Example) -> tuple[str, dict]:
    """Returns passage and question as one text to annotate, and the fields for `from_record`."""
    fields: dict[str, Any] = {"question_start": len(example.passage) + 1, "answer": example.answer}
    fields |= {"source": example.source} if example.source else {}
    for name in ("candidates", "kinds", "edges"):
        values = getattr(example, name, ())
        fields |= {name: list(values)} if values else {}
    # In WikiHop, sentences are documents, which an annotator would split into sentences.
    if isinstance(example, CandidateExample):
        fields["document_starts"] = _starts(example.sentences)
    return f"{example.passage} {example.question}", fields


def _starts(texts: Sequence[str]) -> list[int]:
    """Returns the character at which each text starts once they are joined by spaces."""
    return list(itertools.accumulate((len(text) + 1 for text in texts[:-1]), initial=0))
