"""Random strings: a SavedModel answers them as `read` does, and nothing where that refuses them."""

import itertools
import os
import random
import warnings

import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import simulator
from tests.support.tiers import standing_for

# An hour of fuzzing draws no fewer strings than were promised.
FUZZ = int(os.environ.get("COREFMEM_FUZZ", 0))
# More answers than a passage has: several may be as likely as the best.
MANY = 100
COUNT = max(1000, FUZZ) if FUZZ else 20
TOKENIZERS = ("words", "penn", "penn_lower", "prose", "spaces", "unicode_script")
KINDS = {
    "types": {"unknown_types": 3},
    "symbols": {"free_symbols": 3},
    "local": {"local_answers": True},
}
PIECES = (
    *("mary", "john", "kitchen", "where", "is", "Mr.", "'s", "n't", "a", "9.5", "-LRB-"),
    *("[unknown]", "[unknown 2]", "[symbol 1]", "[rare]", "_", ".", "?", "!", "--", "…", "“", "''"),
    *(" ", "  ", "\t", "\n", "\xa0", "\x85", "\u2028", "\x00", "\x1c", "\xad", "\u0301", "\u200b"),
    *("\ufeff", "\ue000", "İ", "Σ", "ß", "Ж", "猫", "🙂", "\U000135e9", "\U00032f6b"),
)


def any_text(rng):
    drawn = (rng.choice(PIECES) if rng.random() < 0.85 else any_character(rng) for _ in range(13))
    return "".join(itertools.islice(drawn, rng.randrange(14)))


def any_character(rng):
    return chr(rng.choice((rng.randrange(0xD800), rng.randrange(0xE000, 0x110000))))


def refused(model, passage, question):
    try:
        model.preprocessor.encode_text(passage, question)
    except ValueError:
        return True
    return False


def best_of(reading):
    """The best answer, and those as likely but for rounding."""
    pairs = zip(reading.answers, reading.probabilities, strict=True)
    return [answer for answer, odds in pairs if odds > reading.probability - 1e-5]


# Each tokenizer once, and each way of reading unknown words with one that cuts at little.
CASES = [(name, "types" if name == "penn" else "local") for name in TOKENIZERS]
CASES += [("spaces", "types"), ("words", "symbols"), ("spaces", "symbols")]
KEPT = [("spaces", "types")]


@pytest.mark.parametrize("case", standing_for(CASES, KEPT), ids="-".join)
def test_a_saved_model_answers_random_strings_as_read_does(tmp_path, case):
    tokenizer, kind = case
    tf = pytest.importorskip("tensorflow")
    if tokenizer == "unicode_script":
        pytest.importorskip("tensorflow_text")
    options = {"tokenizer": tokenizer, "units": 4, "layers": 1, **KINDS[kind]}
    examples = simulator.simulate(1, 8)
    model = zoo.GatedAttentionReader.from_examples(examples, **options)
    weights = np.random.default_rng(3)
    model.set_weights([weights.normal(0, 0.8, w.shape) for w in model.get_weights()])
    model.temperature = 1.7
    zoo.export(model, tmp_path / "model", top=3, jit_compile=False)
    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    rng = random.Random(5)
    rows = [(any_text(rng), any_text(rng)) for _ in range(COUNT)]
    passages, questions = map(tf.constant, zip(*rows, strict=True))
    outputs = serve(passage=passages, question=questions)
    found = [answer.decode() for answer in outputs["answer"].numpy()]
    blank = [refused(model, *row) for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = [row for row, empty in zip(rows, blank, strict=True) if not empty]
        readings = iter(model.read(*map(list, zip(*read, strict=True)), top=MANY))
    for row, empty, answer, odds in zip(
        rows, blank, found, outputs["probability"].numpy(), strict=True
    ):
        reading = None if empty else next(readings)
        assert answer in (best_of(reading) if reading else [""]), row
        assert odds == pytest.approx(reading.probability if reading else 0, abs=1e-4), row
