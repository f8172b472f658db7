"""The models of the zoo, tiny, as the tests run them."""

import dataclasses
import functools
import itertools
import typing

import keras
import numpy as np

import zoo
from keras_corefmem import optimizers
from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.graphs import Structure
from tests.support.conformance.evaluation import JIT, QUICK, randomize
from tests.support.texts import cloze
from zoo.configs import configuration

STORIES = simulator.simulate(1, 24)
TAGS = {"The": "DT", "film": "NN", "is": "VBZ", "not": "RB", "Great": "JJ", "bad": "JJ"}
RANDOM = np.random.default_rng(0)
WORDS = [tuple(RANDOM.choice(list(TAGS), 2 + n % 9).tolist()) for n in range(24)]
LABELLED = [
    Sentence(words, "bad" if "bad" in words else "good" if "Great" in words else "so so")
    for words in WORDS
]
TAGGED = [Sentence(words, tuple(TAGS[word] for word in words)) for words in WORDS]
ASKED = {
    "passage": [STORIES[7].passage, "MARY went to the garden", STORIES[20].passage],
    "question": [STORIES[7].question, "Where is Mary?", "Where is Zoë"],
}
# Questions for lists, whose answers are sequences of words.
LISTS = simulator.simulate(8, 24)
CARRIED = {
    "passage": [LISTS[7].passage, "MARY got the milk", LISTS[20].passage],
    "question": [LISTS[7].question, "What is Mary carrying?", "What is Zoë carrying?"],
}
CLOZE = cloze.simulate(24)
NEWS = {
    "passage": [CLOZE[7].passage, "it was @ENTITY1", CLOZE[20].passage],
    "question": [CLOZE[7].question, "@placeholder was late", "Zoë and @placeholder took it"],
}
ALONE = {"sentence": ["GREAT film is bad isn't Great is", "the zoë film", "film"]}
# Questions whose passages hold their own answers, and chains that only the annotation knows.
NAMES = ("mary", "john", "sandra", "daniel", "bill", "fred")
MENTIONS = np.array([[0, 0], [0, 2], [0, 5], [1, 7], [1, 8]])
ANNOTATED = [
    AnnotatedExample(
        (f"{one} was late .", f"then {other} , tired{' and cold' * (n % 3)} , saw the house ."),
        "and home went",
        one,
        chain_ids=(1, 0, 0, 0, 0, 2, *[0] * (7 + 2 * (n % 3)), 0, 0, 1 + n % 2),
        structure=Structure(
            np.array([1, 1, 1, 1, 5, 8, 5, 5, 8]), MENTIONS[n % 2 :], np.array([[1, 0], [8, 5]])
        ),
    )
    for n, (one, other) in enumerate(itertools.permutations(NAMES, 2))
][:24]
# Edges of a user's own type, in both directions and into the question.
TYPED = [
    dataclasses.replace(e, edges=((5, 1, "near"), (1, 7, "near"), (2, 7, "near"), (6, 15, "near")))
    for e in ANNOTATED
]
SPANS = [
    dataclasses.replace(example, candidates=("the house", example.answer, "was late"))
    for example in ANNOTATED
]
UNSEEN = {
    "passage": ["MARY was late . then zoë saw MARY .", "the house", ANNOTATED[20].passage],
    "question": ["and home went", "late", "zoë went"],
}
SMALL = {"units": 6, "edge_units": 2, "embedding_dim": 6, "buckets": 512}
RETRIEVE = {"retrieve": 4, "retrieve_hops": 2}
SPELT = {"characters": True, "word_length": 4}
BIDAF = {"heads": 2, "inner_units": 8, "early_layers": 1, **SPELT, "character_units": 4}
STORIES_READ = ("ren", "qdren", "dmn", "dmn-supervised", "dmn-printed", "dmn-plus", "memn2n")
STORIES_READ += ("qrn", "lstm", "gru", "ngram")
# Each reads in another way.
READERS = {
    **{f"ga-{encoder}": {"layers": 2} for encoder in ("gru", "one-hot", "dag-rnn", "mage-gru")},
    "ga-mage-gru-shared": {
        **{"layers": 2, "carry": "previous"},
        "edge_types": ("coreference", "person", "place"),
    },
    "ga-coref-gru": {"layers": 2, "answer_head": "classification"},
    "as-gru": {"answer_head": "classification", "joint": False},
    "as-one-hot": {"max_chains": 3, "answer_head": "pointer_or_class"},
    "as-dag-rnn": {"order": "passage_first"},
    "as-mage-gru": {"joint": False, "carry": "gathered"},
    "as-mage-gru-shared": {"answer_head": "classification", "order": "passage_first"},
    "as-coref-gru": {},
}


class Case(typing.NamedTuple):
    """A model, what it learns from, and what it reads."""

    model: str
    examples: list = STORIES
    texts: dict = ASKED  # by the names of its strings; "zoë" is no word of the examples
    options: dict = {}  # arguments that differ from the model's configuration
    spread: float = 0.4  # deviation of random weights, large enough to tell examples apart


