"""Ablation of mentions: readers see only some of them, or random ones."""

import dataclasses
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from zoo.reading.answers import reads_links


def check_reads_mentions(model: Any, name: str) -> None:
    """Checks that a model reads mentions."""
    if not reads_links(model):
        raise ValueError(
            f"mentions: {name} reads no mentions, so that none can be left out; take a model that "
            "follows chains, such as ga-coref-gru."
        )


def encode_examples(
    examples: Sequence, preprocessor: Any, mentions: float | str | None, seed: int
) -> list:
    """Encodes examples with all their mentions, or with those that `draw_mentions` keeps."""
    encoded = preprocessor.encode_all(examples)
    if mentions is None:
        return encoded
    return [
        draw_mentions(example, ids, mentions, seed)
        for example, ids in zip(examples, encoded, strict=True)
    ]


def draw_mentions(example: Any, encoded: Any, mentions: float | str, seed: int) -> Any:
    """Keeps a share of the mentions of an encoded example, or moves all to random tokens."""
    chain_ids = encoded.chain_ids
    text = zlib.crc32(f"{example.passage}\n{example.question}".encode())
    numbers = np.random.default_rng([seed, text]).random(len(chain_ids))
    if isinstance(mentions, str):
        drawn = chain_ids[np.argsort(numbers, kind="stable")]
    else:
        drawn = np.where(numbers < mentions, chain_ids, 0)
    return dataclasses.replace(encoded, chain_ids=drawn)
