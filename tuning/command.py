"""`corefmem search`: finds hyper-parameters by validation, and tests the best ones once."""

import contextlib
import os
from typing import Literal

from keras_corefmem.utils.locks import hold
from keras_corefmem.utils.processes import import_keras
from zoo.cli.options import (
    DATA_DIR,
    DATASET,
    EPOCHS,
    FRESH,
    LANGUAGE,
    LOG_DIR,
    RESULTS,
    SEED,
    SETTINGS,
    TASK,
    check_settings,
    option,
    parse_model,
    parse_settings,
)

DEFAULT_TRIALS = 12
OTHER = "choose another --output"
# Variables that tell keras-tuner the role of a process in a search on several machines.
PART = ("KERASTUNER_TUNER_ID", "KERASTUNER_ORACLE_IP", "KERASTUNER_ORACLE_PORT")
# Variables that keep TensorFlow and JAX from taking all memory of a GPU at once.
SHARING = {"TF_FORCE_GPU_ALLOW_GROWTH": "true", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def search(
    model: str = option(
        "MODEL", "a model, see `corefmem list`", parser=parse_model, default="qdren"
    ),
    dataset: DATASET = None,
    task: TASK = None,
    data_dir: DATA_DIR = None,
    language: LANGUAGE = None,
    epochs: EPOCHS = None,
    seed: SEED = None,
    log_dir: LOG_DIR = "tensorboard_logs",
    settings: SETTINGS = None,
    fresh: FRESH = False,
    output: str = option("DIR", "folder of searches", default="searches"),
    space: str | None = option(
        "NAME",
        "a named search space, see `corefmem list`, or a .json file of lists and ranges by "
        "hyper-parameter; the first one for the model by default",
        default=None,
    ),
    tuner: Literal["random", "bayesian", "hyperband", "grid"] = option(
        None, "how trials are chosen", default="random"
    ),
    trials: int | None = option(
        "N",
        f"{DEFAULT_TRIALS} by default, the whole grid of --tuner grid; hyperband goes by --epochs",
        default=None,
    ),
    workers: int = option("N", "processes, 1 a core", default=1),
    results: RESULTS = "results",
) -> int:
    """Find hyper-parameters by validation.

    Killed and started again with the same arguments, it continues. On several machines that share
    the folder of --output, start it on each with KERASTUNER_ORACLE_IP and KERASTUNER_ORACLE_PORT of
    the first, whose KERASTUNER_TUNER_ID is chief, and a name for each other.
    """
    for name, value in (("--workers", workers), ("--trials", trials)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}.")
    if trials and tuner == "hyperband":
        raise ValueError("--trials: hyperband goes by --epochs, give these instead.")
    part = part_here(workers)
    leads = not part or "chief" in part
    if fresh and not leads:
        raise ValueError(f"--fresh would remove the search of {part}: give it to the chief alone.")
    dataset = dataset or ("babi" if data_dir else "simulator")
    changes = parse_settings(settings, epochs)
    check_settings([model], dataset, changes)
    # Keras seeds TensorFlow's random numbers on every backend.
    import_keras("tensorflow", "keras_tuner")
    from keras_corefmem.datasets.registry import find
    from tuning.running import check_space, run_search
    from tuning.search import Search
    from zoo.experiments.results import check_results

    chosen = Search(
        model,
        dataset,
        task=find(dataset).first_task if task is None else task,
        data_dir=data_dir and os.path.abspath(data_dir),
        language=language,
        space=space,
        tuner=tuner,
        trials=trials or (None if tuner in ("grid", "hyperband") else DEFAULT_TRIALS),
        seed=seed or 0,
        settings=changes,
        output=output,
        log_dir=log_dir,
    )
    check_space(chosen, epochs)
    if workers > 1 or (part and leads):
        # Making a model here must leave the memory of GPUs to processes that run trials.
        for variable, default in SHARING.items():
            os.environ.setdefault(variable, default)
    # Other processes take part in a search whose folders the leading one has locked.
    with contextlib.ExitStack() as held:
        if leads:
            held.enter_context(hold(chosen.folder, OTHER))
            held.enter_context(hold(chosen.log_folder, "choose another --log-dir"))
        chosen.start(fresh)
        check_results(results)
        return run_search(chosen, workers, results, leads)


def part_here(workers: int) -> str:
    if not any(name in os.environ for name in PART):
        return ""
    missing = [name for name in PART if not os.environ.get(name)]
    if missing:
        names = " and ".join(missing)
        raise ValueError(f"A search on several machines needs {names}: set {names} too, or none.")
    if workers > 1:
        raise ValueError(
            "KERASTUNER_TUNER_ID makes this process one worker: leave out --workers, start others."
        )
    return os.environ["KERASTUNER_TUNER_ID"]
