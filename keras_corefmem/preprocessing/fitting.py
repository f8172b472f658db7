"""What a reader learns from training examples before it is built."""

import collections

from keras_corefmem.graphs import get_lemmatizer, learn_entity_words, tagged_entity_words
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.text import get_tokenizer

HEADS = ("pointer_sum", "span_sum", "classification")


def fit_preprocessor(
    examples,
    head="auto",
    language="en",
    lemmatizer=None,
    tokenizer="words",
    tagger=None,
    **kwargs,
):
    """Learns the preprocessing from training examples and chooses the head.

    Args:
        examples: training examples.
        head: `"pointer_sum"`, `"classification"`, or `"auto"`: pointer-sum where the passage
            mentions the answer of every training question.
        language: code of the language whose lemmas link words, and are pointed at, where the words
            themselves do not make every answer a word of its passage; `None` for no such lemmas.
        lemmatizer: what gives lemmas in any case: a spaCy pipeline, a function from a word to its
            lemma, or the code of a language.
        tokenizer: name of the tokenizer.
        tagger: what tells entities: a function from a text to pairs of word and part of speech,
            such as `spacy_tagger(nlp)`; `None` learns them from the examples.
        **kwargs: further arguments of `Preprocessor`.

    Returns:
        The `Preprocessor` and the name of the head.

    Raises:
        ValueError: if there is no such head, or a pointer-sum is asked for where an answer is no
            word of its passage.
    """
    if head == "span_sum":
        raise ValueError("A span_sum needs the candidates of annotated examples.")
    if head != "auto":
        check_head(head)
    kwargs["tokenizer"], tokenize = tokenizer, get_tokenizer(tokenizer)
    if tagger is None:
        entities = learn_entity_words(examples, tokenize)
    else:
        entities = tagged_entity_words(examples, tagger, tokenize)
    chosen = get_lemmatizer(lemmatizer)
    first = Preprocessor.fit(examples, entities, chosen, **kwargs)
    if head == "classification":
        return first, head
    missing = unmentioned(first, examples)
    if missing and lemmatizer is None and language:
        lemmatized = Preprocessor.fit(examples, entities, get_lemmatizer(language), **kwargs)
        if not unmentioned(lemmatized, examples):
            return lemmatized, "pointer_sum"
    if not missing:
        return first, "pointer_sum"
    if head == "pointer_sum":
        raise ValueError(
            f"{missing.source or 'A training example'}: the answer {missing.answer!r} is no word "
            "of the passage, so that no pointer-sum can find it; leave the example out, or take "
            'head="classification".'
        )
    return first, "classification"


def count_words(examples, tokenize):
    """How often each word occurs in passages and questions, a `Counter`."""
    counts = collections.Counter()
    for example in examples:
        counts.update(tokenize(f"{example.passage} {example.question}"))
    return counts


def check_head(head):
    """Refuses a head that does not exist."""
    if head not in HEADS:
        raise ValueError(f"head must be one of {', '.join(HEADS)}; got {head!r}.")


def unmentioned(preprocessor, examples):
    """The first example whose answer is no word of its passage, or `None`."""
    for example in examples:
        encoded = preprocessor.encode(example)
        if encoded.answer not in preprocessor.pointers[encoded.passage]:
            return example
    return None
