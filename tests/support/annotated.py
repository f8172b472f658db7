"""Readers of annotated text."""

import keras

import zoo
from keras_corefmem.datasets import Example, annotate_examples
from keras_corefmem.text import get_tokenizer

NAMES = ("Mary", "John", "Sandra", "Daniel")
PASSAGE, QUESTION = "So Mary met Tom in Rome. Then Mary left Rome.", "But Mary saw"
SIZES = {"units": 4, "embedding_dim": 4, "layers": 1}


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
