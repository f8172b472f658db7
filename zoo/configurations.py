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

MODELS = {
    f"{prefix}-{encoder.replace('_', '-')}": {**reader, "encoder": encoder}
    for prefix, reader in (("ga", GATED), ("as", SINGLE))
    for encoder in ENCODERS
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


def describe(name):
    """A line about a model."""
    _, arguments = configuration(name)
    return f"{READERS[name[:2]]} on {ENCODERS[arguments['encoder']]}"
