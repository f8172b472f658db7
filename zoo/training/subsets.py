"""Experiments with fewer training questions, and with fewer or random mentions."""

import dataclasses
import zlib

import numpy as np

from keras_corefmem.preprocessing.preprocessor import LINKS

RANDOM = "random"


def check_mentions(mentions):
    """Refuses what `draw_mentions` does not know.

    Raises:
        ValueError: unless it is `None`, `"random"` or a number from 0 to 1.
    """
    if mentions in (None, RANDOM):
        return
    number = isinstance(mentions, int | float) and not isinstance(mentions, bool)
    if not number or not 0 <= mentions <= 1:
        raise ValueError(f'mentions must be a share from 0 to 1 or "random", got {mentions!r}.')


def check_reads_mentions(model, name):
    """Refuses a model that no mention reaches.

    Raises:
        ValueError: naming the model.
    """
    if not any(feature.rpartition("_")[2] in LINKS for feature in model.features):
        raise ValueError(
            f"mentions: {name} reads no mentions, so that none can be left out; take a model that "
            "follows chains, such as ga-coref-gru."
        )


def draw_examples(examples, count, seed):
    """Some of the examples, in their order; those of a smaller count are among them.

    Args:
        examples: list of examples.
        count: how many; `None` for all.
        seed: random seed.

    Raises:
        ValueError: if there are fewer.
    """
    if count is None:
        return examples
    if count > len(examples):
        raise ValueError(
            f"train_size={count}: there are {len(examples)} training questions; give no more."
        )
    chosen = np.argsort(np.random.default_rng(seed).random(len(examples)), kind="stable")[:count]
    return [examples[n] for n in np.sort(chosen)]


def encode_examples(examples, preprocessor, mentions, seed):
    """Examples as `Encoded`, with all their mentions or as `draw_mentions` leaves them.

    Args:
        examples: list of `Example`.
        preprocessor: what encodes them.
        mentions: as of `draw_mentions`; `None` for all mentions.
        seed: random seed.
    """
    encoded = map(preprocessor.encode, examples)
    if mentions is None:
        return list(encoded)
    return [
        draw_mentions(example, found, preprocessor, mentions, seed)
        for example, found in zip(examples, encoded, strict=True)
    ]


def draw_mentions(example, encoded, preprocessor, mentions, seed):
    """An encoded example with some of its mentions, or with as many at random tokens.

    Every mention of passage and question has a random number of its own, which only seed, text and
    position decide; those below the share stay, so that mentions of a smaller share are among those
    of a larger one. This is the ablation of Dhingra et al. (2018), "Neural Models for Reasoning
    over Multiple Mentions using Coreference", Figure 3.

    Args:
        example: an `Example`.
        encoded: the same, `Encoded`.
        preprocessor: the `Preprocessor` that encoded it.
        mentions: share of the mentions to keep, or `"random"`.
        seed: random seed.

    Returns:
        `Encoded`; the targets of supervised attention stay.
    """
    entities = encoded.entities
    if entities is None:
        entities = preprocessor.entities[np.concatenate([encoded.passage, encoded.question])]
    text = zlib.crc32(f"{example.passage}\n{example.question}".encode())
    numbers = np.random.default_rng([seed, text]).random(len(entities))
    if mentions == RANDOM:
        drawn = entities[np.argsort(numbers, kind="stable")]
    else:
        drawn = np.where(numbers < mentions, entities, 0)
    return dataclasses.replace(encoded, entities=drawn)
