"""Coreference resolution measured on LitBank and GAP."""

import pathlib
import time
from collections.abc import Iterable
from typing import Any

from keras_corefmem.datasets import gap
from keras_corefmem.graphs import Annotation
from keras_corefmem.graphs.annotators import has_coreference
from keras_corefmem.graphs.coreference import Resolver
from keras_corefmem.graphs.coreference.scores import score_chains
from keras_corefmem.graphs.formats.conll import read_conll
from keras_corefmem.graphs.formats.spacy_docs import chains_of, from_doc

LITBANK = "https://github.com/dbamman/litbank"
# LitBank annotates people, places, vehicles and organizations, and nothing else.
LITBANK_KINDS = ("person", "name", "place")


class _Clock:
    """Seconds of the pipeline and of the resolver, apart."""

    def __init__(self) -> None:
        self.seconds = {"pipeline": 0.0, "resolver": 0.0}

    def parse(self, docs: Iterable[Any]) -> Iterable[Any]:
        docs = iter(docs)
        while True:
            began = time.perf_counter()
            doc = next(docs, None)
            self.seconds["pipeline"] += time.perf_counter() - began
            if doc is None:
                return
            began = time.perf_counter()
            yield doc
            self.seconds["resolver"] += time.perf_counter() - began


def score_litbank(
    nlp: Any, data_dir: str | pathlib.Path, mentions: str = "predicted"
) -> dict[str, Any]:
    folder, gold = pathlib.Path(data_dir), mentions == "gold"
    paths = sorted(folder.glob("*.conll")) or sorted(folder.glob("conll/*.conll"))
    if not paths:
        raise FileNotFoundError(
            f"No .conll files in {folder}; get coref/conll of {LITBANK} and pass that folder."
        )
    if gold and has_coreference(nlp):
        raise ValueError(
            f"--mentions gold: {nlp.meta['lang']}_{nlp.meta['name']} finds mentions of its own; "
            "leave the option out, or give a pipeline without coreference."
        )
    resolver, clock, pairs = Resolver(singletons=True, kinds=LITBANK_KINDS), _Clock(), []
    documents = [annotation for path in paths for _, annotation in read_conll(path)]
    docs = clock.parse(nlp.pipe(make_doc(nlp, document) for document in documents))
    for document, doc in zip(documents, docs, strict=True):
        key = [[mention[:2] for mention in chain] for chain in document.chains]
        if has_coreference(nlp):
            response = [[mention[:2] for mention in chain] for chain in chains_of(doc) or ()]
        else:
            spans = sorted({m for chain in key for m in chain}) if gold else None
            chains = resolver.chains(doc, spans)
            response = [[(phrase.start, phrase.end) for phrase in chain] for chain in chains]
        pairs.append((key, response))
    return {
        "mentions": mentions,
        "documents": len(documents),
        "tokens": sum(map(len, documents)),
        "seconds": clock.seconds,
        "scores": {
            "all": _as_json(score_chains(pairs)),
            "without_singletons": _as_json(score_chains(pairs, singletons=False)),
        },
    }


def score_gap(nlp: Any, data_dir: str | pathlib.Path, part: str = "development") -> dict[str, Any]:
    path = pathlib.Path(data_dir) / f"gap-{part}.tsv"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file, get it from {gap.ORIGIN}.")
    examples, resolver, clock = gap.read_gap(path), Resolver(), _Clock()
    answers, tokens = [], 0
    docs = clock.parse(nlp.pipe(example.text for example in examples))
    for example, doc in zip(examples, docs, strict=True):
        doc = doc if has_coreference(nlp) else resolver(doc)
        tokens += len(doc)
        answers.append(gap.answer(example, from_doc(doc)))
    return {
        "part": part,
        "pronouns": len(examples),
        "tokens": tokens,
        "seconds": clock.seconds,
        "scores": _as_json(gap.score(examples, answers)),
    }


def make_doc(nlp: Any, annotation: Annotation) -> Any:
    from spacy.tokens import Doc

    begins = set(annotation.sentences)
    starts: list[bool | int | None] = [token in begins for token in range(len(annotation))]
    return Doc(nlp.vocab, words=list(annotation.tokens), sent_starts=starts)


def _as_json(scores: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {"precision": score.precision, "recall": score.recall, "f1": score.f1}
        if hasattr(score, "f1")
        else score
        for name, score in scores.items()
    }
