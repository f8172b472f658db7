"""What edges of several types cost a reader, beside coreference alone.

    python benchmarks/edge_types.py            # two minutes on two cores
    python benchmarks/edge_types.py --quick    # short passages, not recorded

A Gated-Attention Reader of MAGE-GRUs in the sizes of the study `lambada-edges`, all with as many
units. Making a batch of encoded questions and training on it take turns with those of the others.
"""

import records

from keras_corefmem.utils.markdown import markdown_table

TYPES = "coreference", "dependency", "role", "narrative"
TOKENS, BATCH, WORDS, SHARE, EDGES = 100, 32, 2000, 0.3, 3
READERS = {
    "coreference": {"edge_types": TYPES[:1], "edge_units": 16, "max_sources": 1},
    "four types": {"edge_types": TYPES, "edge_units": [16, 8, 8, 8], "max_sources": EDGES},
}
READERS["four types, edge attention"] = READERS["four types"] | {"edge_attention": True}
FIRST = next(iter(READERS))


def make_examples(tokens, types):
    """Questions about passages of random words in chains, into which up to three edges lead."""
    import numpy as np

    from keras_corefmem.datasets import Example

    random, examples = np.random.default_rng(0), []
    for _ in range(BATCH):
        words = [f"w{number}" for number in random.integers(0, WORDS, tokens)]
        chains = random.integers(1, 14, tokens) * (random.random(tokens) < SHARE)
        edges = {
            (int(source), target, kind)
            for kind in types
            for target in range(2, tokens + 1)
            for source in random.integers(1, target, random.integers(0, EDGES + 1))
        }
        passage, question = (" ".join(part) for part in (words[:-8], words[-8:]))
        examples.append(
            Example((passage,), question, words[0], chains=chains.tolist(), edges=sorted(edges))
        )
    return examples


def make_steps(tokens):
    """Functions by name of the reader that make a batch, and that train on it."""
    from zoo import GatedAttentionReader

    steps = {}
    for name, options in READERS.items():
        types = options["edge_types"] if len(options["edge_types"]) > 1 else ()
        examples = make_examples(tokens, types)
        sizes = {"units": 64, "embedding_dim": 64, "layers": 2, "tokenizer": "spaces"}
        model = GatedAttentionReader.from_examples(
            examples, encoder="mage_gru", entity_words=(), **sizes, **options
        )
        model.compile()
        batches = model.batches(examples, batch_size=BATCH)
        batch = batches[0]
        steps[name] = [
            lambda batches=batches: batches[0],
            lambda model=model, batch=batch: model.train_on_batch(*batch),
        ]
    return steps


def compare(rows):
    """Time of a batch by name, as a share of that with coreference alone."""
    times = {row["name"]: row["making"]["ms"] + row["step"]["ms"] for row in rows}
    return {name: time / times[FIRST] for name, time in times.items()}


def make_table(content):
    """The figures as Markdown."""
    ratios = compare(content["rows"])
    table = [("edges", "a type into a token", "ms making a batch", "ms a step", "median", "ratio")]
    for row in content["rows"]:
        name, step = row["name"], row["step"]
        numbers = row["making"]["ms"], step["ms"], step["median"]
        cells = (f"{number:.1f}" for number in numbers)
        table.append((name, str(row["most"]), *cells, f"{ratios[name]:.2f}"))
    return markdown_table(table)


def main():
    quick = records.make_parser(__doc__).parse_args().quick
    from steps import measure

    tokens = 20 if quick else TOKENS
    steps = make_steps(tokens)
    times = measure([step for pair in steps.values() for step in pair], 3 if quick else 40)
    rows = []
    for n, (name, options) in enumerate(READERS.items()):
        making, step = times[2 * n : 2 * n + 2]
        rows.append({"name": name, "most": options["max_sources"], "making": making, "step": step})
    sizes = {"tokens": tokens, "batch": BATCH}
    records.publish("edge_types", make_table, {**sizes, "rows": rows}, quick)


if __name__ == "__main__":
    main()