CASES = {
    **{name: Case(name, options=options, spread=0.8) for name, options in READERS.items()},
    **{name: Case(name) for name in STORIES_READ},
    **{
        name: Case(name, CLOZE, NEWS)
        for name in ("ren-sent", "qdren-sent", "ren-wind", "qdren-wind")
    },
    "ga-coref-gru-words": Case(
        "ga-coref-gru", ANNOTATED, UNSEEN, {"layers": 2, "min_count": 8, "unknown_types": 5}, 0.8
    ),
    "as-mage-gru-spans": Case(
        "as-mage-gru",
        SPANS,
        UNSEEN,
        {"characters": True, "word_length": 4, "question_overlap": True},
        0.8,
    ),
    "ga-mage-gru-typed": Case(
        "ga-mage-gru",
        TYPED,
        UNSEEN,
        {
            **{"layers": 2, "carry": "mixed", "edge_attention": True, "order": "random"},
            "edge_types": ("coreference", "near", "near^-1"),
            "edge_units": (1, 2, 1),
        },
        0.8,
    ),
    "bidaf-mage-gru": Case(
        "bidaf",
        ANNOTATED,
        UNSEEN,
        {
            **{"encoder": "mage_gru", "characters": False, "carry": "mixed", "edge_units": 1},
            "edge_types": ("coreference", "dependency", "role", "narrative"),
        },
        0.8,
    ),
    "bidaf-supervised": Case(
        "bidaf-sa-both",
        SPANS,
        UNSEEN,
        {
            **BIDAF,
            "encoder": "coref_gru",
            "encoder_at": "modeling",
            "supervision": ("coref_all", ("dependency", "early"), ("roles", "late")),
            "unknown_types": 3,
        },
        2.0,
    ),
    # Any model of stories may have a retrieval in front.
    **{f"{name}-retrieving": Case(name, options=RETRIEVE) for name in ("dmn-plus", "memn2n")},
    "dmn-lists": Case("dmn", LISTS, CARRIED),
    "dmn-sentiment": Case("dmn-sentiment", LABELLED, ALONE),
    "dmn-sentiment-spelt": Case(
        "dmn-sentiment", LABELLED, ALONE, {"bidirectional": False, "passes": 1, **SPELT}
    ),
    "character-lm": Case(
        "character-lm", TAGGED, ALONE, {"filters": 4, "filter_widths": (1, 2), "word_length": 4}
    ),
    "dmn-tagger": Case("dmn-tagger", TAGGED, ALONE, {"min_count": 1}),
    "dmn-tagger-gated": Case(
        "dmn-tagger", TAGGED, ALONE, {"attention": "gated", "compact": False, **SPELT}
    ),
}
# Readers with the encoder of another one.
TWINS = {"ga-gru", "ga-one-hot", "ga-dag-rnn", "as-mage-gru", "ga-mage-gru-shared", "ga-coref-gru"}
# One of each architecture: the others differ in arguments that compile to the same.
ALIKE = {"dmn", "ren-sent", "qdren-sent", "ren-wind", "dmn-sentiment-spelt", *TWINS}
ALIKE |= {"dmn-plus-retrieving", "memn2n-retrieving", "dmn-tagger-gated"}
DISTINCT = [name for name in CASES if name not in ALIKE]
# Readers compile long: where that is most of a test, it is for one of each encoder.
WITHOUT_TWINS = [name for name in CASES if name not in TWINS]
# One of every class, head, loss and kind of text, for what layers have no part in, or have tests
# of their own for.
RELATED = {"as-dag-rnn", "as-mage-gru-shared", "ren", "dmn", "dmn-plus", "gru", "ren-sent"}
RELATED |= {"qdren-sent", "ren-wind", "memn2n-retrieving", "dmn-sentiment-spelt"}
RELATED |= {"dmn-tagger-gated"}
OF_EVERY_KIND = [name for name in WITHOUT_TWINS if name not in RELATED]


def make(name, spread=None, **options):
    keras.utils.set_random_seed(3)
    case = CASES[name]
    spread = case.spread if spread is None else spread
    configured = configuration(case.model)
    model_class = getattr(zoo, configured.class_name)
    small = {key: size for key, size in SMALL.items() if key in model_class.arguments()}
    arguments = {**configured.arguments, **small, **case.options, **options}
    model = model_class.from_examples(case.examples, **arguments)
    model.compile(jit_compile=JIT)
    if spread:
        randomize(model, np.random.default_rng(3), spread)
    return model


@functools.cache
def shared(name):
    return make(name)


def features_of(model, examples, length=16, question_length=4):
    """The features that a model reads of examples, in one batch."""
    encoded = [model.preprocessor.encode(example) for example in examples]
    sizes = len(encoded), length, question_length
    return model.preprocessor.collate(encoded, *sizes, model.features)


def losses_of(model, examples, steps=3):
    """Losses of steps on one batch, without noise; all but the first depend on the updates too."""
    for layer in model._flatten_layers():
        for noise in ("rate", "time_noise"):
            if hasattr(layer, noise):
                setattr(layer, noise, 0.0)
    model.compile(optimizers.SGD(0.1, global_clipnorm=1.0), **QUICK)
    features, answers, weights = model.batches(examples[:8], 8)[0]
    return [float(model.train_on_batch(features, answers, weights)[0]) for _ in range(steps)]


class Counted(zoo.QueryReductionNetwork):
    """A subclass whose layers have the names that Keras counts."""

    @staticmethod
    def read_story(sentences, question, read, config):
        vectors = keras.layers.Embedding(config.vocabulary_size, 4)(question)
        for _ in range(12):
            vectors = keras.layers.Dense(4)(vectors)
        return keras.layers.Dense(config.num_answers)(vectors[:, 0]), None
