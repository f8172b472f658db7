"""The readers of passages from token ids to logits, one text at a time, in NumPy float64."""

import numpy as np

from tests.support.conformance.evaluation import nested
from tests.support.oracles import attention as attention_oracles
from tests.support.oracles import recurrence as oracles
from tests.support.oracles.stories import values_of
from zoo.configs.widths import edge_widths

PARTS = ("passage", "question")
ACTIVATIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}


def run(model, row):
    """Logits, attention to the tokens, and that of supervised heads by signal, of one text.

    `row` has the features of the text alone, without padding.
    """
    config = {**model.config, **model.FIXED}
    oracle = bidaf if "self_attention" in config else reader
    logits, attention, *heads = oracle(nested(values_of(model)), config, row)
    # The unknown answer is never the best.
    return (logits - 100.0 * (np.arange(len(logits)) == 0), attention, *heads)


def embed(weights, config, row):
    """Vectors of the words of both parts."""
    vectors, table = {}, weights["word_embedding"]["embeddings"]
    for part in PARTS:
        columns = [table[row[part]]]
        if config["encoder"] == "one_hot":
            columns.append(np.eye(config["max_chains"] + 1)[row[f"{part}_chains"]][:, 1:])
        if config["num_characters"]:
            activation = ACTIVATIONS[config["character_activation"]]
            letters, cnn = weights["character_embedding"]["embeddings"], weights["character_cnn"]
            columns.append(
                [
                    oracles.character_cnn(
                        letters[ids[ids > 0]], [cnn["kernel_5"]], cnn["bias"], activation
                    )
                    for ids in row[f"{part}_characters"]
                ]
            )
        if config["question_overlap"]:
            # The question contains all of its own words.
            overlap = row["passage_asked"] if part == "passage" else np.ones(len(row[part]), int)
            columns.append(weights["asked_embedding"]["embeddings"][overlap])
        vectors[part] = np.concatenate(columns, axis=-1)
    return vectors


def encode(weights, config, encoder, x, links):
    """States of both directions."""
    mask, sizes = np.ones(len(x), bool), (config["edge_types"], config["edge_units"])

    def direction(name, reverse):
        own = weights[name]
        if encoder == "coref_gru":
            return oracles.coref_gru(x, links, mask, own, reverse)
        if encoder == "dag_rnn":
            return oracles.dag_rnn(x, links, mask, own, reverse)
        if encoder.startswith("mage_gru"):
            shared = encoder == "mage_gru_shared"
            # Only the number and the sum of shared widths matter.
            edges = [0] * len(sizes[0]) if shared else edge_widths(*sizes)
            widths = (config["units"] - sum(edges), *edges)
            options = {"edge_attention": config["edge_attention"], "reverse": reverse}
            return oracles.mage_gru(x, links, mask, own, widths, config["carry"], shared, **options)
        return oracles.gru(x, mask, own, reverse)

    both = [direction(name, name == "backward") for name in ("forward", "backward")]
    return np.concatenate(both, axis=-1)


def encode_parts(named, config, encoder, vectors, row, order=PARTS):
    """States of both parts, from the weights of one encoder for both, or of one for each."""
    structure = {"coref_gru": "antecedents", "gru": None, "one_hot": None}.get(encoder, "sources")
    links = {part: row[f"{part}_{structure}"] if structure else None for part in PARTS}
    if not config["joint"]:
        return {
            part: encode(named[part], config, encoder, vectors[part], links[part]) for part in PARTS
        }
    first, second = order
    joined = np.concatenate([vectors[part] for part in order])
    edges = np.concatenate([links[part] for part in order]) if structure else None
    states = encode(named["joint"], config, encoder, joined, edges)
    count = len(vectors[first])
    return {first: states[:count], second: states[count:]}


