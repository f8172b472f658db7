"""The chains and edges of a question, and the edits that the page makes to them."""

import dataclasses
from typing import Any

from keras_corefmem.datasets import Example
from keras_corefmem.graphs.edge_types import base_type
from keras_corefmem.preprocessing import StoryPreprocessor
from keras_corefmem.text.tokenizers import SENTENCE_ENDS
from zoo.reading import annotate_for
from zoo.reading.answers import edge_types_of


def as_example(model: Any, passage: str, question: str, annotator: str | None = None) -> Example:
    """Returns a question as an example, annotated if there is an annotator.

    Each line is a sentence. For models of stories, which read no annotations, a full stop is added
    to lines that lack one.
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
    """Returns an annotated question with exactly the chains and edges that a model reads."""
    chains = example.chains or getattr(example, "chain_ids", ())
    edges: tuple = ()
    if edge_types_of(model):
        preprocessor = model.preprocessor
        numbers, bases = preprocessor.encode(example).edges.tolist(), preprocessor.edge_table.bases
        edges = tuple((source, target, bases[n]) for source, target, n in numbers)
    links = {"chain_ids": chains, "chains": (), "edges": edges, "structure": None}
    return dataclasses.replace(example, **links)


def labelled_tokens(model: Any, example: Example) -> list[str]:
    """Returns the tokens of passage and question with their 1-based positions and chains."""
    words = _words(model, example)
    chains = chains_of(model, example) or (0,) * len(words)
    numbers = {chain: n for n, chain in enumerate(dict.fromkeys(filter(None, chains)), 1)}
    return [
        f"{n} {word}" + (f" · chain {numbers[chain]}" if chain else "")
        for n, (word, chain) in enumerate(zip(words, chains, strict=True), 1)
    ]


def as_read_beside(model: Any, other: Any, example: Example) -> Example:
    """Returns the question for a second model, without edits if its tokens are different."""
    changed, reads = example.chains or example.edges, other.preprocessor.reads_edges
    if changed and reads and _words(model, example) != _words(other, example):
        return dataclasses.replace(example, chains=(), edges=())
    return example


def check_links(model: Any, handle: str, example: Example) -> None:
    """Raises `ValueError` if a model does not read the chains or edges of a question."""
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
    """Returns the chain of each token, 0 = none; empty if the model reads no chains."""
    if not edge_types_of(model):
        return ()
    return tuple(model.preprocessor.encode(example).chain_ids.tolist())


def merge_chains(model: Any, example: Example, first: int, second: int) -> Example:
    """Merges the chains of the tokens at two 1-based positions."""
    chains = chains_of(model, example)
    one, other = chains[first - 1], chains[second - 1]
    joined = one or other or max(chains) + 1
    changed = [joined if chain and chain in (one, other) else chain for chain in chains]
    changed[first - 1] = changed[second - 1] = joined
    return dataclasses.replace(example, chains=tuple(changed))


def cut_chain(model: Any, example: Example, position: int) -> Example:
    """Removes the token at a 1-based position from its chain."""
    chains = list(chains_of(model, example))
    chains[position - 1] = 0
    return dataclasses.replace(example, chains=tuple(chains))


def draw_edge(example: Example, source: int, target: int, kind: str) -> Example:
    """Adds an edge of coreference or of any other type that a model reads."""
    return dataclasses.replace(example, edges=(*example.edges, (source, target, kind)))
