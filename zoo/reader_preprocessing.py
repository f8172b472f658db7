"""What a reader learns from training examples before it is built."""

from keras_corefmem.datasets.preprocessor import Preprocessor
from keras_corefmem.graphs import get_lemmatizer, learn_entities, tagged_entities
from keras_corefmem.text import get_tokenizer


def fit_preprocessor(
    examples, head="auto", language="en", tokenizer="words", tagger=None, **kwargs
):
    """Learns the preprocessing from training examples and chooses the head.

    Args:
        examples: training examples.
        head: `"pointer_sum"`, `"classification"`, or `"auto"`: pointer-sum where the passage
            mentions the answer of every training question.
        language: what gives the lemmas that link words where the words themselves do not make
            every answer a word of the passage: the code of a language, a spaCy pipeline, or a
            function from a word to its lemma; `None` never uses lemmas.
        tokenizer: name of the tokenizer.
        tagger: what tells entities: a function from a text to pairs of word and part of speech,
            such as `spacy_tagger(nlp)`; `None` learns them from the examples.
        **kwargs: further arguments of `Preprocessor`.

    Returns:
        The `Preprocessor` and the name of the head.
    """
    kwargs["tokenizer"], tokenize = tokenizer, get_tokenizer(tokenizer)
    if tagger is None:
        entities = learn_entities(examples, tokenize)
    else:
        entities = tagged_entities(examples, tagger, tokenize)
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
