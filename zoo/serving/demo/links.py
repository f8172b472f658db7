"""The chains and edges of a question, and what the page changes of them."""

import dataclasses
from typing import Any

from keras_corefmem.datasets import Example
from keras_corefmem.graphs.edge_types import base_type
from keras_corefmem.preprocessing import StoryPreprocessor
from keras_corefmem.text.tokenizers import SENTENCE_ENDS
from keras_corefmem.visualization.views import encode_example
from zoo.reading import annotate_for
from zoo.reading.answers import edge_types_of


def as_example(model: Any, passage: str, question: str, annotator: str | None = None) -> Example:
    """The question as a model reads it, annotated where that is asked for.

    Lines end sentences, as they do for a memory network where a full stop ends them.
    """
    example, preprocessor = Example.from_text(passage, question), model.preprocessor
    if isinstance(preprocessor, StoryPreprocessor):
        ended = (text if text.endswith(SENTENCE_ENDS) else f"{text}." for text in example.sentences)
        return dataclasses.replace(example, sentences=tuple(ended))
    if annotator:
        (annotated,) = annotate_for(preprocessor, [example], annotator)
        return annotated
    return example


def as_read(model: Any, example: Example) -> Example:
    """An annotated question with all chains and edges that a model reads of it, and no others."""
    chains = example.chains or getattr(example, "chain_ids", ())
    edges: tuple = ()
    if edge_types_of(model):
        preprocessor = model.preprocessor
        numbers, bases = preprocessor.encode(example).edges.tolist(), preprocessor.edge_table.bases
        edges = tuple((source, target, bases[n]) for source, target, n in numbers)
    links = {"chain_ids": chains, "chains": (), "edges": edges, "structure": None}
    return dataclasses.replace(example, **links)


def labelled_tokens(model: Any, example: Example) -> list[str]:
    """The tokens of passage and question, with their positions, from 1, and chains."""
    words = _words(model, example)
    chains = chains_of(model, example) or (0,) * len(words)
    numbers = {chain: n for n, chain in enumerate(dict.fromkeys(filter(None, chains)), 1)}
    return [
        f"{n} {word}" + (f" · chain {numbers[chain]}" if chain else "")
        for n, (word, chain) in enumerate(zip(words, chains, strict=True), 1)
    ]


def as_read_beside(model: Any, other: Any, example: Example) -> Example:
    """The question to another model: without the changes where that cuts it to other tokens."""
    changed, reads = example.chains or example.edges, other.preprocessor.reads_edges
    if changed and reads and _words(model, example) != _words(other, example):
        return dataclasses.replace(example, chains=(), edges=())
    return example


def check_links(model: Any, handle: str, example: Example) -> None:
    """Refuses chains and edges that a model does not read."""
    read = set(map(base_type, edge_types_of(model)))
    unread = sorted({base_type(kind) for *_, kind in example.edges} - read)
    if unread:
        raise ValueError(f"{handle} reads no edges of type {', '.join(unread)}, leave them out.")
    if example.chains and not model.preprocessor.reads_edges:
        raise ValueError(f"{handle} reads no chains, leave them out.")


def _words(model: Any, example: Example) -> list[str]:
    cut = model.preprocessor.tokenizer
    return [*example.tokens(example.passage, cut), *example.tokens(example.question, cut)]


def chains_of(model: Any, example: Example) -> tuple[int, ...]:
    """The chain of each token, 0 = none; nothing where a model reads no chains."""
    if not edge_types_of(model):
        return ()
    return tuple(encode_example(example, model.preprocessor).chain_ids.tolist())


def merge_chains(model: Any, example: Example, first: int, second: int) -> Example:
    """Joins the chains of two tokens, at 1-based positions, to one."""
    chains = chains_of(model, example)
    one, other = chains[first - 1], chains[second - 1]
    joined = one or other or max(chains) + 1
    changed = [joined if chain and chain in (one, other) else chain for chain in chains]
    changed[first - 1] = changed[second - 1] = joined
    return dataclasses.replace(example, chains=tuple(changed))


def cut_chain(model: Any, example: Example, position: int) -> Example:
    """Takes a token, at a 1-based position, out of its chain."""
    chains = list(chains_of(model, example))
    chains[position - 1] = 0
    return dataclasses.replace(example, chains=tuple(chains))


def draw_edge(example: Example, source: int, target: int, kind: str) -> Example:
    """Adds an edge, of coreference or any other type that a model reads."""
    return dataclasses.replace(example, edges=(*example.edges, (source, target, kind)))
