"""`corefmem train`: trains one reader on one task."""

import contextlib
import importlib.util
import os
import pathlib
import shlex
import sys
import textwrap
import warnings
from collections.abc import Collection, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from keras_corefmem.utils.processes import import_keras
from zoo.cli.options import (
    DATA_DIR,
    DATASET,
    EPOCHS,
    FRESH,
    LANGUAGE,
    LOG_DIR,
    SEED,
    SETTINGS,
    TASK,
    check_settings,
    option,
    parse_model,
    parse_settings,
)

# Numbers of answers, and of characters of a story, that are shown at the end.
EXAMPLES, STORY = 3, 600
REMEDY = "give the `corefmem search` command that wrote it again."


class Found(TypedDict):
    """The best result of `corefmem search`."""

    model: str
    dataset: str
    settings: dict[str, Any]
    task: NotRequired[int | str]
    language: NotRequired[str | None]
    seed: NotRequired[int]


DEFAULT_MODEL = "ga-coref-gru"


def train(
    model: str | None = option(
        "MODEL",
        f"a model, see `corefmem list`; {DEFAULT_MODEL} by default",
        parser=parse_model,
        default=None,
    ),
    dataset: DATASET = None,
    valid: str | None = option(
        "FILE", "JSON lines to validate on, where --dataset is such a file", default=None
    ),
    task: TASK = None,
    data_dir: DATA_DIR = None,
    language: LANGUAGE = None,
    epochs: EPOCHS = None,
    seed: SEED = None,
    log_dir: LOG_DIR = "tensorboard_logs",
    settings: SETTINGS = None,
    fresh: FRESH = False,
    output: str = option("DIR", "folder of the runs", default="models"),
    devices: int = option("N", "devices that share each batch", default=1),
    best: str | None = option(
        "FILE", "best.json of `corefmem search`: a model, its data and its settings", default=None
    ),
    # Its name in version 0.1.
    preset: str | None = option("FILE", "--best", hidden=True, default=None),
) -> None:
    """Train a reader on simulated stories, or on a data set."""
    from keras_corefmem.datasets.registry import find
    from zoo.training.settings import merge_settings

    if preset:
        warnings.warn("--preset is now called --best.", FutureWarning, stacklevel=1)
    best = best or preset
    known: dict[str, Any] = {**read_best(best)} if best else {}
    own = parse_settings(settings, epochs)
    changes = merge_settings(known.get("settings", {}), own)
    model = model or known.get("model", DEFAULT_MODEL)
    dataset = dataset or known.get("dataset") or ("babi" if data_dir else "simulator")
    # The task and language that were found do not apply to another data set.
    same = known if dataset == known.get("dataset") else {}
    seed = known.get("seed", 0) if seed is None else seed
    task = same.get("task", find(dataset).first_task) if task is None else task
    language = language or same.get("language")
    check_settings([model], dataset, changes)
    # Keras seeds TensorFlow's random numbers on every backend.
    import_keras("tensorflow")
    from zoo.experiments import Experiment
    from zoo.training import data_parallel

    with data_parallel(devices):
        valid = valid and os.path.abspath(valid)
        where = model, dataset, task, seed, data_dir, language
        experiment = Experiment(*where, changes, valid=valid)
        if experiment.settings.batch_size % devices:
            raise ValueError(
                f"--devices {devices} cannot share a batch of {experiment.settings.batch_size}: "
                "give --set batch_size= a multiple."
            )
        folders = pathlib.Path(output), pathlib.Path(log_dir)
        run(experiment, *folders, fresh, own.get("arguments", {}))
    print(f"\nTensorBoard:  tensorboard --logdir {shlex.quote(log_dir)}")


