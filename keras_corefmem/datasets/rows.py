"""Conversion of rows of tables to examples, by the names of their columns."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keras_corefmem.datasets.annotated import AnnotatedExample, join_tokens
from keras_corefmem.datasets.example import UNKNOWN_ANSWER, CandidateExample, Example
from keras_corefmem.datasets.passages import cnn, lambada
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.datasets.stories import babi_format
from keras_corefmem.graphs import Annotation, Structure, from_doc
from keras_corefmem.text.lexicons import PRONOUNS
from keras_corefmem.text.tokenizers import PennTokenizer, lower

# The names of columns here, and what public data sets call them.
COLUMNS = {
    "passage": ("context", "document", "article", "story"),
    "sentences": ("supports",),
    "question": ("query",),
    "answer": ("answers", "label"),
    "candidates": ("options", "choices"),
    "supporting_facts": (),
    "chain_ids": (),
    "edges": (),
    "text": (),
    "question_start": (),
    "sentence": (),
    "words": ("tokens",),
    "tags": ("upos", "xpos", "pos_tags"),
    "source": (),
}

_penn = PennTokenizer()


def is_doc(value: Any) -> bool:
    """Returns whether a value is a spaCy Doc, without importing spaCy."""
    return hasattr(value, "user_data") and hasattr(value, "spans")


def read_row(row: Mapping[str, Any], place: str, answers: bool = True) -> list[Any]:
    """Makes the examples of a row: several if it is a whole story of bAbI, else one."""
    fields = {}
    for name, others in COLUMNS.items():
        for column in (name, *others):
            if column in row and _is_there(row[column]):
                fields[name] = row[column]
                break
    return _Row(fields, place, answers, list(row)).examples()


def _is_there(value):
    # pandas writes NaN for missing values.
    return value is not None and not (isinstance(value, float) and value != value)


class _Row:
    def __init__(self, fields: dict, place: str, answers: bool, columns: list) -> None:
        self.fields, self.answers, self.columns = fields, answers, columns
        self.place = place
        self.source = str(fields.get("source", place))

    def examples(self):
        fields = self.fields
        story = fields.get("passage")
        if isinstance(story, Mapping) or _are(Mapping, story):
            return _story(story, self.source)
        if "words" in fields or "sentence" in fields:
            return [self.sentence()]
        if "text" in fields and not fields.keys() & {"question", "question_start", "passage"}:
            # A text whose label is missing is no question.
            if not self.answers or {"answer", *COLUMNS["answer"]}.intersection(self.columns):
                return [self.sentence()]
            return [self.lambada()]
        return [self.question()]

    def sentence(self):
        words = self.fields.get("words")
        if words is None:
            words = _penn(self.text("sentence" if "sentence" in self.fields else "text"))
        elif not _are(str, words):
            raise self.error(f"words must be a list of words, got {words!r:.80}")
        answer = self.fields.get("tags")
        if answer is None:
            answer = self.answer()
        elif not _are(str, answer):
            raise self.error(f"tags must be a list of strings, got {answer!r:.80}")
        return Sentence(
            tuple(words),
            answer if isinstance(answer, str) else tuple(answer),
            source=self.source,
        )

    def lambada(self):
        example = lambada.read_passage(self.text("text"), self.source)
        if example is None:
            raise self.error("the text has no sentence before the last one, leave it out")
        return example

    def question(self):
        fields, doc = self.fields, self.fields.get("passage", self.fields.get("text"))
        if is_doc(doc):
            return self.of_doc(doc)
        if "question_start" in fields:
            text, start = self.text("text"), self.start()
            passage, question = text[:start], text[start:]
        else:
            question = self.text("question")
            passage = fields.get("sentences", fields.get("passage"))
        whole = isinstance(passage, str)
        if whole:
            passage = re.split(r"(?<=[.?!])\s+", passage.strip())
        elif passage is None:
            raise self.missing("passage")
        elif not _are(str, passage):
            raise self.error(
                f"passage must be a string or a list of sentences, got {passage!r:.80}"
            )
        numbers = [n for n, sentence in enumerate(passage, 1) if sentence.strip()]
        known = {"source": self.source, "supporting_facts": self.facts(numbers, len(passage))}
        passage = [passage[n - 1].strip() for n in numbers]
        known |= {"edges": self.edges()}
        answer, candidates = self.answer(), self.candidates()
        if cnn.PLACEHOLDER in question:
            example = cnn.make_example(" ".join(passage), question, answer, (), self.source)
            known |= {} if whole else {"sentences": passage}
            return self.cloze(example, candidates, known)
        if "chain_ids" in fields:
            known |= {"chain_ids": self.chain_ids(), "candidates": candidates}
            return AnnotatedExample(passage, question, answer, **known)
        if candidates:
            return CandidateExample(passage, question, answer, **known, candidates=candidates)
        return Example(passage, question, answer, **known)

    def cloze(self, example, candidates, known):
        entities = cnn.find_markers(f"{example.passage} {example.question}")
        for candidate in candidates:
            if candidate not in entities:
                raise self.error(
                    f"candidate {candidate!r:.80} is no entity of passage or question, leave it out"
                )
        known |= {"candidates": candidates or example.candidates, "chains": self.chain_ids()}
        return cnn.relabel(dataclasses.replace(example, **known))

    def of_doc(self, doc):
        """Reads a Doc; its clusters become chains, to which the question's words belong too."""
        annotation = self.annotation(doc)
        known = {"source": self.source, "candidates": self.candidates(), "edges": self.edges()}
        if "question_start" in self.fields:
            start = self.start()
            record = {**known, "question_start": start, "answer": self.answer()}
            example = AnnotatedExample.from_record(annotation, record)
            return dataclasses.replace(example, written=(doc.text[:start], doc.text[start:]))
        question = self.fields.get("question")
        text = question.text if is_doc(question) else self.text("question")
        query = self.annotation(question, "question") if is_doc(question) else _penn(text)
        known |= {"supporting_facts": self.facts(), "written": (doc.text, text)}
        return _ask(annotation, query, self.answer(), **known)

    def annotation(self, doc, name="passage"):
        if not doc.text.strip():
            raise self.error(f"the {name} is empty, give it a word or leave it out")
        return from_doc(doc)

    def start(self):
        value = self.fields["question_start"]
        # Data frames hold integers as floats if some values are missing.
        if not isinstance(value, int | float) or value % 1 or not 0 <= value < float("inf"):
            raise self.error(f"question_start must be the number of a character, got {value!r:.80}")
        return int(value)

    def text(self, name):
        value = self.fields.get(name)
        if value is None:
            raise self.missing(name)
        if not isinstance(value, str):
            raise self.error(f"{name} must be a string, got {value!r:.80}")
        return value

    def answer(self):
        value = self.fields.get("answer")
        # SQuAD's answers are alternatives.
        if isinstance(value, Mapping):
            value = value.get("text", ())
            several = isinstance(value, Iterable) and not isinstance(value, str)
            value = next(iter(value), None) if several else value or None
        # Tables of text have empty strings for missing values.
        if not self.answers and (value is None or isinstance(value, str) and not value.strip()):
            return UNKNOWN_ANSWER
        if value is None:
            raise self.missing("answer")
        if _are(str, value):
            if len(set(value)) == 1:
                return value[0]
            raise self.error(
                f"answer has several strings, {value!r:.80}: join the words of one answer by "
                f"commas, {','.join(value)[:40]!r}, or give one of several right answers; call a "
                "list of tags tags"
            )
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
        raise self.error(f"answer must be a string, got {value!r:.80}")

    def candidates(self):
        value = self.fields.get("candidates", ())
        known = isinstance(value, Iterable) and not isinstance(value, str)
        if known and all(isinstance(each, str) for each in value):
            return tuple(dict.fromkeys(value))
        raise self.error(f"candidates must be a list of strings, got {value!r:.80}")

    def facts(self, kept=(), count=0):
        """Returns the supporting facts as numbers among the `kept` ones of `count` sentences."""
        facts = self.numbers("supporting_facts", "sentences, from 1")
        new = {number: n for n, number in enumerate(kept, 1)}
        if empty := [fact for fact in facts if fact not in new and 0 < fact <= count]:
            raise self.error(f"supporting fact {empty[0]} is an empty sentence, leave it out")
        return tuple(new.get(fact, fact) for fact in facts)

    def chain_ids(self):
        return self.numbers("chain_ids", "chains, one for each token")

    def edges(self):
        edges = self.fields.get("edges", ())
        if not _are(Mapping, edges):
            return edges
        return [tuple(map(edge.get, ("source", "target", "type"))) for edge in edges]

    def numbers(self, name, what):
        value = self.fields.get(name, ())
        try:
            # A string would be read digit by digit.
            return tuple(map(int, None if isinstance(value, str) else value))
        except (TypeError, ValueError):
            raise self.error(f"{name} must be numbers of {what}, got {value!r:.80}") from None

    def missing(self, name):
        if column := next((n for n in (name, *COLUMNS[name]) if n in self.columns), None):
            return self.error(f"{column} has no value, give one or leave the row out")
        return self.error(
            f"no {name} among {', '.join(map(str, self.columns)) or 'no columns':.300}; name your "
            f"column {name!r}, or give columns={{'…': {name!r}}}"
        )

    def error(self, message):
        return ValueError(f"{self.place}: {message}.")


