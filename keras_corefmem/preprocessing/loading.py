"""Preprocessors from configurations, also those of version 0.1."""

from typing import Any

import keras

from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.preprocessing.preprocessor import Preprocessor
from keras_corefmem.preprocessing.reader_preprocessor import ReaderPreprocessor
from keras_corefmem.preprocessing.sentence_preprocessor import SentencePreprocessor
from keras_corefmem.preprocessing.story_preprocessor import StoryPreprocessor
from keras_corefmem.preprocessing.window_preprocessor import WindowPreprocessor

# In version 0.1 a configuration was the plain arguments of a constructor; this one alone has it.
LEGACY: dict[str, type[Preprocessor]] = {
    "num_candidates": CandidatePreprocessor,
    "half_width": WindowPreprocessor,
    "sentence_length": StoryPreprocessor,
    "tags": SentencePreprocessor,
    "pointers": ReaderPreprocessor,
}


def get(preprocessor: Preprocessor | dict[str, Any] | None) -> Preprocessor | None:
    """Returns a preprocessor from what may stand for it.

    Args:
        preprocessor: a `Preprocessor`; what `keras.saving.serialize_keras_object` made of it; its
            plain `get_config()`, as files of version 0.1 hold it; or `None`.

    Raises:
        ValueError: if it is none of these.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 20)
        >>> first = keras_corefmem.preprocessing.StoryPreprocessor.fit(examples)
        >>> second = keras_corefmem.preprocessing.get(first.get_config())
        >>> type(second).__name__, second.answers == first.answers
        ('StoryPreprocessor', True)
    """
    if preprocessor is None or isinstance(preprocessor, Preprocessor):
        return preprocessor
    if isinstance(preprocessor, dict):
        if "class_name" in preprocessor:
            preprocessor = keras.saving.deserialize_keras_object(preprocessor)
            if isinstance(preprocessor, Preprocessor):
                return preprocessor
        else:
            for argument, cls in LEGACY.items():
                if argument in preprocessor:
                    return cls.from_config(preprocessor)
    raise ValueError(
        "preprocessor must be a keras_corefmem.preprocessing.Preprocessor, its configuration or "
        f"None; got {preprocessor!r:.80}."
    )
