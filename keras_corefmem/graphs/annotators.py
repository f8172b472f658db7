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
from keras_corefmem.text.tokenizers import PennTokenizer, lower, spans
from keras_corefmem.text.truecase import Truecaser
from keras_corefmem.utils.checks import check_listed, check_sizes

EXACT = "exact"
# Factory names of the spaCy components that resolve coreference.
RESOLVERS = ("corefmem_resolver", "experimental_coref", "fastcoref", "coreferee")
# Penn Treebank spellings of quotation marks and brackets, and what pipelines know them as.
QUOTES = {"``": "\u201c", "''": "\u201d", "-lrb-": "(", "-rrb-": ")", "-LRB-": "(", "-RRB-": ")"}


def annotate(
    texts: Iterable[str],
    annotator: Any = EXACT,
    batch_size: int = 64,
    tokenized: bool = False,
    truecaser: str | os.PathLike | Callable[[list[str]], list[str]] | None = None,
) -> Iterator[Annotation]:
    """Annotates texts one batch at a time, in order.

    Args:
        texts: the texts, any number of them.
        annotator: one of

            - `"exact"`, which needs no model: tokens, simple sentence boundaries, and a chain for
              every capitalised word that repeats and does not only begin sentences;
            - a loaded spaCy pipeline, or the path or name of one. Its Docs are converted by
              `from_doc`; if it does not resolve coreference, the rules of `corefmem_resolver` do,
              for which it needs a parser;
            - a function from a list of texts to their annotations.
        batch_size: number of texts that a pipeline or function takes at once.
        tokenized: whether the texts are tokenized already, with spaces between tokens.
        truecaser: a `Truecaser`, the path of one, `"novels"` for the bundled one, or a function
            like it, which restores the case of texts that are all in lower case. The annotator sees
            the restored words, whereas annotations keep the words of the texts.

    Returns:
        An iterator over the annotations.

    Raises:
        FileNotFoundError: if there is no such truecaser.
        ValueError: if `texts` is a single string, there is no such pipeline, or `batch_size` is
            less than 1. While iterating, if a text is not a string or has no tokens, if a pipeline
            without coreference has no parser, or if a function changes the tokens of texts or their
            number.

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["So Mary slept. Then Mary left."])
        >>> annotation.sentences, annotation.chain_ids().tolist()
        ((0, 4), [0, 1, 0, 0, 0, 1, 0, 0])
    """
    check_listed(texts=texts)
    check_sizes(batch_size=batch_size)
    if isinstance(truecaser, str | os.PathLike):
        truecaser = _load_truecaser(os.fspath(truecaser))
    if isinstance(annotator, str | os.PathLike) and annotator != EXACT:
        annotator = load_pipeline(os.fspath(annotator))
    texts = _checked(texts)
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
    """Loads a spaCy pipeline from a folder or an installed package, and caches it."""
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
    """Returns whether a spaCy pipeline has a known component that resolves coreference."""
    factories = {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    return not factories.isdisjoint(RESOLVERS)


def _checked(texts):
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise ValueError(f"Text {number} is not a string, leave it out: {text!r:.80}.")
        yield text


def _annotate_exactly(texts, tokenized, truecaser):
    penn = PennTokenizer()
    for number, text in enumerate(texts, 1):
        tokens = text.split() if tokenized else penn(text)
        starts = _starts(text, tokens, number)
        is_lower = text == lower(text)
        cased = _cased(tokens, truecaser, text) if truecaser and is_lower else tokens
        sentences = sentence_starts(cased, cased=truecaser is not None or not is_lower)
        yield Annotation(text, tokens, starts, sentences, chains=_repeated(cased, sentences))


def _starts(text, tokens, number):
    """Returns the character offsets of tokens, which are substrings of the text in order."""
    if not tokens:
        raise ValueError(f"Text {number} has no tokens, leave it out: {text!r}.")
    return [start for start, _ in spans(text, tokens)]


def _repeated(tokens, sentences):
    """Returns a chain for every capitalised word that repeats and does not only begin sentences."""
    places, names, initial = defaultdict(list), set(), set(sentences)
    for index, token in enumerate(tokens):
        if not token[0].isupper() or token == "I":
            continue
        places[token].append(Mention(index, index + 1, index))
        if index not in initial and tokens[index - 1] not in OPENING:
            names.add(token)
    return [places[name] for name in sorted(names) if len(places[name]) > 1]


def _annotate_by(function, texts, batch_size, tokenized, truecaser):
    while batch := list(islice(texts, batch_size)):
        seen = [_recased(text, truecaser, tokenized) for text in batch] if truecaser else batch
        found = function(seen)
        annotations = list(found) if isinstance(found, Iterable) else []
        wrong = [f"{each!r:.80}" for each in annotations if not isinstance(each, Annotation)]
        if wrong or len(annotations) != len(batch):
            counts = f"{len(annotations)} annotations of {len(batch)} texts"
            raise ValueError(
                f"The annotator gives {wrong[0] if wrong else counts}: it must return a list with "
                "one Annotation per text."
            )
        for text, annotation in zip(batch, annotations, strict=True):
            tokens = [text[a:b] for a, b in zip(annotation.starts, annotation.ends, strict=True)]
            for own, annotated in zip(tokens, annotation.tokens, strict=True):
                if _letters(own) != _letters(annotated):
                    raise ValueError(
                        f"The annotator gives the token {annotated!r:.80} for {own!r:.80} of "
                        f"{text!r:.80}."
                    )
            if tokenized and tokens != text.split():
                raise ValueError(f"The annotator cuts {text!r} to other tokens than its spaces do.")
            yield dataclasses.replace(annotation, text=text, tokens=tokens)


def _letters(token):
    # Annotators may write quotation marks and case in their own way.
    return "".join(filter(str.isalnum, lower(token)))


def _cased(tokens, truecaser, text):
    cased = truecaser(tokens)
    if len(cased) != len(tokens):
        raise ValueError(f"The truecaser changes the number of tokens of {text!r:.80}.")
    return cased


def _recased(text, truecaser, tokenized):
    if text != lower(text):
        return text
    tokens, pieces, before = text.split() if tokenized else PennTokenizer()(text), [], 0
    cased = _cased(tokens, truecaser, text)
    for token, (start, end) in zip(cased, spans(text, tokens), strict=True):
        pieces += [text[before:start], token]
        before = end
    return "".join([*pieces, text[before:]])


def _annotate_with_spacy(texts, nlp, batch_size, tokenized, truecaser):
    resolve = None if has_coreference(nlp) else Resolver()
    docs = _docs(texts, nlp, tokenized, truecaser)
    for doc, (text, tokens, starts) in nlp.pipe(docs, as_tuples=True, batch_size=batch_size):
        annotation = from_doc(doc, resolve)
        if tokens is not None:
            if len(annotation) != len(tokens):
                raise ValueError(
                    f"The pipeline changes the tokens of {text!r:.80}: leave out components that "
                    "do, such as merge_entities."
                )
            annotation = dataclasses.replace(annotation, text=text, tokens=tokens, starts=starts)
        yield annotation


def _docs(texts, nlp, tokenized, truecaser):
    """Yields Docs, each with text, tokens and starts of its annotation, `None` if as on the Doc."""
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
        if truecaser and text == lower(text):
            cased = iter(_cased([w for w in words if not w.isspace()], truecaser, text))
            words = [word if word.isspace() else next(cased) for word in words]
        yield Doc(nlp.vocab, words=words, spaces=spaces), (text, kept, starts)
