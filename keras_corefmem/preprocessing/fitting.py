"""Functions that learn a preprocessor with its answer head, or restore one."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import keras

from keras_corefmem.datasets.example import Example, group_by_kind
from keras_corefmem.graphs import (
    entity_types,
    get_lemmatizer,
    learn_word_forms,
    tagged_entity_words,
)
from keras_corefmem.graphs.edge_types import base_type
from keras_corefmem.graphs.entity_words import ENTITY_TYPES
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.preprocessing.encoding.answers import NO_ANSWER
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.preprocessing.reader_preprocessor import ReaderPreprocessor
from keras_corefmem.preprocessing.sentence_preprocessor import SentencePreprocessor
from keras_corefmem.preprocessing.story_preprocessor import StoryPreprocessor
from keras_corefmem.preprocessing.training_examples import learn_entity_words_by_kind, recut
from keras_corefmem.preprocessing.window_preprocessor import WindowPreprocessor
from keras_corefmem.text import get_tokenizer
from keras_corefmem.utils.files import naming_damage

# In version 0.1 a configuration named no class, only the arguments of the constructor; each of
# these arguments belongs to one class alone.
LEGACY: dict[str, type[Preprocessor]] = {
    "num_candidates": CandidatePreprocessor,
    "half_width": WindowPreprocessor,
    "sentence_length": StoryPreprocessor,
    "tags": SentencePreprocessor,
    "pointers": ReaderPreprocessor,
}

REMEDY = "give what keras.saving.serialize_keras_object returned."
# Up to this share of answers that are not in their passages, a warning recommends a pointer.
FEW = 0.25
HEADS = ("pointer_sum", "span_sum", "classification", "pointer_or_class")


def fit_preprocessor(
    examples: Sequence[Example],
    head: str = "auto",
    language: str | None = "en",
    lemmatizer: Any = None,
    tokenizer: str = "words",
    tagger: Callable[[str], Any] | None = None,
    **kwargs: Any,
) -> tuple[ReaderPreprocessor, str]:
    """Learns the preprocessing from training examples and chooses the answer head.

    Args:
        examples: training examples.
        head: `"pointer_sum"`, `"classification"`, `"pointer_or_class"` or `"auto"`. The latter
            chooses `"pointer_sum"` if every answer is a word of its passage, `"pointer_or_class"`
            if only answers `"unknown"` are not, and otherwise `"classification"`.
        language: code of the language whose lemmas are used if some answers are not words of their
            passages (for `"pointer_or_class"`, if lemmas find more of them). If lemmas do not
            suffice, word forms are learned, see `keras_corefmem.graphs.learn_word_forms`.
        lemmatizer: lemmatizer to use in any case: a spaCy pipeline, a function from a word to its
            lemma, or the code of a language.
        tokenizer: name of the tokenizer.
        tagger: function from a text to `(word, tag)` pairs, from which entity words are taken.
        **kwargs: further arguments of `ReaderPreprocessor.fit`. By default, `entity_words` are
            learned, and sorted into persons, places and things if `edge_types` names these.

    Returns:
        The `ReaderPreprocessor` and the name of the head.

    Raises:
        ValueError: if there is no such head, or a pointer-sum cannot point at an answer.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> keras_corefmem.preprocessing.fit_preprocessor(examples)[1]
        'pointer_sum'
    """
    if head == "span_sum":
        raise ValueError("A span_sum needs the candidates of annotated examples.")
    if head not in ("auto", *HEADS):
        raise ValueError(f"answer_head must be one of {', '.join(HEADS)}; got {head!r}.")
    tokenize = get_tokenizer(tokenizer)
    examples = recut(examples, tokenize)
    fit = _fitter(examples, tagger, tokenizer=tokenizer, **kwargs)
    fitted = fit(lemmatizer)
    if head == "classification":
        return fitted, head
    missing = _unmentioned(fitted, examples)
    if missing and lemmatizer is None:
        linked = _linked(fit, examples, language, tokenize)
        partly = head == "pointer_or_class"
        fitted, missing = _best_linked(fitted, missing, linked, examples, partly)
    return fitted, _choose_head(head, missing, examples)


def _fitter(
    examples: Sequence[Example],
    tagger: Callable[[str], Any] | None,
    entity_words: Any = None,
    **kwargs: Any,
) -> Callable[..., ReaderPreprocessor]:
    """Returns a function from a lemmatizer, and further entity words, to a preprocessor."""
    tokenize = get_tokenizer(kwargs["tokenizer"])
    words: frozenset[str] = frozenset()
    if entity_words is None and tagger:
        words = tagged_entity_words(examples, tagger, tokenize)
    elif entity_words is None:
        words = learn_entity_words_by_kind(examples, tokenize)
    typed = set(ENTITY_TYPES).intersection(map(base_type, kwargs.get("edge_types", ())))

    def fit(lemmatizer: Any, forms: Iterable[str] = ()) -> ReaderPreprocessor:
        entities = words.union(forms)
        learned = entity_types(examples, entities, tokenize) if typed else entities
        options = {**kwargs, "entity_words": learned if entity_words is None else entity_words}
        return ReaderPreprocessor.fit(examples, lemmatizer=get_lemmatizer(lemmatizer), **options)

    return fit


def _linked(
    fit: Callable[..., ReaderPreprocessor],
    examples: Sequence[Example],
    language: str | None,
    tokenize: Callable[[str], list[str]],
) -> Iterator[ReaderPreprocessor]:
    """Yields preprocessors that link words by lemma, then by learned forms."""
    if language:
        yield fit(language)
    if forms := learn_word_forms(examples, tokenize):
        yield fit(lambda word: forms.get(word, word), forms)


def _best_linked(
    fitted: ReaderPreprocessor,
    missing: list[Example],
    linked: Iterable[ReaderPreprocessor],
    examples: Sequence[Example],
    partly: bool,
) -> tuple[ReaderPreprocessor, list[Example]]:
    """Returns the first preprocessor that finds all answers or, if `partly`, more of them.

    With it come the examples whose answers are still missing.
    """
    for each in linked:
        left = _unmentioned(each, examples)
        if not left or partly and len(left) < len(missing):
            fitted, missing = each, left
        if not missing:
            break
    return fitted, missing


def _choose_head(head: str, missing: Sequence[Example], examples: Sequence[Example]) -> str:
    """Chooses the answer head by the examples whose answers are not in their passages."""
    if head == "pointer_or_class":
        return head
    if not missing:
        return "pointer_sum"
    if head == "auto" and all(example.answer == NO_ANSWER for example in missing):
        return "pointer_or_class"
    first = missing[0]
    if head == "pointer_sum":
        raise ValueError(
            f"{first.source or 'A training example'}: the answer {first.answer!r} is no word "
            "of the passage, so that no pointer-sum can find it; leave the example out, or take "
            'answer_head="classification".'
        )
    # Among several kinds of questions, some may well have answers that are not in the passage.
    if len(missing) <= FEW * len(examples) and len(group_by_kind(examples)) == 1:
        warnings.warn(
            f"{len(missing)} of {len(examples)} training answers are no words of their passages, "
            f"such as {first.answer!r:.80}: answers are classes, and none is pointed at. Give "
            'answer_head="pointer_or_class", or "classification" if that is meant.',
            stacklevel=4,
        )
    return "classification"


def _unmentioned(preprocessor: ReaderPreprocessor, examples: Sequence[Example]) -> list[Example]:
    """Returns the examples whose answer is not a word of their passage."""
    pairs = zip(examples, preprocessor.encode_all(examples), strict=True)
    pointers = preprocessor.pointers
    return [e for e, row in pairs if row.answer not in pointers[row.passage]]


def get(preprocessor: Preprocessor | dict[str, Any] | None) -> Preprocessor | None:
    """Returns a preprocessor from an instance or a configuration.

    Args:
        preprocessor: a `Preprocessor`, one that Keras serialized, its `get_config()`, or `None`.

    Raises:
        ValueError: if it is none of these.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> first = keras_corefmem.preprocessing.StoryPreprocessor.fit(examples)
        >>> second = keras_corefmem.preprocessing.get(first.get_config())
        >>> type(second).__name__, second.answers == first.answers
        ('StoryPreprocessor', True)
    """
    if preprocessor is None or isinstance(preprocessor, Preprocessor):
        return preprocessor
    if isinstance(preprocessor, dict):
        with naming_damage("The configuration of a preprocessor", REMEDY):
            if "class_name" in preprocessor:
                preprocessor = keras.saving.deserialize_keras_object(preprocessor)
                if isinstance(preprocessor, Preprocessor):
                    return preprocessor
            else:
                for argument, cls in LEGACY.items():
                    if argument in preprocessor:
                        return cls.from_config(preprocessor)
    raise ValueError(
        "preprocessor must be a keras_corefmem.preprocessing.Preprocessor, its configuration or "
        f"None; got {preprocessor!r:.80}."
    )
