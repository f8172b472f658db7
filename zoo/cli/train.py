"""`corefmem train`: one reader on one task, from data to a model that answers text."""

import dataclasses
import importlib.util
import os
import pathlib
import shlex
import shutil
import sys

import zoo
from keras_corefmem.callbacks import (
    AnswerAfterSentence,
    AnswerTable,
    AttentionPictures,
    HeadPictures,
    HParams,
    LabelTable,
    Scalars,
    SentencePictures,
    WordPictures,
    WordProjector,
)
from keras_corefmem.preprocessing.passage_preprocessor import PassagePreprocessor
from keras_corefmem.utils.files import as_name, different_fields, load_json, replacing, write_json
from keras_corefmem.visualization.views import word_views
from zoo.architectures.sentences.sentence_model import SentenceModel
from zoo.architectures.stories.story_model import StoryModel
from zoo.cli.commands import parse_settings
from zoo.configs import models
from zoo.experiments import data
from zoo.experiments.reproduce import epochs_done
from zoo.training import fitting as training
from zoo.training.devices import data_parallel

EXAMPLES = 5
DEFAULT_MODEL = "ga-coref-gru"
PRESET = {"model", "dataset", "task", "settings"}


def train(args):
    with data_parallel(args.devices):
        train_on(args)


def train_on(args):
    """Trains on the devices at hand."""
    found = read_preset(args.preset) if args.preset else {}
    chosen = training.merge_settings(found.get("settings", {}), parse_settings(args.set))
    if args.epochs is not None:
        chosen["epochs"] = args.epochs
    model_name = args.model or found.get("model", DEFAULT_MODEL)
    dataset = args.dataset or found.get("dataset") or ("babi" if args.data_dir else "simulator")
    # Of other data a preset says nothing.
    same = found if dataset == found.get("dataset") else {}
    task = same.get("task", data.ALL[dataset].first_task) if args.task is None else args.task
    seed = found.get("seed", 0) if args.seed is None else args.seed
    settings = training.Settings.of(model_name, dataset, seed=seed, **chosen)
    data.check_model(model_name, dataset)
    if settings.batch_size % args.devices:
        raise ValueError(
            f"--devices {args.devices} cannot share a batch of {settings.batch_size}: give --set "
            "batch_size= a multiple."
        )
    record = {
        "dataset": dataset,
        "task": task,
        "data_dir": args.data_dir and os.path.abspath(args.data_dir),
        "language": args.language or same.get("language"),
        "seed": seed,
        "settings": chosen,
    }
    name = run_name(model_name, record)
    folder, log_dir = pathlib.Path(args.output, name), pathlib.Path(args.log_dir, name)
    splits = data.load(*(record[key] for key in ("dataset", "task", "data_dir", "language")))
    if args.fresh:
        for old in (folder, log_dir):
            shutil.rmtree(old, ignore_errors=True)
    check_record(folder, record)
    counts = ", ".join(f"{len(getattr(splits, part))} {part}" for part in training.PARTS)
    print(f"{name}: {counts} {data.ALL[dataset].texts}", flush=True)

    model, batches = training.prepare(splits, settings)
    write_json(folder / "run.json", record)
    before = epochs_done(folder / "state")
    if before:
        print(f"Found a run with these arguments, {before} epochs old.", flush=True)
    else:
        print("Compiling for this machine: the first epoch takes longest.", flush=True)
    values = hyper_parameters(model, settings, record)
    progress = training.fit(
        model,
        batches,
        folder / "state",
        settings,
        [
            HParams(log_dir, values),
            Scalars(log_dir, batches["train"].count),
            *callbacks(log_dir, splits, model),
        ],
        verbose=1 if sys.stdout.isatty() else 2,
    )
    if len(progress.history) == before:
        print("It is complete: nothing left to train. Pass --fresh to start again.")
    best = progress.history[progress.best_epoch]
    test = training.evaluate(model, batches["test"])
    print(
        f"\nBest of {len(progress.history)} epochs by validation: {progress.best_epoch + 1}, "
        f"validation accuracy {best['val_accuracy']:.1%}\n"
        f"Test accuracy: {test['accuracy']:.1%} of {test['count']} {data.ALL[dataset].counted}\n"
    )
    show_answers(model, splits.test)
    save(model, folder)
    print(f"\nTensorBoard:  tensorboard --logdir {shlex.quote(args.log_dir)}")


