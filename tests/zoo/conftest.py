import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from keras_corefmem.datasets import Example

STORY = (
    "Mary went to the kitchen.",
    "Zoë journeyed to the Küche.",
    "Mary took the milk there.",
    "田中 moved to the 東京 office.",
    "Sandra's dog is in the garden!",
)
EXAMPLES = [
    Example(STORY[:2], "Where is Mary?", "kitchen"),
    Example(STORY[:3], "Where is Zoë?", "Küche"),
    Example(STORY[:4], "Where is 田中?", "東京"),
    Example(STORY, "Where is the dog?", "garden"),
    Example(STORY, "What did Mary take?", "milk"),
]
ENTITIES = ("mary", "zoë", "田中", "sandra's", "dog", "milk", "kitchen", "küche", "東京", "garden")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def examples():
    """Five examples of one story, each with an answer of its own, some of them not in ASCII."""
    return EXAMPLES


@pytest.fixture(scope="session")
def texts():
    """Passages and questions of several lengths, with words that no example has."""
    return {
        "passage": [
            "MARY journeyed to the garden. Then Zoë took the milk to Mary. Mary left the kitchen.",
            "Zoë went to the KÜCHE",
            "The  ΣΊΣΥΦΟΣ dog\tmoved!!  Sandra's milk is in the 東京 office; the dog's not. dog",
            "Nobody, İstanbul.",
        ],
        "question": ["Where is Mary?", "Where is Zoë's milk, Zoë?", "dog", "Who is 田中 - Mary?"],
    }


@pytest.fixture(scope="session")
def make_reader():
    """Function that builds a tiny reader, its random weights large enough to tell answers apart."""
    # Here, since a controller of workers imports this file too.
    import keras

    from keras_corefmem.preprocessing import ReaderPreprocessor
    from zoo import AttentionSumReader, GatedAttentionReader

    def make(encoder="coref_gru", layers=1, tokenizer="words", spread=0.8, kind=None, **kwargs):
        keras.utils.set_random_seed(3)
        shared = {name: kwargs[name] for name in ("joint", "order", "max_chains") if name in kwargs}
        preprocessor = ReaderPreprocessor.fit(
            EXAMPLES, entity_words=ENTITIES, tokenizer=tokenizer, **shared
        )
        sizes = len(preprocessor.vocabulary), len(preprocessor.answers)
        options = {"units": 8, "edge_units": 3, "embedding_dim": 6, "preprocessor": preprocessor}
        options |= kwargs
        kind = kind or (AttentionSumReader if layers == 1 else GatedAttentionReader)
        reader = kind(*sizes, encoder, layers=layers, **options)
        if spread:
            random = np.random.default_rng(3)
            reader.set_weights([random.normal(0, spread, w.shape) for w in reader.get_weights()])
        return reader

    return make


@pytest.fixture(scope="session")
def run_python():
    """Function that runs code in a fresh process: JSON to `data`, JSON back from `result`."""

    def run(code, data, folder=ROOT, **environment):
        program = f"import json, sys\ndata = json.load(sys.stdin)\n{code}\n"
        program += "print('\\n' + json.dumps(result))"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            input=json.dumps(data),
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
