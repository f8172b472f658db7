"""Kinds of LAMBADA's questions."""

import dataclasses

from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.datasets.example import most_frequent
from keras_corefmem.datasets.passages.lambada import is_word
from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.text.lexicons import PRONOUNS
from keras_corefmem.text.tokenizers import lower

# Pronouns that may refer to others than persons.
IMPERSONAL = frozenset("it its itself they them their theirs themselves one".split())
# Labels of persons, of OntoNotes and of CoNLL.
PERSONS = ("PERSON", "PER")
# Parts of speech, universal or of the Penn Treebank.
TAGS = {
    "name": ("PROPN", "NNP", "NNPS"),
    "noun": ("NOUN", "NN", "NNS"),
    "verb": ("VERB", "AUX", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
}


def from_record(annotation: Annotation, fields: dict) -> AnnotatedExample:
    """Makes an `AnnotatedExample` from a record, with its `kinds` and `name_words`.

    The kinds are `answerable` if the passage has the answer; then one of `name`, `noun`, `verb` and
    `other`, by the most frequent part of speech of the answer there; and `pronoun` if the answer is
    in a chain with a pronoun. If named entities were recognized, `named_entity` and `named_person`
    depend on its most frequent label; otherwise, `person` is a name in a chain with a pronoun for
    persons.
    """
    example = AnnotatedExample.from_record(annotation, fields)
    tokens = [lower(token) for token in annotation.tokens]
    end = annotation.starts.index(fields["question_start"])
    places = {n for n in range(end) if tokens[n] == lower(example.answer)}
    kinds = ["answerable"] if places else []
    if places and annotation.tags:
        tag = most_frequent(annotation.tags[n] for n in sorted(places))
        kinds.append(next((kind for kind, tags in TAGS.items() if tag in tags), "other"))
    mentioned = [
        chain
        for chain in annotation.chains
        if any(_names(mention, places, annotation) for mention in chain)
    ]
    heads = {tokens[mention.head] for chain in mentioned for mention in chain}
    if heads & PRONOUNS.keys():
        kinds.append("pronoun")
    if annotation.named_entities:
        label = most_frequent(annotation.named_entities[n] for n in sorted(places))
        kinds += ["named_entity"] if label else []
        kinds += ["named_person"] if label in PERSONS else []
    elif "name" in kinds and heads & PRONOUNS.keys() - IMPERSONAL:
        kinds.append("person")
    pairs = zip(tokens[:end], annotation.tags, strict=False)
    names = tuple(token for token, tag in pairs if tag in TAGS["name"] and is_word(token))
    return dataclasses.replace(example, kinds=tuple(kinds), name_words=names)


def _names(mention, places, annotation):
    """Returns whether a token of `places` is a mention's head, or part of one that is a name."""
    if mention.head in places:
        return True
    tokens = range(mention.start, mention.end)
    if not annotation.tags or places.isdisjoint(tokens):
        return False
    return all(annotation.tags[token] in TAGS["name"] for token in tokens)
