"""The layers' equations, one token at a time, in NumPy float64.

Weights are dictionaries by name, which may hold `activation`, `recurrent_activation`,
`initial_state` and `recurrent_mask` too. Masked tokens keep the state of the token read before.
"""

import numpy as np


def sigmoid(x):
    return (1 + np.tanh(x / 2)) / 2


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def incoming(sources, reverse):
    """The edges read at every token, `(type, position)`; backward, those that leave the token."""
    edges = [[] for _ in sources]
    for target, row in enumerate(sources):
        for kind, positions in enumerate(row):
            for position in positions[positions > 0]:
                reader, source = (position - 1, target) if reverse else (target, position - 1)
                edges[reader].append((kind, source))
    return edges


def unroll(step, x, mask, units, reverse, start=None):
    """States of one sequence; `step(t, previous, states)` gives the state of token `t`."""
    states, previous = np.zeros((len(x), units)), np.zeros(units) if start is None else start
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        if mask[t]:
            previous = step(t, previous, states)
        states[t] = previous
    return states


def products(x, gathered, weights):
    """The projected input and the recurrent product."""
    read = gathered * weights.get("recurrent_mask", 1)
    return x @ weights["kernel"] + weights.get("bias", 0), read @ weights["recurrent_kernel"]


def gru_step(x, gathered, carry, weights):
    units, (a, b) = len(carry), products(x, gathered, weights)
    inner = weights.get("recurrent_activation", sigmoid)
    r, z = np.split(inner(a[: 2 * units] + b[: 2 * units]), 2)
    candidate = weights.get("activation", np.tanh)(a[2 * units :] + r * b[2 * units :])
    return (1 - z) * carry + z * candidate


def gru(x, mask, weights, reverse=False):
    """A plain GRU over one sequence."""

    def step(t, previous, states):
        return gru_step(x[t], previous, previous, weights)

    return unroll(step, x, mask, len(weights["recurrent_kernel"]), reverse)


def coref_gru(x, antecedents, mask, weights, reverse=False):
    """Coref-GRU over one sequence; backward, a token sums what all its successors give."""
    units = weights["recurrent_kernel"].shape[0]
    half = units // 2
    edges = incoming(antecedents[:, None, None], reverse)

    def step(t, previous, states):
        share = softmax(x[t] @ weights["keys"])[0] if edges[t] else 1.0
        coreferent = sum((states[s, half:] for _, s in edges[t]), np.zeros(half))
        m = np.concatenate([share * previous[:half], (1 - share) * coreferent])
        return gru_step(x[t], m, m, weights)

    return unroll(step, x, mask, units, reverse, weights.get("initial_state"))


def dag_rnn(x, sources, mask, weights, reverse=False):
    """DAG-RNN over one sequence."""
    edges = incoming(sources, reverse)

    def step(t, previous, states):
        total = previous + sum(states[s] for _, s in edges[t])
        return weights.get("activation", np.tanh)(sum(products(x[t], total, weights)))

    units, start = len(weights["recurrent_kernel"]), weights.get("initial_state")
    return unroll(step, x, mask, units, reverse, start)


def edge_shares(x, t, edges, weights):
    """Shares of the sequential edge and of `edges` at token `t`."""
    reader = x[t] @ weights["reader_keys"]
    scores = [reader[1 + kind] + x[s] @ weights["source_keys"][:, kind] for kind, s in edges]
    shares = softmax(np.array([reader[0], *scores]))
    return shares[0], shares[1:]


def mage_gru(x, sources, mask, weights, units, carry, shared, edge_attention, reverse=False):
    """MAGE-GRU over one sequence."""
    edges = incoming(sources, reverse)
    ends = np.cumsum(units)
    total = ends[-1]
    if shared:
        slices = [slice(0, total)] * len(units)
    else:
        slices = [slice(end - width, end) for end, width in zip(ends, units, strict=True)]

    def step(t, previous, states):
        sequential, shares = 1.0, np.ones(len(edges[t]))
        if edge_attention:
            sequential, shares = edge_shares(x, t, edges[t], weights)
        parts = [sequential * previous[slices[0]]]
        for kind, part in enumerate(slices[1:]):
            read = [
                w * states[s, part] for (k, s), w in zip(edges[t], shares, strict=True) if k == kind
            ]
            parts.append(sum(read, np.zeros(part.stop - part.start)))
        gathered = np.concatenate(parts)
        kept = gathered
        if shared:
            # Attention gives a weighted mean already.
            kept = sum(parts) / (1 if edge_attention else 1 + len(edges[t]))
        if carry == "previous":
            kept = previous
        elif carry == "mixed":
            c = sigmoid(x[t] @ weights["carry_kernel"] + weights["carry_bias"])
            kept = c * kept + (1 - c) * previous
        return gru_step(x[t], gathered, kept, weights)

    return unroll(step, x, mask, total, reverse, weights.get("initial_state"))


def gated_attention(document, question, mask):
    """Gated attention of one document."""
    rows = [token * (softmax(question[mask] @ token) @ question[mask]) for token in document]
    return np.stack(rows)


def attention_sum(document, query, mentions):
    """Probability of every candidate of one document from `mentions`, `(time, candidates)`."""
    weights = np.exp(document @ query) @ mentions
    return weights / weights.sum()


def character_cnn(word, kernels, bias, activation):
    """What convolutions of some widths make of one word, `(characters, features)`."""
    if not len(word):
        return np.zeros(len(bias))
    largest = []
    for kernel in kernels:
        width = len(kernel) // word.shape[1]
        edge = np.zeros((width - 1, word.shape[1]))
        padded = np.concatenate([edge, word, edge])
        windows = [padded[p : p + width].ravel() @ kernel for p in range(len(word) + width - 1)]
        largest.append(np.max(windows, axis=0))
    return activation(np.concatenate(largest) + bias)
