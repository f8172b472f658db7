"""Runs of a published experiment, side by side and resumable, one JSON file a run."""

import concurrent.futures
import dataclasses
import itertools
import json
import multiprocessing
import pathlib
import shlex

from keras_corefmem.utils.files import different_fields, load_json, replacing, write_json
from keras_corefmem.utils.processes import available_cores, keep_memory, pin, stop
from zoo.experiments.outcome import describe_test, describe_training, describe_vectors
from zoo.experiments.studies import STUDIES

# Seconds without news after which a line says how far the runs are.
PULSE = 60


@dataclasses.dataclass(frozen=True)
class Run:
    """One training run of a study.

    Args:
        study: name of the study.
        model: name of the model.
        task: name of a task of the study; the number of a bAbI task.
        seed: random seed.
        data_dir: folder of the data set; `None` where `babi.download()` puts it.
        settings: fields of `zoo.training.Settings` that differ from the defaults.
        tag: name of these settings, part of the run's name.
    """

    study: str
    model: str
    task: int | str
    seed: int
    data_dir: str | None = None
    settings: dict = dataclasses.field(default_factory=dict)
    tag: str = ""

    @property
    def name(self):
        tag = f"-{self.tag}" if self.tag else ""
        task = f"task-{self.task:02}" if isinstance(self.task, int) else self.task
        return f"{self.model}{tag}-{task}-seed-{self.seed}"

    def result_file(self, results):
        """Where a folder of results holds that of the run."""
        return pathlib.Path(results) / self.study / f"{self.name}.json"

    def state_folder(self, runs):
        """Where a folder of training states holds that of the run."""
        return pathlib.Path(runs) / self.study / self.name

    @property
    def command(self):
        words = ["corefmem", "reproduce", self.study, "--models", self.model]
        words += ["--tasks", str(self.task), "--seeds", str(self.seed)]
        if STUDIES[self.study].needs_folder:
            words += ["--data-dir", "DIR"]
        for name, value in self.settings.items():
            words += ["--set", f"{name}={json.dumps(value)}"]
        return shlex.join(words + (["--tag", self.tag] if self.tag else []))


def check_data(study, task, data_dir):
    """Refuses a folder without the data of a study.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: if one is broken, the study needs records and there are none, or no folder is
            given and there is no download.
    """
    from zoo.experiments import data

    known = STUDIES[study]
    dataset = known.dataset
    if data_dir is None and STUDIES[study].needs_folder:
        raise ValueError(f"{study} needs the folder of {dataset}: give it as --data-dir.")
    if not known.annotated:
        data.load(dataset, known.tasks[task].data, data_dir, known.language)
    # Records are too many to read them twice.
    elif data.find_annotated(dataset, data_dir) is None:
        raise ValueError(
            f"{data_dir} holds no records of {dataset}: make them in its folder "
            f"annotated/{dataset} with `corefmem annotate --dataset`."
        )


def execute(run, results, runs):
    """Trains and tests one run and writes its JSON file; returns its content."""
    from zoo.experiments import data
    from zoo.training import fitting as training

    study = STUDIES[run.study]
    task, shared = study.tasks[run.task], STUDIES[run.study].settings_of(run.model)
    chosen = [shared.get("arguments", {}), task.arguments, run.settings.get("arguments", {})]
    arguments = {name: value for part in chosen for name, value in part.items()}
    changes = {**shared, **task.settings, **run.settings, "arguments": arguments}
    settings = training.Settings.of(run.model, study.dataset, seed=run.seed, **changes)
    splits = data.load(study.dataset, task.data, run.data_dir, study.language)
    pretrained = study.word_vectors and data.word_vectors(run.data_dir)
    options = {"word_vectors": pretrained} if pretrained else {}
    model, batches = training.prepare(splits, settings, **options)
    folder = run.state_folder(runs)
    check_settings(folder, dataclasses.asdict(settings))
    progress = training.fit(model, batches, folder, settings)
    with replacing(folder / "model.keras") as partial:
        model.save(partial)
    content = {
        "study": run.study,
        "model": run.model,
        "task": run.task,
        "seed": run.seed,
        "tag": run.tag,
        "command": run.command,
        **describe_training(model, settings, batches, progress),
        **describe_vectors(pretrained, model),
        **describe_test(model, batches["test"], splits.test),
    }
    write_json(run.result_file(results), content)
    return content


def check_settings(folder, settings):
    """Raises where a folder holds a run with other settings; notes them where it holds none."""
    different = different_fields(folder / "settings.json", settings)
    if different:
        raise ValueError(
            f"{folder} holds a run with another {', '.join(different)}: give this one a --tag of "
            "its own, or remove the folder."
        )
    write_json(folder / "settings.json", settings)


def is_done(run, results):
    """Whether a folder holds the result of a run.

    Raises:
        ValueError: if it holds the result of one with the same tag but other settings.
    """
    file = run.result_file(results)
    if not file.exists():
        return False
    command = load_json(file).get("command", "")
    if given_settings(command) != given_settings(run.command):
        raise ValueError(
            f"{file} holds the result of `{command}`: give this run a --tag of its own, or remove "
            "the file."
        )
    return True


