"""The attention layers' equations, one token at a time, in NumPy float64."""

import numpy as np

from tests.support.oracles.recurrence import sigmoid, softmax


def attention_head(x, mask, weights, head, sentences=None):
    """Attention `(time, time)` of one head and what it reads; masked rows are 0."""
    q, k, v = (
        np.array(
            [token @ weights[f"{n}_kernel"][:, head] + weights[f"{n}_bias"][head] for token in x]
        )
        for n in ("query", "key", "value")
    )
    attention = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        near = [j for j in range(len(x)) if sentences is None or sentences[i] == sentences[j]]
        near = [j for j in near if mask[j]]
        if mask[i]:
            attention[i, near] = softmax(np.array([q[i] @ k[j] for j in near]) / np.sqrt(len(q[i])))
    return attention, attention @ v


def self_attention(x, mask, weights, windows=(), sentences=None):
    """Outputs `(time, width)` and attention `(heads, time, time)` of one text."""
    count = weights["query_kernel"].shape[1]
    heads = [
        attention_head(x, mask, weights, h, sentences if h in windows else None)
        for h in range(count)
    ]
    outputs = sum(read @ weights["attention_output_kernel"][h] for h, (_, read) in enumerate(heads))
    outputs = (outputs + weights["attention_output_bias"]) * mask[:, None]
    return outputs, np.array([attention for attention, _ in heads])


def targets_of(pairs, mask, sentences=None):
    """The columns that each row should attend to, a set for each row."""
    wanted = [set() for _ in mask]
    for i, j in np.asarray(pairs) - 1:
        if not (0 <= i < len(mask) and 0 <= j < len(mask) and mask[i] and mask[j]):
            continue
        if sentences is None or sentences[i] == sentences[j]:
            wanted[i].add(j)
    return wanted


def attention_loss(attention, wanted, row_weight="count"):
    """Loss, attention on targets and number of rows with a target of one text and head."""
    loss = mass = rows = 0.0
    for row, columns in zip(attention, wanted, strict=True):
        if columns:
            hit = sum(row[j] for j in columns)
            loss -= np.log(hit) * (len(columns) if row_weight == "count" else 1)
            mass, rows = mass + hit, rows + 1
    return loss / max(rows, 1), mass, rows


def bidirectional_attention(context, query, context_mask, query_mask, kernel):
    """G of one text."""
    width = context.shape[1]
    best, asked = np.full(len(context), -np.inf), np.zeros(context.shape)
    for i, h in enumerate(context):
        scores = np.array([kernel[:, 0] @ np.concatenate([h, u, h * u]) for u in query])
        asked[i] = softmax(scores[query_mask]) @ query[query_mask]
        if context_mask[i]:
            best[i] = np.max(scores[query_mask])
    summary = softmax(best) @ context
    rows = [np.concatenate([h, a, h * a, h * summary]) for h, a in zip(context, asked, strict=True)]
    return np.array(rows).reshape(-1, 4 * width)


def highway(x, layers):
    """What `layers`, triples of kernel, bias and bias of the gate, make of vectors."""
    for kernel, bias, gate_bias in layers:
        candidate, gate = np.split(x @ kernel, 2, axis=-1)
        g = sigmoid(gate + gate_bias)
        x = g * x + (1 - g) * np.maximum(candidate + bias, 0)
    return x


def positions(time, width):
    """Sines, then cosines, of the position."""
    half = width // 2
    result = np.zeros((time, width))
    for t in range(time):
        for k in range(half):
            angle = t / 1e4 ** (k / max(half - 1, 1))
            result[t, k], result[t, half + k] = np.sin(angle), np.cos(angle)
    return result


def layer_norm(x, gamma, beta):
    deviation = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-6)
    return (x - x.mean(axis=-1, keepdims=True)) / deviation * gamma + beta


def attention_encoder(x, mask, weights, layers, windows=(), sentences=None):
    """States `(time, units)` of one text, and the attention of all heads by layer."""

    def dense(x, name):
        return x @ weights[name]["kernel"] + weights[name]["bias"]

    x = dense(x, "projection") if "projection" in weights else x
    x = layer_norm(x, **weights["input_norm"])
    x, every = x + positions(*x.shape), []
    for n in range(1, layers + 1):
        inner = dense(np.maximum(dense(x, f"inner_{n}"), 0), f"outer_{n}")
        x = layer_norm(x + inner, **weights[f"inner_norm_{n}"])
        own = {
            f"{part}_{name}": value
            for part, values in weights[f"attention_{n}"].items()
            for name, value in values.items()
        }
        near = [head for m, head in windows if m == n]
        read, attention = self_attention(x, mask, own, near, sentences)
        x = layer_norm(x + read, **weights[f"attention_norm_{n}"])
        every.append(attention)
    return x, every
