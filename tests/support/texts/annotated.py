"""Annotated text, and readers of it."""

import keras

import zoo
from keras_corefmem.datasets import AnnotatedExample, Example, annotate_examples
from keras_corefmem.graphs import Annotation
from keras_corefmem.text import get_tokenizer

NAMES = ("Mary", "John", "Sandra", "Daniel")
PASSAGE, QUESTION = "So Mary met Tom in Rome. Then Mary left Rome.", "But Mary saw"
SIZES = {"units": 4, "embedding_dim": 4, "layers": 1}
# "Mary" and "Ann" are one person.
NOTE = Annotation(
    "Mary met Bob . He saw Ann in Paris . Rome bored Bob . Who met Mary",
    "Mary met Bob . He saw Ann in Paris . Rome bored Bob . Who met Mary".split(),
    [
        n
        for n, c in enumerate(" Mary met Bob . He saw Ann in Paris . Rome bored Bob . Who met Mary")
        if c == " "
    ],
    sentences=(0, 4, 10, 14),
    governors=(1, 1, 1, 1, 5, 5, 5, 8, 5, 5, 11, 11, 11, 11, 15, 15, 15),
    labels=("dep",) * 17,
    chains=[[(0, 1, 0), (6, 7, 6), (16, 17, 16)], [(2, 3, 2), (4, 5, 4), (12, 13, 12)]],
    typed_edges=[(1, 7, "met"), (12, 3, "bored"), (17, 2, "asks")],
    named_entities="PERSON,,PERSON,,,,PERSON,,GPE,,GPE,,PERSON,,,,PERSON".split(","),
)
ANNOTATED = AnnotatedExample.from_annotation(
    NOTE, 14, "Bob", candidates=("Bob", "Mary", "Ann"), edges=[(1, 12, "hears"), (17, 5, "of")]
)


def questions(count=8):
    """Questions about names that repeat, in raw text."""
    pairs = ((NAMES[n % 4], NAMES[(n + 1) % 4]) for n in range(count))
    sentences = ((f"So {one} met {other}.", f"Then {one} left Rome.") for one, other in pairs)
    return [Example(each, "Then they saw", each[0].split()[1]) for each in sentences]


def annotated_reader(encoder="coref_gru", **options):
    """An untrained reader of questions that `exact` annotated."""
    keras.utils.set_random_seed(0)
    examples = annotate_examples(questions(), tokenizer=get_tokenizer("prose").cased)
    options = {"tokenizer": "prose", "order": "passage_first", **SIZES, **options}
    model = zoo.GatedAttentionReader.from_examples(examples, encoder=encoder, **options)
    # Wide enough for structure to tell.
    embedding = model.get_layer("word_embedding")
    embedding.set_weights([30 * array for array in embedding.get_weights()])
    model.compile()
    return model
