"""The named configurations of the zoo: plain data, no Keras."""

READERS = {"ga": "Gated-Attention Reader", "as": "Attention-Sum Reader"}
ENCODERS = {
    "gru": "plain GRUs, the baseline without structure",
    "one_hot": "GRUs that read chain numbers as one-hot vectors",
    "dag_rnn": "DAG-RNNs: one memory for all edges",
    "mage_gru": "MAGE-GRUs: a slice of memory per edge type",
    "mage_gru_shared": "MAGE-GRUs whose edge types share one output",
    "coref_gru": "Coref-GRUs: half of the memory comes from the antecedent",
}
GATED = {"class": "GatedAttentionReader", "layers": 3}
SINGLE = {"class": "AttentionSumReader"}

READER_MODELS = {
    f"{prefix}-{encoder.replace('_', '-')}": {**reader, "encoder": encoder}
    for prefix, reader in (("ga", GATED), ("as", SINGLE))
    for encoder in ENCODERS
}

# BiDAF of Cheng and Erk (2020): where it has self-attention, and what supervises it.
SIGNALS = {
    "dependency": "syntactic heads",
    "coref_all": "all mentions of the chain",
    "coref_previous": "the mention before",
    "coref_next": "the next mention",
    "narrative": "events of the same participants",
}
BIDAF = {"class": "BiDAFReader"}
EARLY = {**BIDAF, "self_attention": "early"}
BIDAF_MODELS = {
    "bidaf": (BIDAF, "BiDAF with GRUs"),
    "bidaf-sa-early": (EARLY, "BiDAF with early self-attention"),
    "bidaf-sa-late": ({**BIDAF, "self_attention": "late"}, "BiDAF with late self-attention"),
    "bidaf-sa-both": ({**BIDAF, "self_attention": "both"}, "BiDAF with self-attention twice"),
    **{
        f"bidaf-sa-early-{signal.replace('_', '-')}": (
            {**EARLY, "supervision": (signal,)},
            f"BiDAF with early self-attention, of which a head attends to {meaning}",
        )
        for signal, meaning in SIGNALS.items()
    },
    "bidaf-coref-gru": (
        {**BIDAF, "encoder": "coref_gru", "encoder_at": "modeling"},
        "BiDAF with Coref-GRUs behind the attention",
    ),
    "bidaf-sa-early-coref-all-coref-gru": (
        {**EARLY, "supervision": ("coref_all",), "encoder": "coref_gru", "encoder_at": "modeling"},
        "BiDAF with both kinds of coreference: a head that attends to mentions, and Coref-GRUs",
    ),
}

# Settings of Madotto and Attardi (2017) for CNN. What they call dropout is the share that is kept,
# their λ multiplies half the squares, and rates are constant.
SENT = {"class": "RecurrentEntityNetwork", "output_activation": "sigmoid", "slot_slopes": True}
WIND = {**SENT, "passages": "windows", "dropout": 0.5, "l2": 5e-5}
CLOZE_MODELS = {
    "ren-sent": (
        {**SENT, "slots": 20, "dropout": 0.3, "l2": 5e-5},
        {"learning_rate": 0.001, "halve_every": None, "batch_size": 128},
        "REN on sentences of cloze questions, as published for CNN",
    ),
    "qdren-sent": (
        {**SENT, "question_dependent": True, "slots": 10, "dropout": 0.8, "l2": 5e-4},
        {"learning_rate": 0.001, "halve_every": None, "batch_size": 64},
        "QDREN on sentences of cloze questions, as published for CNN",
    ),
    "ren-wind": (
        {**WIND, "slots": 50, "half_width": 5},
        {
            "learning_rate": 0.0001,
            "halve_every": None,
            "batch_size": 64,
            "optimizer": "rmsprop",
        },
        "REN on windows round entities, as published for CNN",
    ),
    "qdren-wind": (
        {**WIND, "question_dependent": True, "slots": 20, "half_width": 4},
        {"learning_rate": 0.01, "halve_every": None, "batch_size": 64, "optimizer": "rmsprop"},
        "QDREN on windows round entities, as published for CNN",
    ),
}

