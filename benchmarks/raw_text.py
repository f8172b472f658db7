"""Accuracy of the presets of LAMBADA on raw text, with and without an annotator.

    python benchmarks/raw_text.py --data-dir DIR --annotator PIPELINE    # some minutes on two cores
    python benchmarks/raw_text.py ... --quick    # every tenth passage, not recorded

All development passages, read by `model.read`: as they are published, tokens in lower case between
spaces, and as one writes, with quotation marks, contractions and no space before a full stop.
"""

import os
import re

import records

from keras_corefmem.utils.markdown import markdown_table

READERS = (
    ("ga_coref_gru_lambada", "annotator and truecaser", ("annotator", "truecase"), "prose"),
    ("ga_coref_gru_lambada", "annotator", ("annotator",), "prose"),
    ("ga_coref_gru_lambada", "no annotator", (), "prose"),
    ("ga_coref_gru_lambada", "no annotator, cut at spaces", (), "spaces"),
    ("ga_gru_lambada", "reads no chains", (), "prose"),
)


def written(text):
    """The text of tokens, as one writes it."""
    for pattern, replacement in (
        (r" (n't|'(?:s|m|d|re|ve|ll))(?= |$)", r"\1"),
        (r"-lrb- | -rrb-", lambda match: ")" if match[0].startswith(" ") else "("),
        (r"`` ?| ?''", '"'),
        (r"(?:(?<= )|^)` ", "'"),
        (r" ([,.;:!?])", r"\1"),
    ):
        text = re.sub(pattern, replacement, text)
    return text


def measure(examples, options):
    """The share of right answers, by reader and form of text."""
    import zoo
    from keras_corefmem.text import get_tokenizer

    rows = []
    for preset, name, chosen, tokenizer in READERS:
        model = zoo.from_preset(preset)
        model.preprocessor.tokenizer = get_tokenizer(tokenizer)
        named, row = {key: options[key] for key in chosen}, {"preset": preset, "name": name}
        for form, write in (("published", str), ("written", written)):
            texts = zip(*((write(e.passage), write(e.question)) for e in examples), strict=True)
            readings = model.read(*map(list, texts), top=1, **named)
            right = (r.answer == e.answer for r, e in zip(readings, examples, strict=True))
            row[form] = sum(right) / len(examples)
        rows.append(row)
        print(row, flush=True)
    return rows


def make_table(content):
    """The figures as Markdown."""
    table = [("preset", "read with", "as published", "as one writes")]
    for row in content["rows"]:
        shares = (f"{row[form]:.1%}" for form in ("published", "written"))
        table.append((f"`{row['preset']}`", row["name"], *shares))
    return markdown_table(table, text_columns=2)


def main():
    parser = records.make_parser(__doc__)
    parser.add_argument("--data-dir", required=True, help="folder of LAMBADA's development file")
    parser.add_argument("--annotator", required=True, help="path or name of a spaCy pipeline")
    options = parser.parse_args()
    import warnings

    from keras_corefmem.datasets.passages import lambada

    warnings.simplefilter("ignore")
    examples = lambada.read_part(options.data_dir, "development")[:: 10 if options.quick else 1]
    rows = measure(examples, {"annotator": options.annotator, "truecase": "novels"})
    pipeline = os.path.basename(options.annotator)
    content = {"annotator": pipeline, "passages": len(examples), "rows": rows}
    arguments = ["--data-dir", "DIR", "--annotator", pipeline]
    records.publish("raw_text", make_table, content, options.quick, arguments)


if __name__ == "__main__":
    main()