def reader(weights, config, row):
    """An Attention-Sum or Gated-Attention Reader."""
    vectors, count = embed(weights, config, row), config["layers"]
    leads = config["order"] == "passage_first" or np.any(row.get("passage_leads", 0))
    order = PARTS if leads else PARTS[::-1]
    for n in range(1, count + 1):
        number = min(n, 2) if config["tied"] else n
        names = {"joint": "encoder", **{part: f"{part}_encoder" for part in PARTS}}
        named = {part: weights.get(f"{name}_{number}") for part, name in names.items()}
        vectors = encode_parts(named, config, config["encoder"], vectors, row, order)
        passage, question = (vectors[part] for part in PARTS)
        if n < count and config["gated"]:
            every = np.ones(len(question), bool)
            vectors["passage"] = oracles.gated_attention(passage, question, every)
    query = np.append(question[-1, : config["units"]], question[0, config["units"] :])
    scores, head = passage @ query, config["answer_head"]
    if "class" in head:
        attention = oracles.softmax(scores)
        classes = attention @ passage @ weights["answer"]["kernel"] + weights["answer"]["bias"]
    if head == "classification":
        return classes, attention
    pointed, own = point(scores, row["candidates"], config["num_answers"])
    if head != "pointer_or_class":
        return pointed, own
    gate = weights["answer_gate"]
    g = oracles.sigmoid(query @ gate["kernel"] + gate["bias"])
    if not row["candidates"].any():
        g = 0.0
    return np.log(g * oracles.softmax(pointed) + (1 - g) * oracles.softmax(classes)), attention


def point(scores, candidates, count):
    """Logits of a pointer sum, and attention to the tokens that mention a candidate."""
    if candidates.ndim == 1:
        candidates = (candidates[:, None] == np.arange(count)) & (np.arange(count) > 0)
    sums = np.exp(scores - scores.max()) @ candidates
    mentioned = candidates.any(axis=1)
    attention = np.where(mentioned, np.exp(scores - scores.max()), 0)
    logits = np.full(count, -100.0)
    logits[sums > 0] = np.log(sums[sums > 0] / sums.max(initial=1e-300))
    return logits, attention / max(attention.sum(), 1e-300)


def bidaf(weights, config, row):
    """A BiDAF reader."""
    x = embed(weights, config, row)
    ways, shown = weights["highway"], {}
    layers = [[ways[f"{w}_{n}"] for w in ("kernel", "bias", "gate_bias")] for n in (1, 2)]
    x = {part: attention_oracles.highway(x[part], layers) for part in PARTS}
    contextual, modeling = (
        config["encoder"] if config["encoder_at"] == place else "gru"
        for place in ("contextual", "modeling")
    )

    def attend(place, x, sentences):
        """States, and the attention of supervised heads by signal."""
        heads = [(signal, n, head) for signal, at, n, head in config["supervision"] if at == place]
        windows = [(n, head) for signal, n, head in heads if signal == "dependency"]
        states, every = attention_oracles.attention_encoder(
            x,
            np.ones(len(x), bool),
            weights[f"{place}_attention"],
            config[f"{place}_layers"],
            windows,
            sentences,
        )
        return states, {signal: every[n - 1][head] for signal, n, head in heads}

    if config["self_attention"] in ("early", "both"):
        h, shown = attend("early", x["passage"], row.get("passage_sentences"))
        u, _ = attend("early", x["question"], np.ones(len(x["question"])))
    else:
        named = dict.fromkeys((*PARTS, "joint"), weights["encoder_contextual"])
        states = encode_parts(named, config, contextual, x, row)
        h, u = (states[part] for part in PARTS)
    masks = (np.ones(len(each), bool) for each in (h, u))
    g = attention_oracles.bidirectional_attention(
        h, u, *masks, weights["bidirectional_attention"]["kernel"]
    )
    g = attention_oracles.layer_norm(g, **weights["attention_norm"])
    if config["self_attention"] in ("late", "both"):
        g, late = attend("late", g, row.get("passage_sentences"))
        shown = {**shown, **late}
    m = g
    for n in (1, 2):
        structure = {"coref_gru": "antecedents", "gru": None}.get(modeling, "sources")
        links = row[f"passage_{structure}"] if structure else None
        m = encode(weights[f"modeling_{n}"], config, modeling, m, links)
    m = attention_oracles.layer_norm(m, **weights["modeling_norm"])
    scores = (np.concatenate([g, m], axis=-1) @ weights["score"]["kernel"])[:, 0]
    return *point(scores, row["candidates"], config["num_answers"]), shown
