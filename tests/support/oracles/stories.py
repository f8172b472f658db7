"""The memory networks from token ids to logits, sentence by sentence, in NumPy float64."""

import zlib

import keras
import numpy as np

import zoo
from tests.support.conformance.evaluation import JIT, nested
from tests.support.oracles import memory as memory_oracles
from tests.support.oracles import recurrence as oracles

VOCABULARY, ANSWERS, WORDS, TIME, UNITS = 12, 5, 6, 5, 4
SENTENCES = (5, 3, 1, 4, 5, 2, 4, 5)
BATCH = len(SENTENCES)


def stories():
    """Features of stories, with padding behind words, sentences and questions."""
    rng = np.random.default_rng(1)
    tokens = rng.integers(1, VOCABULARY, (BATCH, TIME + 1, WORDS))
    tokens *= np.arange(WORDS) < rng.integers(1, WORDS + 1, (BATCH, TIME + 1, 1))
    sentences, question = tokens[:, :TIME], tokens[:, TIME]
    sentences *= (np.arange(TIME) < np.array(SENTENCES)[:, None])[..., None]
    features = {"sentences": sentences, "question": question}
    features["supporting_facts"] = np.zeros((BATCH, 1), "int32")
    return {name: array.astype("int32") for name, array in features.items()}


def make(model_class, spread=0.8, **options):
    """A tiny model; random weights are the same where path and shape are. No spread: as made."""
    keras.utils.set_random_seed(0)
    model = model_class(VOCABULARY, ANSWERS, WORDS, **{"units": UNITS, **options})
    model.compile(jit_compile=JIT)
    if spread:
        for path, variable in paths(model).items():
            rng = np.random.default_rng((0, zlib.crc32(path.encode())))
            variable.assign(rng.normal(0, spread, variable.shape))
    return model


def paths(model):
    """Trainable variables by path; Keras numbers those layers that have no name."""
    found = {}
    for variable in model.trainable_variables:
        parts = variable.path.split("/")
        parts = ["activation" if part.startswith("p_re_lu") else part for part in parts]
        found["/".join(parts)] = variable
    assert len(found) == len(model.trainable_variables)
    return found


def values_of(model):
    return {path: keras.ops.convert_to_numpy(v) for path, v in paths(model).items()}


def run(model, values):
    """Logits and attention `(batch, time, columns)` of all stories, from weights by path."""
    weights, results, features = nested(values), [], stories()
    for sentences, question in zip(features["sentences"], features["question"], strict=True):
        logits, *attention = ORACLES[type(model)](weights, model.config, sentences, question)
        # The unknown answer is never the best.
        logits = np.array(logits) - 100.0 * (np.arange(ANSWERS) == 0)
        results.append((logits, *attention))
    return tuple(np.stack(arrays) for arrays in zip(*results, strict=True))


def assert_equations(model):
    """Compares logits and attention of all stories with the oracle; returns both as expected."""
    expected = run(model, values_of(model))
    found = [array for array in model.inspect(stories()) if array is not None]
    for array, wanted in zip(found, expected, strict=True):
        assert array.dtype == np.float32
        np.testing.assert_allclose(array, wanted, atol=1e-4, rtol=0)
    return expected


def encode(tokens, table, factors):
    """`Σ_j f_j ⊙ e_j` over the words that are not padding."""
    total = np.zeros(table.shape[1])
    for token, factor in zip(tokens, factors, strict=True):
        if token:
            total = total + factor * table[token]
    return total


def position_factors(units):
    """`l_jk` of Sukhbaatar et al., Section 4.1."""
    places = np.arange(1, WORDS + 1)[:, None], np.arange(1, units + 1)
    return memory_oracles.position_factor(*places, WORDS, units)


def recurrent_entity_network(weights, config, sentences, question):
    table = weights["word_embedding"]["embeddings"]
    cell = dict(weights["entity_memory"]["cell"])
    cell.setdefault("gates_bias", np.zeros(config["slots"]))
    cell |= cell.get("activation", {})
    keys = table[config["entity_tokens"]] if config["entity_tokens"] else cell["keys"]
    story = [encode(tokens, table, weights["sentence_mask"]["factors"]) for tokens in sentences]
    asked = encode(question, table, weights["question_mask"]["factors"])
    opening = asked if config["question_dependent"] else None
    read = sentences.any(axis=-1)
    memory, gates = memory_oracles.entity_memory(
        story, opening, keys, read, cell, config["activation"]
    )
    slots = memory[-1]
    p = oracles.softmax(np.array([asked @ slot for slot in slots]))
    module = weights["output_module"]
    # Slopes of its own, or else those of the memory.
    slopes = {**cell, **module.get("activation", {})}.get("alpha", [None])[0]
    activation = memory_oracles.ACTIVATIONS[config["output_activation"] or config["activation"]]
    y = activation(asked + p @ slots @ module["kernel"], slopes)
    return y @ weights["answer"]["kernel"], gates


