"""`corefmem train`: one reader on one task, from data to a model that answers text."""

import dataclasses
import importlib.util
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
    LabelTable,
    SentencePictures,
    WordPictures,
    WordProjector,
)
from keras_corefmem.utils.files import load_json
from keras_corefmem.visualization.views import word_views
from zoo import training
from zoo.architectures.sentences.sentence_model import SentenceModel
from zoo.architectures.stories.story_model import StoryModel
from zoo.cli.commands import parse_settings
from zoo.configs import models
from zoo.experiments import Experiment, data, run_experiment
from zoo.experiments.experiment import watch
from zoo.experiments.folders import epochs_done
from zoo.training import data_parallel

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
    seed = found.get("seed", 0) if args.seed is None else args.seed
    task = same.get("task", data.DATASETS[dataset].first_task) if args.task is None else args.task
    language = args.language or same.get("language")
    experiment = Experiment(model_name, dataset, task, seed, args.data_dir, language, chosen)
    data.check_model(model_name, dataset)
    if experiment.settings.batch_size % args.devices:
        raise ValueError(
            f"--devices {args.devices} cannot share a batch of {experiment.settings.batch_size}: "
            "give --set batch_size= a multiple."
        )
    folder = pathlib.Path(args.output, experiment.name)
    log_dir = pathlib.Path(args.log_dir, experiment.name)
    splits = experiment.load()
    if args.fresh:
        for old in (folder, log_dir):
            shutil.rmtree(old, ignore_errors=True)

    def watching(model, splits, batches):
        return [*watch(experiment, model, batches, log_dir), *callbacks(log_dir, splits, model)]

    before = epochs_done(folder)
    outcome = run_experiment(
        experiment,
        folder,
        watching,
        splits,
        ignoring=("epochs",),
        remedy="pass --fresh to replace it, or another --output",
        report=lambda line: print(line, flush=True),
        verbose=1 if sys.stdout.isatty() else 2,
    )
    if len(outcome.progress.history) == before:
        print("It is complete: nothing left to train. Pass --fresh to start again.")
    test = training.evaluate(outcome.model, outcome.batches["test"])
    counted = data.DATASETS[dataset].counted
    print(
        f"\nBest of {len(outcome.progress.history)} epochs by validation: "
        f"{outcome.progress.best_epoch + 1}, "
        f"validation accuracy {outcome.best['val_accuracy']:.1%}\n"
        f"Test accuracy: {test['accuracy']:.1%} of {test['count']} {counted}\n"
    )
    show_answers(outcome.model, splits.test)
    save(outcome.model, folder)
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
    for name, known in (("model", models()), ("dataset", list(data.DATASETS))):
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
    if len(model.output.shape) == 2 and not model.preprocessor.local:
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
    """Names the model's file, and exports it where TensorFlow is installed."""
    path = folder / "model.keras"
    print(f"\nKeras model:  {path}")
    if importlib.util.find_spec("tensorflow"):
        zoo.export(model, folder / "saved_model")
        print(f"SavedModel:   {folder / 'saved_model'}")
    texts = '--passage "Mary went to the kitchen." --question "Where is Mary?"'
    if isinstance(model, SentenceModel):
        texts = '--sentence "A great film."'
    print(f"Ask it:       corefmem predict {shlex.quote(str(path))} {texts}")
