"""Test conditions that differ from training: unseen names, longer stories, no answer."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from keras_corefmem.datasets import Example, Splits
from keras_corefmem.graphs import entity_types, learn_entity_words
from keras_corefmem.preprocessing import LengthenStories, RemoveEvidence, UnseenEntities
from keras_corefmem.preprocessing.encoding.answers import NO_ANSWER
from keras_corefmem.text import get_tokenizer
from keras_corefmem.text.tokenizers import lower
from zoo.experiments.studies import HALF_TOLD, UNANSWERABLE, UNCHANGED
from zoo.training import evaluate

TIMES = 4


def make_conditions(splits: Splits) -> dict[str, list[Example]]:
    """Makes the test questions of each condition, by its name.

    Args:
        splits: a data set of stories with supporting facts.

    Returns:
        Questions by condition: `"unchanged"`; `"persons"`, where all persons have unseen names;
        `"things"`, where all other things and places have; `"long"`, where other test stories
        make passages four times as long; and `"unanswerable"` and `"half-told"`, without all or
        half of the evidence, see `RemoveEvidence`. A condition that changes nothing is left out.

    Example:
        >>> splits = keras_corefmem.datasets.simulator.load(1, train=50, valid=5, test=10)
        >>> from zoo.experiments.conditions import make_conditions
        >>> list(make_conditions(splits))
        ['unchanged', 'persons', 'things', 'long', 'unanswerable']
    """
    cut, test = get_tokenizer("words"), splits.test
    words = learn_entity_words(splits.train, cut)
    types = entity_types(splits.train, words, cut)
    texts = {text for e in splits.train for text in (*e.sentences, e.question, e.answer)}
    cased = {word for text in texts for word in cut.cased(text)}
    # A spelling with a capital letter wins.
    written = {lower(word): word for word in sorted(cased, reverse=True)}

    def unseen(entities: Iterable[str]) -> UnseenEntities:
        names = [written[word] for word in sorted(entities)]
        return UnseenEntities([names], cut, written, share=1.0)

    persons = {word for word, kind in types.items() if kind == "person"}
    stories = [example.sentences for example in test]
    changes = {
        UNCHANGED: lambda example, random: example,
        "persons": unseen(persons),
        "things": unseen(types.keys() - persons),
        "long": LengthenStories(stories, TIMES, share=1.0, exact=True, tokenizer=cut),
        UNANSWERABLE: RemoveEvidence(words, cut),
        HALF_TOLD: RemoveEvidence(words, cut, half=True),
    }
    conditions = {}
    for name, change in changes.items():
        changed = [change(e, np.random.default_rng([n, 3])) for n, e in enumerate(test)]
        pairs = zip(changed, test, strict=True)
        kept = [new for new, old in pairs if name == UNCHANGED or new != old]
        if kept:
            conditions[name] = kept
    return conditions


def measure_conditions(model: Any, splits: Splits) -> dict[str, dict[str, float]]:
    """Scores a trained model under each condition, see `make_conditions`.

    Returns:
        By condition, `count`, `accuracy`, `calibration_error` and `answered`, the share of
        questions whose prediction is not "unknown".
    """
    conditions = {}
    for name, examples in make_conditions(splits).items():
        scores = evaluate(model, model.batches(examples), texts=True)
        silent = scores["predicted"].count(NO_ANSWER)
        if name in (UNANSWERABLE, HALF_TOLD):
            silent = scores["count"] - len(scores["wrong"])
        kept = ("count", "accuracy", "calibration_error")
        conditions[name] = {key: round(scores[key], 4) for key in kept}
        conditions[name]["answered"] = round(1 - silent / scores["count"], 4)
    return conditions