def given_settings(command):
    """The settings that the command of a run names, whatever their order."""
    pairs = itertools.pairwise(shlex.split(command))
    given = (word.partition("=") for option, word in pairs if option == "--set")
    return {name: json.loads(value) for name, _, value in given}


def begin_worker(cores):
    """Gives a worker process one of the cores of a queue."""
    pin(cores.get())


def choose_tasks(study, names=None):
    """Tasks of a study by their names or those of groups, all by default.

    Raises:
        ValueError: if there is no such task.
    """
    tasks, chosen = STUDIES[study].tasks, {}
    for name in names or tasks:
        found = [key for key, task in tasks.items() if str(name) in (str(key), task.group)]
        if not found:
            raise ValueError(
                f"The study {study} has no task {name}; choose of {', '.join(map(str, tasks))}."
            )
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def plan(study, data_dir=None, models=None, tasks=None, seeds=(0,), settings=None, tag=""):
    """The runs of a study, the longest tasks first.

    Raises:
        ValueError: if a study, model or task does not exist, or no task is for the models.
    """
    from zoo.configs import configuration
    from zoo.experiments.data import check_model

    if study not in STUDIES:
        raise ValueError(f"There is no study {study!r}; choose one of {', '.join(STUDIES)}.")
    models = models or STUDIES[study].models
    for model in models:
        configuration(model)
        check_model(model, STUDIES[study].dataset)
    tasks = sorted(choose_tasks(study, tasks), key=lambda task: task not in (3, 5, 2, 8, 7))
    runs = [
        Run(study, model, task, seed, data_dir, settings or {}, tag)
        for model in models
        for seed in seeds
        for task in tasks
        if model in (STUDIES[study].tasks[task].models or models)
    ]
    if not runs:
        raise ValueError(
            f"None of the tasks {', '.join(map(str, tasks))} of {study} is for "
            f"{' or '.join(models)}: leave --tasks or --models out."
        )
    return runs


def reproduce(runs, results="results", folder="runs", jobs=None, report=print):
    """Executes runs that have no result yet, one process a core.

    Args:
        runs: list of `Run`.
        results: folder of the JSON files.
        folder: folder of the training states, which interrupted runs continue from.
        jobs: number of processes; `None` for one a core.
        report: called with a line about every run that ends.

    Returns:
        List of the runs that failed, as pairs of run and exception.

    Raises:
        ValueError: if there is a result of the same name but other settings.
    """
    waiting = []
    for run in runs:
        if is_done(run, results):
            report(f"{run.name}: done before")
        else:
            waiting.append(run)
    if not waiting:
        return []
    available = available_cores()
    jobs = jobs or len(available)
    keep_memory()
    context = multiprocessing.get_context("spawn")
    cores, failures = context.Queue(), []
    for n in range(len(waiting) + jobs):
        cores.put(available[n % len(available)])
    report(f"{len(waiting)} to run, {jobs} at a time; results: {results}, states: {folder}")
    with concurrent.futures.ProcessPoolExecutor(
        jobs, context, initializer=begin_worker, initargs=(cores,)
    ) as pool:
        futures = {pool.submit(execute, run, results, folder): run for run in waiting}
        pending, ended = set(futures), 0
        try:
            while pending:
                done, pending = concurrent.futures.wait(
                    pending, PULSE, concurrent.futures.FIRST_COMPLETED
                )
                for future in done:
                    ended += 1
                    line = describe(futures[future], future, failures)
                    report(f"[{ended}/{len(waiting)}] {line}")
                if not done:
                    report(describe_pending([futures[f] for f in pending if f.running()], folder))
        except KeyboardInterrupt:
            stop(pool)
            raise
    return failures


def epochs_done(folder):
    """Number of epochs that the run in a folder has behind it."""
    state = pathlib.Path(folder) / "state.json"
    return len(load_json(state)["history"]) if state.exists() else 0


def describe_pending(runs, folder):
    """A line about runs that are under way."""
    epochs = {run.name: epochs_done(run.state_folder(folder)) for run in runs}
    return describe_epochs(epochs)


def describe_epochs(epochs):
    """A line about what is under way, from the numbers of epochs that are done, by name."""
    lines = [f"{name}: {count} epochs" for name, count in sorted(epochs.items()) if count]
    return "  " + (", ".join(lines) or "in the first epoch")


def describe(run, future, failures):
    """A line about a run that has ended; one that failed is added to the failures."""
    if future.exception():
        failures.append((run, future.exception()))
        return f"{run.name}: failed: {future.exception()}"
    content = future.result()
    # "test error in %", "dev accuracy in %".
    part = STUDIES[run.study].measure.split()[0]
    return (
        f"{run.name}: valid {content['valid_accuracy']:.1%}, "
        f"{part} {content['test_accuracy']:.1%}, {content['seconds']:.0f} s"
    )