def dynamic_memory_network(weights, config, sentences, question):
    table = weights["word_embedding"]["embeddings"]
    read = sentences.any(axis=-1)
    if config["input_module"] == "words":
        flat = sentences.reshape(-1)
        states = oracles.gru(table[flat], flat != 0, weights["input_gru"]["forward"])
        facts = states[WORDS - 1 :: WORDS]
    else:
        factors = position_factors(table.shape[1])
        story = np.array([encode(tokens, table, factors) for tokens in sentences])
        both = weights["fusion"]
        facts = oracles.gru(story, read, both["forward"])
        facts = facts + oracles.gru(story, read, both["backward"], reverse=True)
    asked = oracles.gru(table[question], question != 0, weights["question_gru"]["forward"])[-1]
    memory, gates = episodes(weights["episodic_memory"], config, facts, asked, read)
    answer = weights["answer"]
    if config["answer_length"] == 1:
        return np.concatenate([memory, asked]) @ answer["kernel"] + answer["bias"], gates.T
    said, logits = np.zeros(ANSWERS), []
    for _ in range(config["answer_length"]):
        memory = oracles.gru_step(np.concatenate([said, asked]), memory, memory, answer["gru"])
        logits.append(memory @ answer["output"]["kernel"] + answer["output"]["bias"])
        said = oracles.softmax(logits[-1])
    return logits, gates.T


def episodes(weights, config, facts, asked, read):
    """The memory, and gates `(passes, time)`: none behind a pass that ends the reading."""
    names = ("attention", "compact", "update")
    options = {name: config[name] for name in names}
    if config["end_of_passes"]:
        facts = np.concatenate([facts, weights["end_of_passes"][0]])
        read = np.append(read, True)
    memory, gates = asked, np.zeros((config["passes"], len(facts)))
    for n in range(config["passes"]):
        # As many passes again, and one more.
        new, every = memory_oracles.episodic_memory(facts, asked, read, weights, n + 1, **options)
        gates[n] = every[-1]
        if config["end_of_passes"] and gates[n].argmax() == len(facts) - 1:
            break
        memory = new
    return memory, gates


def query_reduction_network(weights, config, sentences, question):
    table = weights["word_embedding"]["embeddings"]
    factors, read = position_factors(table.shape[1]), sentences.any(axis=-1)
    x = [encode(tokens, table, factors) for tokens in sentences]
    queries, opened = [encode(question, table, factors)] * len(x), []
    for n in range(1, config["layers"] + 1):
        layer = weights[f"query_reduction_{1 if config['tied'] else n}"]["cell"]
        last, bias = n == config["layers"], config["update_bias"]
        (forward, backward), gates = memory_oracles.query_reduction(
            x, queries, read, layer, not last, bias
        )
        queries = forward if last else forward + backward
        opened.append(np.where(read, gates, 0))
    return queries[-1] @ weights["answer"]["kernel"], np.stack(opened, axis=-1)


def end_to_end_memory_network(weights, config, sentences, question, linear=False):
    memory, hops = weights["memory"], config["hops"]
    factors, read = 2 * position_factors(config["units"]), np.flatnonzero(sentences.any(axis=-1))

    def told(n, i):
        place = min(len(read) - 1 - i, config["max_sentences"] - 1)
        return encode(sentences[i], memory[f"embedding_{n}"], factors) + memory[f"time_{n}"][place]

    state, attention = encode(question, memory["embedding_0"], factors), np.zeros((TIME, hops))
    for hop in range(hops):
        p = np.array([told(hop, i) @ state for i in read])
        if not linear:
            p = np.exp(p) / (np.exp(p).sum() + max(0, config["max_sentences"] - len(read)))
        attention[read, hop] = p
        state = state + sum(p[i] * told(hop + 1, i) for i in read)
    size, rows = VOCABULARY, []
    for token in config["answer_tokens"]:
        # Answers that are no word have rows behind those of words.
        rows.append(size if token is None else token)
        size += token is None
    return memory[f"embedding_{hops}"][rows] @ state, attention


def lstm(vectors, weights):
    """The last state of an LSTM, whose gates are i, f, g and o."""
    h = c = np.zeros(len(weights["recurrent_kernel"]))
    for x in vectors:
        gates = x @ weights["kernel"] + h @ weights["recurrent_kernel"] + weights["bias"]
        i, f, g, o = np.split(gates, 4)
        c = oracles.sigmoid(f) * c + oracles.sigmoid(i) * np.tanh(g)
        h = oracles.sigmoid(o) * np.tanh(c)
    return h


def recurrent_reader(weights, config, sentences, question):
    """Reads all words in a row, whatever padding lies between them."""
    words = np.append(sentences, question)
    vectors = weights["word_embedding"]["embeddings"][words[words != 0]]
    if config["cell"] == "gru":
        state = oracles.gru(vectors, np.ones(len(vectors)), weights["gru"]["forward"])[-1]
    else:
        state = lstm(vectors, weights["lstm"]["lstm_cell"])
    return (state @ weights["answer"]["kernel"] + weights["answer"]["bias"],)


ORACLES = {
    zoo.RecurrentEntityNetwork: recurrent_entity_network,
    zoo.DynamicMemoryNetwork: dynamic_memory_network,
    zoo.QueryReductionNetwork: query_reduction_network,
    zoo.EndToEndMemoryNetwork: end_to_end_memory_network,
    zoo.RecurrentReader: recurrent_reader,
}
