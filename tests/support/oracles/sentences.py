"""The models of sentences from ids to logits, one sentence at a time, in NumPy float64."""

import numpy as np

import zoo
from tests.support.conformance.evaluation import nested
from tests.support.oracles import attention as attention_oracles
from tests.support.oracles import memory as memory_oracles
from tests.support.oracles import recurrence as oracles
from tests.support.oracles.stories import values_of


def run(model, row):
    """Logits and attention of one sentence, whose features have no padding."""
    logits, *attention = ORACLES[type(model)](nested(values_of(model)), model.config, row)
    # The unknown answer is never the best.
    return (logits - 100.0 * (np.arange(logits.shape[-1]) == 0), *attention)


def spell(weights, config, characters, activation):
    """What the characters of each word say."""
    letters, cnn = weights["character_embedding"]["embeddings"], weights["character_cnn"]
    kernels = [cnn[f"kernel_{width}"] for width in config["filter_widths"]]
    words = [letters[ids[ids > 0]] for ids in characters]
    return np.array([oracles.character_cnn(w, kernels, cnn["bias"], activation) for w in words])


def sentence_dynamic_memory_network(weights, config, row):
    x = weights["word_embedding"]["embeddings"][row["words"]]
    if config["num_characters"]:
        x = np.concatenate([x, spell(weights, config, row["characters"], np.tanh)], axis=-1)
    read, encoder = np.ones(len(x), bool), weights["input_gru"]
    ways = [oracles.gru(x, read, encoder["forward"])]
    if config["bidirectional"]:
        ways.append(oracles.gru(x, read, encoder["backward"], reverse=True))
    facts, question = np.concatenate(ways, axis=-1), weights["question"]["embeddings"][0]
    names = ("passes", "attention", "compact", "update")
    options = {name: config[name] for name in names}

    def label(count, last):
        """Logits, and attention `(words, passes)`, from the first facts."""
        memory, gates = memory_oracles.episodic_memory(
            facts[:count], question, read[:count], weights["episodic_memory"], **options
        )
        logits = np.append(memory, last) @ weights["answer"]["kernel"] + weights["answer"]["bias"]
        return logits, np.pad(gates.reshape(-1, count), ((0, 0), (0, len(facts) - count))).T

    if config["output"] == "class":
        ends = [ways[0][-1], *(way[0] for way in ways[1:])]
        return label(len(facts), np.concatenate(ends))
    words = [label(i, facts[i - 1]) for i in range(1, len(facts) + 1)]
    return tuple(map(np.array, zip(*words, strict=True)))


def character_language_model(weights, config, row):
    relu, highway, units = (lambda x: np.maximum(x, 0)), weights["highway"], config["units"]
    x = spell(weights, config, row["characters"], relu)
    x = attention_oracles.highway(x, [[highway[f"{n}_1"] for n in ("kernel", "bias", "gate_bias")]])
    x = x @ weights["projection"]["kernel"] + weights["projection"]["bias"]
    before = after = x
    read = np.ones(len(x), bool)
    for n in range(1, config["layers"] + 1):
        (forward,), (backward,) = (
            weights[f"{way}_{n}"].values() for way in ("forward", "backward")
        )
        before = before + oracles.gru(before, read, forward)
        after = after + oracles.gru(after, read, backward, reverse=True)
    nothing = np.zeros((1, units))
    around = [np.concatenate([nothing, before[:-1]]), np.concatenate([after[1:], nothing])]
    answer = weights["answer"]
    return (np.concatenate(around, axis=-1) @ answer["kernel"] + answer["bias"],)


ORACLES = {
    zoo.SentenceDynamicMemoryNetwork: sentence_dynamic_memory_network,
    zoo.CharacterLanguageModel: character_language_model,
}
