"""`corefmem evaluate`."""

import warnings
from typing import Any, Literal

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
    from keras_corefmem.datasets import as_examples
    from keras_corefmem.datasets.registry import JSON_LINES, check_part
    from zoo.architectures.checks import warn_of_unknown_answers
    from zoo.experiments import data
    from zoo.hub import describe_data
    from zoo.reading import annotate_for, preprocessor_of
    from zoo.training import evaluate as measure

    before = describe_data(model)
    chosen, task = choose_data(model, before, dataset, task, data_dir)
    # What is known of other data does not apply.
    known = before if chosen == before.get("dataset") else {}
    # A file that the model was not trained on has no parts.
    whole = chosen.endswith(JSON_LINES) and not known
    described = data.find(chosen)
    if whole and part:
        raise ValueError(f"--part {part}: all of {chosen} is measured; leave it out.")
    data.check_places(chosen, data_dir, language)
    measured: str = part or described.reported
    check_part(chosen, measured)
    place = data_dir or known.get("data_dir"), language or known.get("language")
    if whole:
        examples = as_examples(chosen)
        warn_of_copy(model, before, chosen)
    else:
        examples = read_part(chosen, task, measured, place, known.get("valid"), annotator)
        warn_of_changes(model, known.get("content", {}), measured)
    if annotator:
        options = (str.split, described.from_record) if described.from_record else ()
        if not options and not chosen.endswith(JSON_LINES):
            raise ValueError(f"{chosen} is no real text: leave --annotator and --truecaser out.")
        preprocessor = preprocessor_of(reader)
        examples = annotate_for(preprocessor, examples, annotator, truecaser, *options)
    batches = reader.batches(examples)
    if chosen.endswith(JSON_LINES):
        warn_of_unknown_answers(preprocessor_of(reader), batches.encoded, examples)
    counted, result = described.counted, measure(reader, batches)
    name = f"{chosen} task {task}" if described.tasks else chosen
    print_scores(f"{name}, {'all' if whole else measured}", reader, examples, result, counted)


def choose_data(
    model: str,
    known: dict[str, Any],
    dataset: str | None,
    task: int | str | None,
    data_dir: str | None,
) -> tuple[str, int | str]:
    """Returns data set and task, by default those that are known of the model."""
    from zoo.experiments import data

    before = known.get("dataset")
    chosen = dataset or before
    if data_dir and not dataset and chosen in (None, "simulator"):
        chosen = "babi"
    if task is None and known and (chosen == before or {chosen, before} <= {*OF_BABI}):
        task = known.get("task")
    if task is None and chosen and (before or not data.find(chosen).tasks):
        task = data.find(chosen).first_task
    if chosen is None or task is None:
        raise ValueError(f"{model} does not say what it was trained on: give --dataset, --task.")
    return chosen, task


def read_part(
    dataset: str,
    task: int | str,
    part: str,
    place: tuple[str | None, str | None],
    valid: str | None,
    annotator: str | None,
) -> list:
    """Reads the examples of a part; `place` is folder and language, `valid` a file of its own."""
    from keras_corefmem import datasets
    from keras_corefmem.datasets.registry import load_published
    from zoo.experiments import data

    described = data.find(dataset, task)
    recorded = not annotator and data.find_annotated(dataset, place[0], task)
    if part in described.published and not (recorded and part == described.reported):
        return load_published(dataset, part, task, place[0])
    field = "test" if part == described.reported else part
    if annotator and described.from_record:
        return getattr(datasets.load(dataset, task, *place, cased=described.cased), field)
    return getattr(data.load(dataset, task, *place, valid), field)


def warn_of_changes(model: str, content: dict[str, str], part: str) -> None:
    """Warns of training files, by their digests, whose content has changed since."""
    from keras_corefmem.utils.files import digest_of

    for path, digest in content.items():
        if digest_of(path) != digest:
            warnings.warn(
                f"{path} has changed since {model} was trained: {part} may hold questions that it "
                "was trained on.",
                stacklevel=2,
            )


def warn_of_copy(model: str, known: dict[str, Any], path: str) -> None:
    """Warns if a file has the content of the one that the model was trained on."""
    from keras_corefmem.utils.files import digest_of

    original = known.get("dataset")
    if original and known.get("content", {}).get(original) == digest_of(path):
        warnings.warn(
            f"{path} is a copy of {original}, which {model} was trained on: training questions "
            f"are measured too; give --dataset {original} to leave them out.",
            stacklevel=2,
        )


def print_scores(
    name: str, reader: Any, examples: list, result: dict[str, Any], counted: str
) -> None:
    from keras_corefmem.datasets.example import count_kinds
    from keras_corefmem.preprocessing import LanguagePreprocessor
    from zoo.reading import preprocessor_of

    count = result["count"]
    reads_texts = isinstance(preprocessor_of(reader), LanguagePreprocessor)
    print(
        f"{name}: accuracy {result['accuracy']:.2%}, {count - len(result['wrong'])} of {count} "
        f"{'words' if reads_texts else counted}"
    )
    print(f"  probabilities: {result['calibration_error']:.2%} calibration error")
    # Wrong answers of a language model are words, not examples.
    kinds = {} if reads_texts else count_kinds(examples, result["wrong"])
    for kind, (right, total) in kinds.items():
        print(f"  {kind}: {right / total:.2%}, {right} of {total}")
