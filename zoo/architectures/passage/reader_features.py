"""What the features of a reader must fulfil."""

import numpy as np

from keras_corefmem.preprocessing.reader_preprocessor import sequences
from keras_corefmem.utils.checks import check_positions
from zoo.architectures.passage.encoders import STRUCTURE


class ReadsStructure:
    """Makes a `TextModel` check chains, edges and candidates before it looks at them."""

    def id_counts(self):
        counts, config = super().id_counts(), self.config
        for part in ("passage", "question"):
            counts[f"{part}_chains"] = config["max_chains"] + 1
            counts[f"{part}_characters"] = config["num_characters"]
        counts |= {"candidates": config["num_answers"], "passage_asked": 3}
        return {name: count for name, count in counts.items() if name in self.features}

    def check_features(self, features):
        """Refuses, besides ids, edges that point forward or out of range."""
        super().check_features(features)
        edges = STRUCTURE[self.config["encoder"]]
        if not edges:
            return
        # Joint positions count from the start of what comes first.
        for parts in sequences(self.config["joint"], self.config.get("order", "passage_first")):
            names = [f"{part}_{edges}" for part in parts]
            joined = np.concatenate([features[name] for name in names], axis=1)
            check_positions(joined, f"{' and '.join(names)}: position")


def check_preprocessor(preprocessor, config):
    """Refuses a preprocessor that lays out features differently from the model.

    Raises:
        ValueError: naming the argument that differs.
    """
    names = ["joint", "order", "max_chains"]
    if preprocessor.local:
        names += ["head", "num_characters", "word_length"]
    for name in names:
        if getattr(preprocessor, name) != config[name]:
            raise ValueError(
                f"The preprocessor has {name}={getattr(preprocessor, name)!r}, the model "
                f"{config[name]!r}; give both the same."
            )
