"""Annotators: from texts to their tokens, sentences, dependencies and coreference chains."""

import dataclasses
import functools
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from keras_corefmem.graphs.annotation import Annotation, Mention
from keras_corefmem.graphs.coreference import Resolver
from keras_corefmem.graphs.formats.spacy_docs import from_doc
from keras_corefmem.text.sentences import OPENING, sentence_starts
from keras_corefmem.text.tokenizers import PennTokenizer, lower
from keras_corefmem.text.truecase import Truecaser

EXACT = "exact"
# Components that leave coreference on a Doc, by the names of their factories.
RESOLVERS = ("corefmem_resolver", "experimental_coref", "fastcoref", "coreferee")
# How quotation marks between spaces are written, and as what pipelines know them.
QUOTES = {"``": "\u201c", "''": "\u201d", "-lrb-": "(", "-rrb-": ")"}


def annotate(
    texts: Iterable[str],
    annotator: Any = EXACT,
    batch_size: int = 64,
    tokenized: bool = False,
    truecaser: str | os.PathLike | Callable[[list[str]], list[str]] | None = None,
) -> Iterator[Annotation]:
    """Annotates texts one batch at a time, in their order.

    Args:
        texts: the texts, any number of them.
        annotator: one of

            - `"exact"`, which needs no model: tokens, simple sentence ends, and a chain of every
              capitalised word that repeats and is not only the first of sentences;
            - a loaded spaCy pipeline, or the path or name of one. What it leaves on its Docs is
              taken over (`from_doc`); a pipeline without coreference is followed by the rules of
              `corefmem_resolver`, for which it needs a parser;
            - a function from a list of texts to their annotations.
        batch_size: number of texts that a pipeline takes at once.
        tokenized: whether the tokens of the texts are what spaces separate.
        truecaser: a `Truecaser`, the path of one, `"novels"` for the bundled one, or a function
            like it, for texts all in lower case: the annotator sees its words, the annotations keep
            those of the texts.

    Returns:
        An iterator over the annotations.

    Raises:
        FileNotFoundError: if there is no such truecaser.
        ValueError: if `texts` is a single string, or there is no such pipeline; while iterating,
            if a text has no tokens, the pipeline no parser, or a function changes the tokens.

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["So Mary slept. Then Mary left."])
        >>> annotation.sentences, annotation.chain_ids().tolist()
        ((0, 4), [0, 1, 0, 0, 0, 1, 0, 0])
    """
    if isinstance(texts, str):
        raise ValueError("`texts` is one string, pass a list of texts.")
    if isinstance(truecaser, str | os.PathLike):
        truecaser = _load_truecaser(os.fspath(truecaser))
    if isinstance(annotator, str | os.PathLike) and annotator != EXACT:
        annotator = load_pipeline(os.fspath(annotator))
    if annotator == EXACT:
        return _annotate_exactly(texts, tokenized, truecaser)
    if hasattr(annotator, "pipe"):
        return _annotate_with_spacy(texts, annotator, batch_size, tokenized, truecaser)
    if not callable(annotator):
        raise ValueError(
            f"annotator must be {EXACT!r}, a spaCy pipeline or its name, or a function from texts "
            f"to annotations; got {annotator!r}."
        )
    return _annotate_by(annotator, texts, batch_size, tokenized, truecaser)


@functools.lru_cache(1)
def load_pipeline(name: str) -> Any:
    """Loads a spaCy pipeline once, by the path of its folder or the name of a package."""
    import spacy

    try:
        return spacy.load(name)
    except OSError as error:
        if "E050" not in str(error):
            raise ValueError(f"{name}: the spaCy pipeline does not load: {error}") from error
        raise ValueError(
            f"No spaCy pipeline {str(name)!r}: it is neither a folder nor an installed package. "
            'Get one with `python -m spacy download en_core_web_sm`, or choose "exact", which '
            "needs none."
        ) from None


