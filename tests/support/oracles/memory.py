"""The memory networks' equations, one sentence and one slot at a time, in NumPy float64."""

import numpy as np

from tests.support.oracles.recurrence import gru_step, sigmoid, softmax, unroll

ACTIVATIONS = {
    "prelu": lambda x, slopes: np.where(x > 0, x, slopes * x),
    "relu": lambda x, slopes: np.maximum(x, 0),
    "sigmoid": lambda x, slopes: sigmoid(x),
    "tanh": lambda x, slopes: np.tanh(x),
    "linear": lambda x, slopes: x,
}


def entity_memory(sentences, question, keys, mask, weights, activation):
    """Memory after every sentence of one text, `(time, slots, units)`, and gates."""
    memory, memories, gates = np.array(keys), [], []
    slopes = weights.get("alpha", np.zeros((1, 1)))
    for sentence, read in zip(sentences, mask, strict=True):
        gate, previous = np.zeros(len(keys)), np.array(memory)
        for j in range(len(keys)):
            if not read:
                continue
            score = sentence @ previous[j] + sentence @ keys[j] + weights["gates_bias"][j]
            gate[j] = sigmoid(score + (0 if question is None else sentence @ question))
            candidate = ACTIVATIONS[activation](
                previous[j] @ weights["memory_kernel"]
                + keys[j] @ weights["key_kernel"]
                + sentence @ weights["sentence_kernel"]
                + weights["bias"],
                slopes[j % len(slopes)],
            )
            raw = previous[j] + gate[j] * candidate
            memory[j] = raw / np.sqrt(np.sum(raw**2))
        memories.append(np.array(memory))
        gates.append(gate)
    return np.array(memories), np.array(gates)


def attention_gru(facts, attention, mask, weights, update_gate=True):
    """States of one sequence of facts."""
    units = weights["recurrent_kernel"].shape[0]
    h, states = np.zeros(units), []
    for fact, g, read in zip(facts, attention, mask, strict=True):
        if read:
            a = fact @ weights["kernel"] + weights["bias"]
            b = h @ weights["recurrent_kernel"]
            r = sigmoid(a[:units] + b[:units])
            candidate = np.tanh(a[-units:] + r * b[-units:])
            z = sigmoid(a[units:-units] + b[units:-units]) if update_gate else 1.0
            h = (1 - g * z) * h + g * z * candidate
        states.append(h)
    return np.array(states)


def episodic_memory(facts, question, mask, weights, passes, attention, compact, update):
    """Memory and gates `(passes, time)` of one text; weights are nested by layer."""
    memory, every = question, []
    for n in range(1, passes + 1):
        scores = []
        for fact in facts:
            z = [fact * question, fact * memory, abs(fact - question), abs(fact - memory)]
            if not compact:
                similar = weights["similarity"]
                bilinear = [[fact @ similar @ question], [fact @ similar @ memory]]
                z = [fact, memory, question, *z, *bilinear]
            hidden = weights["gate_hidden"]
            hidden = np.tanh(np.concatenate(z) @ hidden["kernel"] + hidden["bias"])
            scores.append((hidden @ weights["gate_score"]["kernel"])[0])
        scores = np.array(scores) + weights["gate_score"]["bias"][0]
        scores[~mask] = -1e9
        g = sigmoid(scores) if attention == "gated" else softmax(scores)
        every.append(g)
        if attention == "softmax":
            episode = g @ facts
        else:
            episode = attention_gru(facts, g, mask, weights["episode"], attention == "gated")[-1]
        if update == "gru":
            step = weights["memory"]
            memory = gru_step(episode, memory, memory, step)
        else:
            step = weights[f"memory_{n}"]
            joined = np.concatenate([memory, episode, question])
            memory = np.maximum(joined @ step["kernel"] + step["bias"], 0)
    return memory, np.array(every)


def query_reduction(sentences, queries, mask, weights, reset, update_bias=-2.5):
    """States of one text forward and backward, and its gates."""
    gates, added = [], []
    for x, q in zip(sentences, queries, strict=True):
        scores = (x * q) @ weights["gate_kernel"] + weights["gate_bias"]
        gates.append(sigmoid(scores[0] + update_bias))
        candidate = np.tanh(np.concatenate([q, x]) @ weights["kernel"] + weights["bias"])
        added.append(gates[-1] * (sigmoid(scores[1]) if reset else 1.0) * candidate)

    def step(t, previous, states):
        return added[t] + (1 - gates[t]) * previous

    units = len(weights["bias"])
    return [unroll(step, added, mask, units, reverse) for reverse in (False, True)], gates


def position_factor(j, k, length, units):
    """Section 4.1 of Sukhbaatar et al., counted from 1."""
    return (1 - j / length) - (k / units) * (1 - 2 * j / length)