# Settings of Dhingra et al. (2018) for real text, of Dhingra et al. (2017) and Kadlec et al. (2016)
# for CNN, by data set and reader: arguments, and how it is trained. Rates halve every two epochs of
# the 709,568 examples of LAMBADA, and every epoch of the 380,298 of CNN.
LAMBADA = (
    {
        "units": 256,
        "embedding_dim": 100,
        "edge_units": 64,
        "order": "passage_first",
        "tokenizer": "spaces",
        "local": True,
    },
    {"learning_rate": 0.0005, "halve_every": 22_000, "batch_size": 64, "epochs": 10, "patience": 2},
)
WIKIHOP = (
    {
        "units": 64,
        "embedding_dim": 100,
        "max_words": 99_900,
        "unknown_types": 100,
        "characters": True,
        "asked": True,
        "joint": False,
        "tokenizer": "penn_lower",
    },
    {"learning_rate": 0.0005, "halve_every": 2500, "batch_size": 16, "epochs": 5, "patience": 2},
)
CNN = (
    {"units": 256, "embedding_dim": 100, "edge_units": 32, "joint": False},
    {"learning_rate": 0.0005, "halve_every": 12_000, "epochs": 10, "patience": 2},
)
# Settings of AllenNLP's BiDAF; those of Cheng and Erk (2020) are not published. Their rate halves
# when validation stops to improve.
BIDAF_LAMBADA = (
    {"embedding_dim": 100, "character_units": 100, "tokenizer": "spaces"},
    {
        "learning_rate": 0.001,
        "halve_every": 35_000,
        "clip_norm": 5.0,
        "batch_size": 40,
        "epochs": 10,
        "patience": 2,
    },
)
REAL_TEXT = {
    ("lambada", "bidaf"): BIDAF_LAMBADA,
    ("lambada", "ga"): LAMBADA,
    ("lambada", "as"): LAMBADA,
    ("wikihop", "ga"): WIKIHOP,
    ("wikihop", "as"): WIKIHOP,
    ("medhop", "ga"): WIKIHOP,
    ("medhop", "as"): WIKIHOP,
    ("cnn", "ga"): CNN,
    ("cnn", "as"): (
        {"units": 384, "embedding_dim": 384, "dropout": 0.0, "joint": False},
        {"learning_rate": 0.001, "halve_every": None, "epochs": 10, "patience": 2},
    ),
}

DMN_TRAINING = {
    "learning_rate": 0.002,
    "halve_every": 1500,
    "epochs": 150,
    "patience": 60,
    "buckets": 3,
}

