"""`corefmem evaluate`."""

import warnings
from typing import Literal

from zoo.cli.options import (
    ANNOTATOR,
    DATA_DIR,
    DATASET,
    LANGUAGE,
    MODEL_FILE,
    TASK,
    TRUECASER,
    option,
)

# Data sets with the same tasks.
OF_BABI = "simulator", "babi", "babi-mix"


def evaluate(
    model: MODEL_FILE,
    dataset: DATASET = None,
    task: TASK = None,
    data_dir: DATA_DIR = None,
    language: LANGUAGE = None,
    part: Literal["train", "valid", "development", "test"] | None = option(
        None, "part of the data set; by default the one that its studies report", default=None
    ),
    annotator: ANNOTATOR = None,
    truecaser: TRUECASER = None,
) -> None:
    """Measure the accuracy of a trained reader on a data set."""
    from zoo.cli.inputs import check_truecaser, load_model

    check_truecaser(annotator, truecaser)
    reader = load_model(model)
    from keras_corefmem import datasets
    from keras_corefmem.datasets.example import count_kinds
    from keras_corefmem.datasets.registry import JSON_LINES, check_part
    from keras_corefmem.preprocessing import LanguagePreprocessor
    from keras_corefmem.utils.files import digest_of
    from zoo.architectures.checks import warn_of_unknown_answers
    from zoo.experiments import data
    from zoo.hub import describe_data
    from zoo.reading import annotate_for, preprocessor_of
    from zoo.training import evaluate as measure

    known = describe_data(model)
    chosen = dataset or known.get("dataset")
    if data_dir and not dataset and chosen in (None, "simulator"):
        chosen = "babi"
    before = known.get("dataset")
    # The recorded task, folder and language do not apply to another data set.
    same = known if chosen == before else {}
    if task is None and (same or {chosen, before} <= {*OF_BABI}):
        task = known.get("task")
    if task is None and chosen and (before or not data.find(chosen).tasks):
        task = data.find(chosen).first_task
    if chosen is None or task is None:
        raise ValueError(f"{model} does not say what it was trained on: give --dataset, --task.")
    place = data_dir or same.get("data_dir"), language or same.get("language")
    # A file that the model was not trained on has no parts.
    whole = chosen.endswith(JSON_LINES) and not same
    described, annotates = data.find(chosen), annotator or truecaser
    if whole and part:
        raise ValueError(f"--part {part}: all of {chosen} is measured; leave it out.")
    data.check_places(chosen, data_dir, language)
    part = part or described.reported
    check_part(chosen, part)
    field = "test" if part == described.reported else part
    if whole:
        data.find(chosen, task)
        examples = datasets.as_examples(chosen)
    elif part != described.reported and part == "test":
        examples = datasets.load_test(chosen, task, place[0])
    elif annotates and described.from_record:
        examples = datasets.load(chosen, task, *place, cased=described.cased)
        examples = getattr(examples, field)
    else:
        examples = getattr(data.load(chosen, task, *place, same.get("valid")), field)
        for path, digest in same.get("content", {}).items():
            if digest_of(path) != digest:
                warnings.warn(
                    f"{path} has changed since {model} was trained: {part} may hold questions "
                    "that it was trained on.",
                    stacklevel=1,
                )
    if annotates:
        options = (str.split, described.from_record) if described.from_record else ()
        if not options and not chosen.endswith(JSON_LINES):
            raise ValueError(f"{chosen} is no real text: leave --annotator and --truecaser out.")
        preprocessor = preprocessor_of(reader)
        examples = annotate_for(preprocessor, examples, annotator, truecaser, *options)
    batches = reader.batches(examples)
    if chosen.endswith(JSON_LINES):
        warn_of_unknown_answers(preprocessor_of(reader), batches.encoded, examples)
    result = measure(reader, batches)
    count = result["count"]
    reads_texts = isinstance(preprocessor_of(reader), LanguagePreprocessor)
    counted = "words" if reads_texts else described.counted
    name = f"{chosen} task {task}" if described.tasks else chosen
    print(
        f"{name}, {'all' if whole else part}: accuracy {result['accuracy']:.2%}, "
        f"{count - len(result['wrong'])} of {count} {counted}"
    )
    print(f"  probabilities: {result['calibration_error']:.2%} calibration error")
    # Wrong answers of a language model are words, not examples.
    kinds = {} if reads_texts else count_kinds(examples, result["wrong"])
    for kind, (right, total) in kinds.items():
        print(f"  {kind}: {right / total:.2%}, {right} of {total}")
