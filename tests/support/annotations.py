"""Annotations of words with single spaces between them."""

from keras_corefmem.graphs import Annotation


def annotate_words(words, **content):
    starts = [sum(len(word) + 1 for word in words[:n]) for n in range(len(words))]
    return Annotation(" ".join(words), words, starts, **content)
