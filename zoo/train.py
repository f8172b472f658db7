"""`corefmem train`: one reader on one task, from data to a model that answers text."""

import importlib.util
import json
import os
import pathlib
import shutil
import sys

import zoo
from keras_corefmem.callbacks import (
    AnswerAfterSentence,
    AnswerTable,
    AttentionPictures,
    Scalars,
    SentencePictures,
    WindowPictures,
)
from keras_corefmem.files import replacing
from zoo import data, training
from zoo.commands import parse_settings
from zoo.story_model import StoryModel

EXAMPLES = 5


def train(args):
    chosen = parse_settings(args.set)
    if args.epochs is not None:
        chosen["epochs"] = args.epochs
    settings = training.Settings.of(args.model, seed=args.seed, **chosen)
    record = {
        "dataset": args.dataset or ("babi" if args.data_dir else "simulator"),
        "task": args.task,
        "data_dir": args.data_dir and os.path.abspath(args.data_dir),
        "language": args.language or "en-valid",
        "seed": args.seed,
        "settings": chosen,
    }
    name = run_name(args.model, record)
    folder, log_dir = pathlib.Path(args.output, name), pathlib.Path(args.log_dir, name)
    splits = data.load(*(record[key] for key in ("dataset", "task", "data_dir", "language")))
    if args.fresh:
        for old in (folder, log_dir):
            shutil.rmtree(old, ignore_errors=True)
    check_record(folder, record)
    counts = ", ".join(f"{len(getattr(splits, part))} {part}" for part in training.PARTS)
    print(f"{name}: {counts} questions", flush=True)

    model, batches = training.prepare(splits, settings)
    write_record(folder, record)
    before = training.epochs_done(folder / "state")
    if before:
        print(f"Found a run with these arguments, {before} epochs old.", flush=True)
    else:
        print("Compiling for this machine: the first epoch takes longest.", flush=True)
    progress = training.fit(
        model,
        batches,
        folder / "state",
        settings,
        callbacks(log_dir, splits, model),
        verbose=1 if sys.stdout.isatty() else 2,
    )
    if len(progress.history) == before:
        print("It is complete: nothing left to train. Pass --fresh to start again.")
    best = progress.history[progress.best_epoch]
    test = training.evaluate(model, batches["test"])
    print(
        f"\nBest of {len(progress.history)} epochs by validation: {progress.best_epoch + 1}, "
        f"validation accuracy {best['val_accuracy']:.1%}\n"
        f"Test accuracy: {test['accuracy']:.1%} of {test['count']} questions\n"
    )
    show_answers(model, splits.test)
    save(model, folder)
    print(f"\nTensorBoard:  tensorboard --logdir {args.log_dir}")


def run_name(model, record):
    """A readable name, the same for the same arguments."""
    words = [model, record["dataset"], f"task-{record['task']:02}", f"seed-{record['seed']}"]
    if record["language"] != "en-valid":
        words.append(record["language"])
    settings = {k: v for k, v in record["settings"].items() if k not in ("arguments", "epochs")}
    for name, value in sorted({**settings, **record["settings"].get("arguments", {})}.items()):
        words.append(f"{name}-{value}")
    return "-".join(words)


def check_record(folder, record):
    """Raises where a folder holds another run; one of fewer or more epochs is the same."""
    path = folder / "run.json"
    if not path.exists():
        return
    old, new = json.loads(path.read_text()), json.loads(json.dumps(record))
    for content in (old, new):
        content["settings"].pop("epochs", None)
    different = [key for key in new if old.get(key) != new[key]]
    if different:
        raise ValueError(
            f"{folder} holds a run with another {', '.join(different)}: pass --fresh to replace "
            "it, or another --output."
        )


def write_record(folder, record):
    """Writes what the run of a folder is."""
    with replacing(folder / "run.json") as partial:
        partial.write_text(json.dumps(record, indent=1) + "\n")


def callbacks(log_dir, splits, model):
    """What TensorBoard shows."""
    asked = log_dir, splits.valid, model.reader, model.inspect
    if isinstance(model, StoryModel):
        windows = model.config.get("passages") == "windows"
        pictures = WindowPictures if windows else SentencePictures
        attention = pictures(*asked, column=model.COLUMN)
    else:
        attention = AttentionPictures(*asked)
    return [
        Scalars(log_dir, len(splits.train)),
        AnswerTable(*asked),
        attention,
        AnswerAfterSentence(*asked),
    ]


def show_answers(model, examples):
    """Prints a few questions, their answers, and whether they are right."""
    chosen = examples[:: max(1, len(examples) // EXAMPLES)][:EXAMPLES]
    readings = model.read([e.passage for e in chosen], [e.question for e in chosen])
    for example, reading in zip(chosen, readings, strict=True):
        right = "right" if reading.answer == example.answer else f"wrong: {example.answer}"
        print(f"  {example.question}  {reading.answer} ({reading.probability:.0%}), {right}")


def save(model, folder):
    """Writes the model for Keras and, where TensorFlow is installed, for everything else."""
    path = folder / "model.keras"
    with replacing(path) as partial:
        model.save(partial)
    print(f"\nKeras model:  {path}")
    if importlib.util.find_spec("tensorflow"):
        zoo.export(model, folder / "saved_model")
        print(f"SavedModel:   {folder / 'saved_model'}")
    print(
        f'Ask it:       corefmem predict {path} --passage "Mary went to the kitchen." '
        '--question "Where is Mary?"'
    )
