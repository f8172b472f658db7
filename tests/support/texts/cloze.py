"""Cloze questions in the form of CNN's, simulated."""

import random

from keras_corefmem.datasets.passages import cnn

THINGS = ("milk", "apple", "football", "book", "lamp")
FILLERS = ("it was late .", "nobody spoke !", "who knew ?")


def simulate(count, seed=0, people=4):
    """Examples in which every entity takes a thing, and the question is who took one of them.

    Entities are numbered at random below `people`.
    """
    rng = random.Random(seed)
    examples = []
    for _ in range(count):
        markers = [f"@entity{number}" for number in rng.sample(range(people), people)]
        things = rng.sample(THINGS, people)
        sentences = [
            f"{marker} took the {thing} ." for marker, thing in zip(markers, things, strict=True)
        ]
        sentences.insert(rng.randrange(people + 1), rng.choice(FILLERS))
        sentences.insert(rng.randrange(people + 2), f"then {markers[0]} met {markers[1]} .")
        answer = rng.randrange(people)
        example = cnn.ClozeExample(
            tuple(sentences),
            f"the {things[answer]} was taken by @placeholder .",
            markers[answer],
            candidates=cnn.find_markers(" ".join(sentences)),
        )
        examples.append(example)
    return examples