def run(
    experiment: Any,
    output: pathlib.Path,
    logs: pathlib.Path,
    fresh: bool,
    chosen: Collection[str] = (),
) -> None:
    from keras_corefmem.datasets.registry import JSON_LINES
    from keras_corefmem.utils.locks import clear, hold
    from keras_corefmem.visualization import make_console
    from zoo.architectures.checks import warn_of_unknown_answers
    from zoo.cli.first_epoch import FirstEpoch
    from zoo.experiments import run_experiment
    from zoo.experiments.experiment import watch
    from zoo.experiments.folders import epochs_done

    name = experiment.name_in(output)
    folder, log_dir = output / name, logs / name
    splits = experiment.load()
    before = 0 if fresh else epochs_done(folder)

    def callbacks(model: Any, splits: Any, batches: Any) -> list[Any]:
        if fresh:
            clear(log_dir)
        if experiment.dataset.endswith(JSON_LINES):
            held = [row for part in ("valid", "test") for row in batches[part].encoded]
            warn_of_unknown_answers(model.preprocessor, held)
        shown = model.tensorboard_callbacks(log_dir, splits.valid)
        first = [] if before else [FirstEpoch(make_console(), len(batches["train"]))]
        for each in first:
            stack.callback(each.close)
        return [*first, *watch(experiment, model, batches, log_dir, folder), *shown]

    with hold(log_dir, "choose another --log-dir"), contextlib.ExitStack() as stack:
        outcome = run_experiment(
            experiment,
            folder,
            callbacks,
            splits,
            ignoring=("epochs",),
            remedy="pass --fresh to replace it, or another --output",
            report=lambda line: print(line, flush=True),
            verbose=1 if sys.stdout.isatty() else 2,
            fresh=fresh,
            chosen=chosen,
        )
    if len(outcome.progress.history) == before:
        print("It is complete: nothing left to train. Pass --fresh to start again.")
    show_scores(experiment, outcome)
    show_files(outcome.model, folder, splits.test)


def show_scores(experiment: Any, outcome: Any) -> None:
    """Prints the accuracy of the best epoch, and its answers to a few test questions."""
    from keras_corefmem.datasets.registry import find
    from zoo.configs import configuration
    from zoo.training import evaluate

    model, examples, progress = outcome.model, outcome.splits.test, outcome.progress
    test, known = evaluate(model, outcome.batches["test"]), find(experiment.dataset)
    counted = "words" if configuration(experiment.model).reads == "texts" else known.counted
    print(
        f"\nBest of {len(progress.history)} epochs by validation: {progress.best_epoch + 1}, "
        f"validation accuracy {outcome.best['val_accuracy']:.1%}\n"
        f"{known.reported.capitalize()} accuracy: {test['accuracy']:.1%} of {test['count']} "
        f"{counted}\n"
    )
    shown = examples[:: max(1, len(examples) // EXAMPLES)][:EXAMPLES]
    for example, line in zip(shown, model.answer_lines(shown), strict=True):
        if story := texts_of(model, example).get("passage"):
            story = textwrap.shorten(story, STORY, placeholder=" ...")
            print(textwrap.indent(textwrap.fill(story, 96), "  "))
        print(f"  {line}\n")


def read_best(path: str) -> Found:
    """Reads the best result of `corefmem search`: a model, its data and its settings."""
    from keras_corefmem.datasets.registry import DATASETS, JSON_LINES
    from keras_corefmem.utils.files import BadFileError, check_content, load_json
    from zoo.configs.configurations import TrainingOptions, models

    content = load_json(path, remedy=REMEDY, kind=Found)
    for name, known in (("model", models()), ("dataset", list(DATASETS))):
        got = content.get(name)
        if got not in known and not str(got).endswith(JSON_LINES):
            raise BadFileError(f"{path}: no {name} {got!r:.80}; choose of {', '.join(known)}.")
    check_content(f"{path}: settings", content["settings"], TrainingOptions, REMEDY)
    return content


def texts_of(model: Any, example: Any) -> dict[str, str]:
    """Returns the texts of an example by the names of the options that take them."""
    words = " ".join(getattr(example, "words", ()))
    return {name: getattr(example, name, words) for name in model.TEXTS}


def show_files(model: Any, folder: pathlib.Path, examples: Sequence[Any]) -> None:
    import zoo

    path = folder / "model.keras"
    print(f"Keras model:  {path}")
    if importlib.util.find_spec("tensorflow"):
        zoo.export(model, folder / "saved_model")
        print(f"SavedModel:   {folder / 'saved_model'}")
    shortest = min(examples, key=lambda each: sum(map(len, texts_of(model, each).values())))
    words = ["corefmem", "predict", str(path)]
    for name, text in texts_of(model, shortest).items():
        words += [f"--{name}", text if len(text) <= STORY else "..."]
    print(f"Ask it:       {shlex.join(words)}")