_load_truecaser = functools.lru_cache(1)(Truecaser.load)


def has_coreference(nlp: Any) -> bool:
    """Whether a spaCy pipeline has a known component that resolves coreference."""
    factories = {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    return not factories.isdisjoint(RESOLVERS)


def _annotate_exactly(texts, tokenized, truecaser):
    penn = PennTokenizer()
    for number, text in enumerate(texts, 1):
        tokens = text.split() if tokenized else penn(text)
        starts = _starts(text, tokens, number)
        cased = truecaser(tokens) if truecaser and text == lower(text) else tokens
        sentences = sentence_starts(cased)
        yield Annotation(text, tokens, starts, sentences, chains=_repeated(cased, sentences))


def _starts(text, tokens, number):
    """Characters of the text at which tokens start, which are its pieces in order."""
    if not tokens:
        raise ValueError(f"Text {number} has no tokens, leave it out: {text!r}.")
    starts, end = [], 0
    for token in tokens:
        starts.append(text.index(token, end))
        end = starts[-1] + len(token)
    return starts


def _repeated(tokens, sentences):
    """Chains of capitalised words that repeat, and that do not only begin sentences."""
    places, names, initial = defaultdict(list), set(), set(sentences)
    for index, token in enumerate(tokens):
        if not token[0].isupper() or token == "I":
            continue
        places[token].append(Mention(index, index + 1, index))
        if index not in initial and tokens[index - 1] not in OPENING:
            names.add(token)
    return [places[name] for name in sorted(names) if len(places[name]) > 1]


def _annotate_by(function, texts, batch_size, tokenized, truecaser):
    texts = iter(texts)
    while batch := list(islice(texts, batch_size)):
        seen = [_recased(text, truecaser, tokenized) for text in batch] if truecaser else batch
        for text, annotation in zip(batch, function(seen), strict=True):
            tokens = [text[a:b] for a, b in zip(annotation.starts, annotation.ends, strict=True)]
            if tokenized and tokens != text.split():
                raise ValueError(f"The annotator cuts {text!r} to other tokens than its spaces do.")
            yield dataclasses.replace(annotation, text=text, tokens=tokens)


def _recased(text, truecaser, tokenized):
    if text != lower(text):
        return text
    tokens, pieces, end = text.split() if tokenized else PennTokenizer()(text), [], 0
    for token, cased in zip(tokens, truecaser(tokens), strict=True):
        start = text.index(token, end)
        pieces += [text[end:start], cased]
        end = start + len(token)
    return "".join([*pieces, text[end:]])


def _annotate_with_spacy(texts, nlp, batch_size, tokenized, truecaser):
    resolve = None if has_coreference(nlp) else Resolver()
    docs = _docs(texts, nlp, tokenized, truecaser)
    for doc, (text, tokens, starts) in nlp.pipe(docs, as_tuples=True, batch_size=batch_size):
        annotation = from_doc(doc, resolve)
        if tokens is not None:
            annotation = dataclasses.replace(annotation, text=text, tokens=tokens, starts=starts)
        yield annotation


def _docs(texts, nlp, tokenized, truecaser):
    """Yields a Doc, or a text that is one, and what the annotation must look like."""
    from spacy.tokens import Doc

    for number, text in enumerate(texts, 1):
        if tokenized:
            tokens = text.split()
            words, spaces = [QUOTES.get(token, token) for token in tokens], None
        else:
            doc = nlp.make_doc(text)
            words = tokens = [token.text for token in doc]
            spaces = [bool(token.whitespace_) for token in doc]
        kept = [token for token in tokens if not token.isspace()]
        starts = _starts(text, kept, number)
        if truecaser is None and not tokenized:
            yield doc, (text, None, None)
            continue
        words = truecaser(words) if truecaser and text == lower(text) else words
        yield Doc(nlp.vocab, words=words, spaces=spaces), (text, kept, starts)
