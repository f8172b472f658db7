"""Coreference resolution measured on LitBank and GAP."""

import pathlib
import time
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


def score_litbank(
    nlp: Any, data_dir: str | pathlib.Path, mentions: str = "predicted"
) -> dict[str, Any]:
    folder, gold, resolved = pathlib.Path(data_dir), mentions == "gold", has_coreference(nlp)
    paths = sorted(folder.glob("*.conll")) or sorted(folder.glob("conll/*.conll"))
    if not paths:
        raise FileNotFoundError(f"No .conll files in {folder}; get coref/conll of {LITBANK}.")
    if gold and resolved:
        raise ValueError("--mentions gold: the pipeline finds mentions of its own, leave it out.")
    resolver, pairs = Resolver(singletons=True, kinds=LITBANK_KINDS), []
    documents = [annotation for path in paths for _, annotation in read_conll(path)]
    began = time.perf_counter()
    docs = list(nlp.pipe(make_doc(nlp, document) for document in documents))
    parsed = time.perf_counter()
    for document, doc in zip(documents, docs, strict=True):
        key = [[mention[:2] for mention in chain] for chain in document.chains]
        if resolved:
            response = [[mention[:2] for mention in chain] for chain in chains_of(doc) or ()]
        else:
            spans = sorted({m for chain in key for m in chain}) if gold else None
            chains = resolver.chains(doc, spans)
            response = [[(phrase.start, phrase.end) for phrase in chain] for chain in chains]
        pairs.append((key, response))
    seconds = {"pipeline": parsed - began, "resolver": time.perf_counter() - parsed}
    return {
        "mentions": mentions,
        "documents": len(documents),
        "tokens": sum(map(len, documents)),
        "seconds": seconds,
        "scores": {
            "all": _as_json(score_chains(pairs)),
            "without_singletons": _as_json(score_chains(pairs, singletons=False)),
        },
    }


def score_gap(nlp: Any, data_dir: str | pathlib.Path, part: str = "development") -> dict[str, Any]:
    path = pathlib.Path(data_dir) / f"gap-{part}.tsv"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file, get it from {gap.ORIGIN}.")
    examples = gap.read_gap(path)
    began = time.perf_counter()
    docs = list(nlp.pipe(example.text for example in examples))
    parsed = time.perf_counter()
    docs = docs if has_coreference(nlp) else list(map(Resolver(), docs))
    answers = [gap.answer(*pair) for pair in zip(examples, map(from_doc, docs), strict=True)]
    seconds = {"pipeline": parsed - began, "resolver": time.perf_counter() - parsed}
    return {
        "part": part,
        "pronouns": len(examples),
        "tokens": sum(map(len, docs)),
        "seconds": seconds,
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