# Memory networks and their baselines: class and arguments, how it is trained where that differs
# from `zoo.training.Settings`, a line. Comments say what the authors did.
STORY_MODELS = {
    # Adam, 0.01 halved every 25 epochs, as here.
    "ren": (
        {"class": "RecurrentEntityNetwork"},
        {"learning_rate": 0.01, "halve_every": 725, "epochs": 200, "patience": 50},
        "Recurrent entity network: a memory slot per entity",
    ),
    # Adam, 0.001, constant.
    "qdren": (
        {"class": "RecurrentEntityNetwork", "question_dependent": True, "dropout": 0.5},
        {"learning_rate": 0.005, "halve_every": 1500, "epochs": 200, "patience": 50},
        "Recurrent entity network whose gates depend on the question",
    ),
    "dmn": (
        {"class": "DynamicMemoryNetwork", "attention": "softmax", "l2": 0.001},
        DMN_TRAINING,
        "Dynamic memory network: gated episodes over facts, several passes",
    ),
    "dmn-supervised": (
        {
            "class": "DynamicMemoryNetwork",
            "attention": "softmax",
            "end_of_passes": True,
            "gate_loss": 1.0,
            "input_module": "fusion",
            "l2": 0.001,
        },
        DMN_TRAINING,
        "Dynamic memory network that is told which facts support an answer",
    ),
    "dmn-plus": (
        {
            "class": "DynamicMemoryNetwork",
            "attention": "attention_gru",
            "compact": True,
            "update": "relu",
            "input_module": "fusion",
            "l2": 1e-4,
        },
        DMN_TRAINING,
        "DMN+: fused sentences, softmax attention in the episode's GRU",
    ),
    # As here, from the sum over a batch to its mean; halved every 25 epochs after the linear start.
    "memn2n": (
        {"class": "EndToEndMemoryNetwork", "max_sentences": 50},
        {
            "optimizer": "sgd",
            "learning_rate": 0.16,
            "halve_every": 1000,
            "clip_norm": 1.25,
            "clip_each": True,
            "epochs": 150,
            "patience": 50,
            "buckets": 1,
        },
        "End-to-end memory network: several hops of attention over sentences",
    ),
    # As here; Adam does not find the paper's solutions of tasks 9, 11 and 14.
    "qrn": (
        {"class": "QueryReductionNetwork", "l2": 0.001},
        {
            "optimizer": "adagrad",
            "learning_rate": 0.5,
            "halve_every": 2900,
            "epochs": 400,
            "patience": 100,
            "buckets": 1,
        },
        "Query-reduction network: a question that changes with every sentence",
    ),
    "lstm": (
        {"class": "RecurrentReader"},
        {},
        "LSTM over the words of passage and question, the baseline without memory",
    ),
    "gru": (
        {"class": "RecurrentReader", "cell": "gru"},
        {},
        "GRU over the words of passage and question",
    ),
    "ngram": (
        {"class": "NGramClassifier"},
        {"learning_rate": 0.02, "halve_every": 600},
        "Linear classifier of the n-grams of sentences that share a word with the question",
    ),
    **CLOZE_MODELS,
}
# The same, for single sentences.
SENTENCE_MODELS = {
    "dmn-sentiment": (
        {"class": "SentenceDynamicMemoryNetwork"},
        {
            "learning_rate": 0.002,
            "halve_every": 1200,
            "batch_size": 256,
            "epochs": 8,
            "patience": 3,
            "buckets": 4,
        },
        "Dynamic memory network that classifies sentences: every word is a fact",
    ),
    "dmn-tagger": (
        {
            "class": "SentenceDynamicMemoryNetwork",
            "attention": "softmax",
            "compact": True,
            "lower_case": False,
            "min_count": 2,
            "units": 128,
            "word_dropout": 0.1,
        },
        {"learning_rate": 0.004, "halve_every": 1400, "epochs": 12, "patience": 3, "buckets": 4},
        "Dynamic memory network that tags words: every word has a memory",
    ),
}
_DESCRIBED = {**STORY_MODELS, **SENTENCE_MODELS}
MODELS = {
    **READER_MODELS,
    **{name: entry[0] for name, entry in (*BIDAF_MODELS.items(), *_DESCRIBED.items())},
}


def models():
    """Names of the zoo's models."""
    return sorted(MODELS)


def configuration(name):
    """The class name and the constructor arguments of a model.

    Raises:
        ValueError: if there is no such model.
    """
    if name not in MODELS:
        raise ValueError(f"There is no model {name!r}; choose one of {', '.join(models())}.")
    arguments = dict(MODELS[name])
    return arguments.pop("class"), arguments


def training_settings(name, dataset=None):
    """Fields of `zoo.training.Settings` that a model is trained with, unless told otherwise.

    Args:
        name: name of the model.
        dataset: name of the data set; on real text, readers are trained as published, with
            `arguments` of their own.
    """
    configuration(name)
    if name in _DESCRIBED:
        return dict(_DESCRIBED[name][1])
    arguments, settings = REAL_TEXT.get((dataset, name.partition("-")[0]), ({}, {}))
    return {**settings, "arguments": dict(arguments)} if arguments else {}


def describe(name):
    """A line about a model."""
    if name in _DESCRIBED:
        return _DESCRIBED[name][2]
    if name in BIDAF_MODELS:
        return BIDAF_MODELS[name][1]
    _, arguments = configuration(name)
    return f"{READERS[name[:2]]} on {ENCODERS[arguments['encoder']]}"