def read_preset(path):
    """What `corefmem search` found best: a model, its data and how it is trained.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it holds something else.
    """
    content = load_json(path)
    if not isinstance(content, dict) or not PRESET <= content.keys():
        raise ValueError(f"{path}: no preset of a search, which has {', '.join(sorted(PRESET))}.")
    for name, known in (("model", models()), ("dataset", list(data.ALL))):
        if content[name] not in known:
            raise ValueError(f"{path}: no {name} {content[name]!r}; choose of {', '.join(known)}.")
    settings = content["settings"]
    if not isinstance(settings, dict) or not isinstance(settings.get("arguments", {}), dict):
        raise ValueError(f"{path}: settings, and their arguments, must be objects.")
    known = {field.name for field in dataclasses.fields(training.Settings)} - {"model", "seed"}
    unknown = settings.keys() - known
    if unknown:
        raise ValueError(
            f"{path}: settings have no {', '.join(sorted(unknown))}; arguments of the model belong "
            'into "arguments".'
        )
    return content


def run_name(model, record):
    """A readable name, the same for the same arguments."""
    task = record["task"]
    words = [model, record["dataset"], f"task-{task:02}" if isinstance(task, int) else task]
    words.append(f"seed-{record['seed']}")
    if record["language"]:
        words.append(record["language"])
    settings = {k: v for k, v in record["settings"].items() if k not in ("arguments", "epochs")}
    for name, value in sorted({**settings, **record["settings"].get("arguments", {})}.items()):
        # Of a path, the last part.
        words.append(f"{name}-{as_name(os.path.basename(str(value)))}")
    return "-".join(words)


def check_record(folder, record):
    """Raises where a folder holds another run; one of fewer or more epochs is the same."""

    def without_epochs(content):
        settings = {k: v for k, v in content["settings"].items() if k != "epochs"}
        return {**content, "settings": settings}

    different = different_fields(folder / "run.json", record, without_epochs)
    if different:
        raise ValueError(
            f"{folder} holds a run with another {', '.join(different)}: pass --fresh to replace "
            "it, or another --output."
        )


def hyper_parameters(model, settings, record):
    """What a run was trained on and how, by name; arguments of the model have their own names."""
    names = [field.name for field in dataclasses.fields(settings) if field.name != "arguments"]
    arguments = {n: model.config[n] for n in model.arguments() if n in model.config}
    return {
        **{name: record[name] for name in ("dataset", "task", "language")},
        **arguments,
        **settings.arguments,
        **{name: getattr(settings, name) for name in names},
    }


def callbacks(log_dir, splits, model):
    """What TensorBoard shows of what a model makes of words and questions."""
    asked = log_dir, splits.valid, model.preprocessor, model.inspect
    watching = [WordProjector(log_dir, model.preprocessor)]
    if isinstance(model, SentenceModel):
        if not model.preprocessor.tags:
            watching.append(LabelTable(*asked))
        return [*watching, WordPictures(*asked)] if model.has_attention else watching
    watching.append(AnswerTable(*asked))
    # Answers of several words, and those of one passage alone, have no distribution to draw.
    if len(model.output.shape) == 2 and not isinstance(model.preprocessor, PassagePreprocessor):
        watching.append(AnswerAfterSentence(*asked))
    if not model.has_attention:
        return watching
    if isinstance(model, StoryModel):
        return [*watching, SentencePictures(*asked, columns=model.columns)]
    watching.append(AttentionPictures(*asked))
    if getattr(model, "signals", ()):
        watching.append(HeadPictures(log_dir, splits.valid, model.preprocessor, model.look))
    return watching


def show_answers(model, examples):
    """Prints a few questions, their answers, and whether they are right."""
    chosen = examples[:: max(1, len(examples) // EXAMPLES)][:EXAMPLES]
    if isinstance(model, SentenceModel):
        for view in word_views(chosen, model.preprocessor, model.inspect):
            print(f"  {view.question}  {', '.join(text for text, _ in view.heading)}")
        return
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
    texts = '--passage "Mary went to the kitchen." --question "Where is Mary?"'
    if isinstance(model, SentenceModel):
        texts = '--sentence "A great film."'
    print(f"Ask it:       corefmem predict {shlex.quote(str(path))} {texts}")
