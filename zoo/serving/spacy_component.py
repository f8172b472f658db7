"""The spaCy component `corefmem_reader`: answers to questions about Docs."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch, raise_error

from keras_corefmem.datasets import CandidateExample, Example, as_examples
from keras_corefmem.datasets.example import UNKNOWN_ANSWER
from keras_corefmem.graphs.formats.spacy_docs import chains_of
from keras_corefmem.text.tokenizers import has_letters
from keras_corefmem.utils.checks import check_sizes
from zoo.reading.answers import preprocessor_of, read, read_examples
from zoo.reading.readings import Reading

# Keys of the question, and of what belongs to it, in `user_data` or in the context of a text.
QUESTION = "question"
FIELDS = "candidates", "edges"

for name in (QUESTION, "answer", "answers"):
    if not Doc.has_extension(name):
        Doc.set_extension(name, default=None)


def _note_fork() -> None:
    context = getattr(sys.modules.get("tensorflow.python.eager.context"), "_context", None)
    DocReader.forked_from_tensorflow = getattr(context, "_initialized", False)


# Windows does not fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


class DocReader:
    """A spaCy component that answers a question about each Doc.

    The question is `doc._.question`, else `doc.user_data["question"]`, else that of the context
    of a text, as in `nlp.pipe([(text, {"question": …})], as_tuples=True)`. A Doc without a
    question is not changed, nor is one whose text or question has no words. `doc._.answer` is the
    best answer, `doc._.answers` a list of the best ones with their probabilities,
    `[["kitchen", 0.9], …]`, best first.

    A reader of annotated text uses the coreference chains found by an earlier component, such as
    `corefmem_resolver`, even if it found none. If no component has resolved the Doc, the reader
    only links repeated words. It cuts the text to its own tokens, to which chains move.

    Beside the question, `doc.user_data` or the context may hold `candidates`, the possible answers
    for a reader of local answers, and `edges` between tokens of the Doc and the question, see
    `keras_corefmem.datasets.as_examples`.

    Docs that cannot be read are passed to the function set by `nlp.set_error_handler`, and the
    others of their batch are answered; without such a function, the error is raised.

    The model is loaded on first use, once in each process. If TensorFlow was in use before
    `nlp.pipe(n_process=…)`, `multiprocessing` must start processes by `"spawn"`. `nlp.to_disk`
    writes the model into the folder of the pipeline, which then needs nothing else.

    Args:
        model: name of a preset, a folder of one, `"hf://user/name"`, or the path of a `.keras`
            file.
        top: number of answers.
        name: name of the component in its pipeline, for error handlers.
    """

    # Whether this process was forked from one in which TensorFlow was already initialized.
    forked_from_tensorflow = False

    def __init__(self, model: str, top: int = 5, name: str = "corefmem_reader") -> None:
        check_sizes(top=top)
        self.handle, self.top, self.name = model, top, name
        self._error_handler: Callable = raise_error
        self._model: Any = None
        self._process = 0

    @property
    def reader(self) -> Any:
        """The model, loaded on first use; spaCy inspects other attribute names."""
        import keras

        # TensorFlow would wait for threads that a fork does not copy.
        if self.forked_from_tensorflow and keras.backend.backend() == "tensorflow":
            raise ValueError(
                "TensorFlow was in use before n_process split the work, and would wait forever: "
                'call multiprocessing.set_start_method("spawn") before, or leave n_process out.'
            )
        if self._model is not None and self._process != os.getpid():
            raise ValueError(
                "corefmem_reader has answered questions before n_process split the work: load the "
                'pipeline anew, or call multiprocessing.set_start_method("spawn") before.'
            )
        if self._model is None:
            self._model, self._process = self._load(), os.getpid()
        return self._model

    def _load(self) -> Any:
        from zoo.architectures.loading import open_model

        model = open_model(self.handle)
        strings = preprocessor_of(model).strings
        if QUESTION not in strings:
            raise ValueError(
                f"{self.handle} reads a {' and a '.join(strings)}, but corefmem_reader needs a "
                "model that answers a question about a passage."
            )
        return model

    def ask(self, doc: Doc, question: str) -> Reading:
        """Answers a question about a Doc without changing the Doc."""
        (reading,) = self._read([(doc, question)])
        return reading

    def __call__(self, doc: Doc) -> Doc:
        (doc,) = self.pipe([doc])
        return doc

    def pipe(self, docs: Iterable[Doc], batch_size: int = 32) -> Iterator[Doc]:
        """Answers the questions of Docs in batches."""
        for batch in minibatch(docs, batch_size):
            yield from self._answered(batch)

    def set_error_handler(self, error_handler: Callable) -> None:
        """Sets the function for Docs that cannot be read, see `nlp.set_error_handler`."""
        self._error_handler = error_handler

    def get_error_handler(self) -> Callable:
        """Returns the function for Docs that cannot be read, which raises by default."""
        return self._error_handler

    def _answered(self, docs: Sequence[Doc]) -> list[Doc]:
        """Answers the questions of Docs, and returns those that could be read."""
        try:
            self._answer([doc for doc in docs if self._has_words(doc)])
            return list(docs)
        except Exception as error:
            if len(docs) == 1:
                self._error_handler(self.name, self, list(docs), error)
                return []
        return [answered for doc in docs for answered in self._answered([doc])]

    def _has_words(self, doc: Doc) -> bool:
        """Returns whether a Doc has a question, and both have words."""
        question = question_of(doc)
        if not question or not isinstance(question, str):
            return bool(question)
        # A text with a letter has a word, so only the few texts without letters are tokenized.
        wordless = [text for text in (doc.text, question) if not has_letters(text)]
        preprocessor = preprocessor_of(self.reader)
        if preprocessor.local and doc.text in wordless:
            return False
        return all(text.strip() and preprocessor.tokenizer(text) for text in wordless)

    def _answer(self, docs: Sequence[Doc]) -> None:
        pairs = [(doc, question_of(doc) or "") for doc in docs]
        for (doc, _), reading in zip(pairs, self._read(pairs), strict=True):
            doc._.answer = reading.answer
            best = zip(reading.answers, reading.probabilities, strict=True)
            doc._.answers = list(map(list, best))

    def _read(self, pairs: Sequence[tuple[Doc, str]]) -> list[Reading]:
        """Reads pairs of a Doc and its question, and returns the answers in the same order."""
        examples: dict[int, Example] = {}
        texts: dict[int, tuple[str, str]] = {}
        for n, (doc, question) in enumerate(pairs):
            # A Doc may have more to read than a text and a question.
            if self._has_chains(doc) or _fields_of(doc):
                examples[n] = self._example(doc, question)
            else:
                texts[n] = doc.text, question
        columns = ([row[column] for row in texts.values()] for column in (0, 1))
        given = read_examples(self.reader, list(examples.values()), self.top)
        given += read(self.reader, *columns, top=self.top)
        readings = dict(zip((*examples, *texts), given, strict=True))
        return [readings[n] for n in range(len(pairs))]

    def _example(self, doc: Doc, question: str) -> Example:
        """Makes an example of a Doc that has chains, candidates or edges."""
        fields = {**_fields_of(doc), "question": question}
        (example,) = as_examples([(doc, fields)], answers=False)
        if self._has_chains(doc):
            return example
        # The reader links words itself.
        known: dict[str, Any] = {"is_raw": True, "edges": ()}
        if example.edges:
            cut = example.recut(preprocessor_of(self.reader).tokenizer.cased)
            if cut.written:
                raise ValueError(
                    f"The edges of a Doc do not fit the tokens of the reader: {doc.text!r:.80}. "
                    "Resolve its coreference, or leave them out."
                )
            known["edges"] = cut.edges
        texts = (doc.text,), question, UNKNOWN_ANSWER
        if example.candidates:
            return CandidateExample(*texts, candidates=example.candidates, **known)
        return Example(*texts, **known)

    def _has_chains(self, doc: Doc) -> bool:
        """Returns whether a Doc has chains and the model reads them."""
        return preprocessor_of(self.reader).local and chains_of(doc) is not None

    def to_disk(self, path: str | os.PathLike, **_: Any) -> None:
        """Writes the model as a preset."""
        self.reader.save_to_preset(path)

    def from_disk(self, path: str | os.PathLike, **_: Any) -> "DocReader":
        """Sets the model to the one that `to_disk` wrote, which is loaded on first use."""
        self.handle = os.fspath(path)
        self._model = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Each process loads its own model.
        return vars(self) | {"_model": None}


def question_of(doc: Doc) -> str | None:
    """Returns the question about a Doc, or `None`."""
    return doc._.question or doc.user_data.get(QUESTION) or _context_of(doc).get(QUESTION)


def _fields_of(doc: Doc) -> dict[str, Any]:
    """Returns the candidates and edges of a Doc, where there are some."""
    context = _context_of(doc)
    values = {name: doc.user_data.get(name, context.get(name)) for name in FIELDS}
    return {name: value for name, value in values.items() if value is not None}


def _context_of(doc: Doc) -> Mapping[str, Any]:
    return doc._context if isinstance(doc._context, Mapping) else {}


@Language.factory(
    "corefmem_reader",
    default_config={"top": 5},
    assigns=["doc._.answer", "doc._.answers"],
)
def make_reader(nlp: Language, name: str, model: str, top: int) -> DocReader:
    """Makes the component `corefmem_reader`, see `DocReader`."""
    return DocReader(model, top, name)
