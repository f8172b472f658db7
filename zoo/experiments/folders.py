"""Names of runs, and their folders."""

import os
import pathlib
from collections.abc import Sequence
from typing import Any

from keras_corefmem.datasets import DATASETS
from keras_corefmem.utils.files import as_name, different_fields
from zoo.training.state import read_state


def run_name(*words: str | int | None, values: dict[str, Any] | None = None) -> str:
    parts = [f"task-{word:02}" if isinstance(word, int) else word for word in words]
    for name, value in sorted((values or {}).items()):
        parts.append(f"{name}-{as_name(os.path.basename(str(value)))}")
    return "-".join(part for part in parts if part)


def name_in(
    folder: str | pathlib.Path | None,
    model: str,
    dataset: str | None,
    task: int | str,
    *words: str | None,
    values: dict[str, Any] | None = None,
) -> str:
    """Names a run; as in version 0.1, always with a task, if the folder has a run of that name."""
    has_tasks = dataset in DATASETS and DATASETS[dataset].tasks
    dataset = dataset and as_name(pathlib.Path(dataset).stem)
    older = run_name(model, dataset, task, *words, values=values)
    if has_tasks or (folder is not None and pathlib.Path(folder, older).exists()):
        return older
    return run_name(model, dataset, *words, values=values)


def state_folder(folder: str | pathlib.Path) -> pathlib.Path:
    """Returns the folder of a run's state, which in studies of version 0.1 is the run's own."""
    older = pathlib.Path(folder, "state.json").exists()
    return pathlib.Path(folder) if older else pathlib.Path(folder, "state")


def history_of(folder: str | pathlib.Path) -> list[dict[str, float]]:
    """Returns the logs of each complete epoch of a run."""
    state = state_folder(folder) / "state.json"
    return read_state(state)["history"] if state.exists() else []


def epochs_done(folder: str | pathlib.Path) -> int:
    return len(history_of(folder))


def check_folder(
    folder: pathlib.Path,
    record: dict[str, Any],
    settings: dict[str, Any],
    ignoring: Sequence[str],
    remedy: str,
) -> None:
    # Older runs did not record numbers of questions.
    counted = {"questions": record.get("questions")}

    def view(content: dict[str, Any]) -> dict[str, Any]:
        kept = {n: value for n, value in (counted | content).items() if n not in ignoring}
        settings = kept.get("settings")
        if isinstance(settings, dict):
            kept["settings"] = {k: v for k, v in settings.items() if k not in ignoring}
        return kept

    different = different_fields(folder / "run.json", record, view)
    if not (folder / "run.json").exists():
        different = different_fields(folder / "settings.json", settings)
    if different:
        raise ValueError(f"{folder} holds a run with another {', '.join(different)}: {remedy}.")
