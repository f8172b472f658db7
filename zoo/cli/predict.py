"""`corefmem predict`."""

import json
import sys
from typing import Any

from zoo.cli.options import (
    ANNOTATOR,
    MODEL_FILE,
    PASSAGE,
    QUESTION,
    QUESTIONS_FILE,
    SENTENCE,
    TRUECASER,
)


def predict(
    model: MODEL_FILE,
    file: QUESTIONS_FILE = None,
    passage: PASSAGE = None,
    question: QUESTION = None,
    sentence: SENTENCE = None,
    annotator: ANNOTATOR = None,
    truecaser: TRUECASER = None,
) -> None:
    """Answer questions, one line of JSON each."""
    from keras_corefmem.datasets.example import UNKNOWN_ANSWER
    from zoo.cli.inputs import (
        check_strings,
        check_truecaser,
        choose_texts,
        load_model,
        read_lines,
        read_questions,
    )

    check_truecaser(annotator, truecaser)
    chosen = choose_texts(file, passage=passage, question=question, sentence=sentence)
    expected: dict[int, dict[str, str]] = {}
    examples: list[Any] = []
    lines: dict[str, dict[str, str]] = {}
    if file is not None:
        examples = read_questions(file)
        texts = [{"passage": e.passage, "question": e.question} for e in examples]
        answered = ((n, e.answer) for n, e in enumerate(examples) if e.answer != UNKNOWN_ANSWER)
        expected = {n: {"expected": answer} for n, answer in answered}
    else:
        lines = {"": chosen} if chosen else dict(read_lines(sys.stdin))
        texts = list(lines.values())
    reader = load_model(model)
    from zoo.reading import read, read_examples

    for place, row in zip(lines or [""] * len(texts), texts, strict=True):
        check_strings(model, reader, row, place)
    options = {"annotator": annotator, "truecase": truecaser}
    if examples:
        readings = read_examples(reader, examples, **options)
    else:
        columns = ([row[name] for row in texts] for name in reader.TEXTS)
        readings = read(reader, *columns, sources=list(lines), **options)
    for n, (row, reading) in enumerate(zip(texts, readings, strict=True)):
        line = {name: text for name, text in row.items() if name != "passage"}
        line |= {**describe_reading(reading), **expected.get(n, {})}
        if reading.unknown_words:
            line["unknown_words"] = reading.unknown_words
        print(json.dumps(line, ensure_ascii=False))


def describe_reading(reading: Any) -> dict[str, Any]:
    import zoo

    if isinstance(reading, zoo.Tagging):
        probabilities = [round(probability, 4) for probability in reading.probabilities]
        return {"words": reading.words, "tags": reading.tags, "probabilities": probabilities}
    ranked = zip(reading.answers, reading.probabilities, strict=True)
    return {
        "answer": reading.answer,
        "probability": round(reading.probability, 4),
        "answers": {answer: round(probability, 4) for answer, probability in ranked},
    }
