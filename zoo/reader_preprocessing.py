"""What a reader learns from training examples before it is built."""

from keras_corefmem.datasets.preprocessor import Preprocessor
from keras_corefmem.graphs import get_lemmatizer, learn_entities
from keras_corefmem.text import get_tokenizer


def fit_preprocessor(examples, head="auto", language="en", **kwargs):
    """Learns the preprocessing from training examples and chooses the head.

    Args:
        examples: training examples.
        head: `"pointer_sum"`, `"classification"`, or `"auto"`: pointer-sum where the passage
            mentions the answer of every training question.
        language: code of the language whose lemmas link words where the words themselves do not
            make every answer a word of the passage; `None` never uses lemmas.
        **kwargs: further arguments of `Preprocessor`.

    Returns:
        The `Preprocessor` and the name of the head.
    """
    entities = learn_entities(examples, get_tokenizer("words"))
    plain = Preprocessor.fit(examples, entities, **kwargs)
    if head != "auto":
        return plain, head
    if answers_are_mentioned(plain, examples):
        return plain, "pointer_sum"
    if language:
        lemmatized = Preprocessor.fit(examples, entities, get_lemmatizer(language), **kwargs)
        if answers_are_mentioned(lemmatized, examples):
            return lemmatized, "pointer_sum"
    return plain, "classification"


def answers_are_mentioned(preprocessor, examples):
    """Whether every answer is a word of its passage."""
    encoded = map(preprocessor.encode, examples)
    return all(e.answer in preprocessor.pointers[e.passage] for e in encoded)