def _ask(
    passage: Annotation, question: Annotation | Sequence[str], answer: str, **known: Any
) -> AnnotatedExample:
    """Makes an example of a passage, to whose chains the same words of a question belong too.

    Args:
        passage: the annotated passage.
        question: its tokens; or its annotation, whose chains stay apart.
        answer: the answer.
        **known: further fields of the example.
    """
    tokens, chains = passage.tokens, passage.chain_ids().tolist()
    structure, labels = Structure.of(passage), passage.named_entities
    if isinstance(question, Annotation):
        structure = structure.followed_by(Structure.of(question), len(tokens))
        words, ids = question.tokens, question.chain_ids()
        more = (ids + (ids > 0) * max(chains)).tolist()
        named = question.named_entities or [""] * len(words)
    else:
        words = question
        pairs = zip(map(lower, tokens), chains, strict=True)
        names = {word: chain for word, chain in pairs if chain and word not in PRONOUNS}
        more = [names.get(lower(word), 0) for word in words]
        kinds = dict(zip(map(lower, tokens), labels, strict=False))
        named = [kinds.get(lower(word), "") for word in words]
    ends = zip(passage.sentences, (*passage.sentences[1:], len(tokens)), strict=True)
    sentences = tuple(join_tokens(tokens[start:end]) for start, end in ends)
    known |= {"structure": structure, "named_entities": (*labels, *named) if labels else ()}
    known |= {"chain_ids": (*chains, *more)}
    return AnnotatedExample(sentences, join_tokens(words), answer, **known)


def _are(kind, values):
    """Returns whether a value is a non-empty sequence of values of a kind."""
    sequence = isinstance(values, Sequence) and not isinstance(values, str) and len(values) > 0
    return sequence and all(isinstance(value, kind) for value in values)


def _story(story, source):
    """Reads a row of the Hub's babi_qa, whose lines have `id`, `type`, `text` and so on."""
    names = ("id", "type", "text", "supporting_ids", "answer")
    is_whole, lines = isinstance(story, Mapping), []
    try:
        columns = [story[name] if is_whole else [line[name] for line in story] for name in names]
        for number, kind, text, facts, answer in zip(*columns, strict=True):
            asked = [str(answer), " ".join(map(str, facts))] if kind in (1, "question") else []
            # Joining raises a TypeError for a text that is not a string.
            lines.append(f"{number} " + "\t".join([text, *asked]))
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{source}: a story has {', '.join(names)} of each line.") from None
    return babi_format.read_lines(lines, source)
