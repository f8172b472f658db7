"""Presets made of the best runs of a study."""

import pathlib
from typing import Any

from zoo.experiments.studies import STUDIES
from zoo.hub.presets import FOLDER, half_weights, save_preset

# Data sets whose words may be part of a preset, with the licence notice of each.
LICENCES = {
    "babi": "Words and answers come from bAbI v1.2 (Weston et al., 2015), CC BY 3.0.",
    "lambada": "Words come from novels in the public domain.",
}
# Settings that determine the examples that probabilities are fitted to.
CALIBRATING = ("seed", "train_size", "unanswerable")
SELECTION = "highest validation accuracy, then lowest validation loss"


def preset_name(model: str, study: str, task: int | str) -> str:
    """Names the preset of a model of a study: `ga_mage_gru_babi_2`, `ga_gru_lambada`.

    The name includes the variant in studies with variants, such as `babi-robustness`:
    `ga_mage_gru_prepared_babi_2`. In studies that vary a number it includes the name of the task:
    `dmn_babi_passes_task_3_1`.
    """
    known = STUDIES[study]
    if variant := _variant_of(study, task):
        return f"{model}_{variant}_{known.dataset}_{known.tasks[task].data}".replace("-", "_")
    tasks = f"_{task}" if len(known.tasks) > 1 else ""
    return f"{model}_{study.removesuffix('-1k')}{tasks}".replace("-", "_")


def _variant_of(study: str, task: int | str) -> str:
    """Returns the variant that is part of a preset's name, `""` for none."""
    known = STUDIES[study]
    # If one thing varies, the variants form a curve, and the name of the task says which point.
    return known.tasks[task].variant if task in known.tasks and not any(known.by) else ""


def check_licence(study: str) -> None:
    dataset = STUDIES[study].dataset
    if dataset not in LICENCES:
        raise ValueError(f"Presets of {dataset} have no licence: leave --presets out.")


def make_preset(
    result: dict[str, Any],
    data_dir: str | None = None,
    runs: str | pathlib.Path = "runs",
    folder: str | pathlib.Path = FOLDER,
    among: int = 1,
) -> tuple[str, dict[str, Any]]:
    """Makes a calibrated preset of the best of `among` runs, and measures it again.

    Accuracies are measured on validation and test, with the weights as they are saved.
    """
    from zoo import training
    from zoo.architectures.loading import load
    from zoo.experiments import data
    from zoo.experiments.outcome import versions
    from zoo.experiments.runs import Run

    study, task = result["study"], result["task"]
    check_licence(study)
    known = STUDIES[study]
    dataset, data_task, language = known.dataset, known.tasks[task].data, known.language_of(task)
    run = Run(study, result["model"], task, result["seed"], tag=result["tag"])
    path = run.folder(runs) / "model.keras"
    if not path.exists():
        raise FileNotFoundError(f"There is no {path}; run `{result['command']}` again.")
    model = load(path)
    # Measure the weights that are saved.
    model.set_weights(list(half_weights(model).values()))
    splits = data.load(dataset, data_task, data_dir, language)
    card: dict[str, Any] = {"dataset": dataset, "language": language, "task": data_task}
    card |= {name: result[name] for name in ("model", "seed", "questions")}
    batches = {part: model.batches(getattr(splits, part)) for part in ("valid", "test")}
    settings = {name: result["settings"].get(name) for name in CALIBRATING}
    fitted = training.calibration_examples(splits, training.Settings(**settings))
    training.calibrate(model, model.batches(fitted))
    for part, each in batches.items():
        card[f"{part}_accuracy"] = training.evaluate(model, each)["accuracy"]
    if "conditions" in result:
        scores = result["conditions"].items()
        card["accuracy"] = {name: score["accuracy"] for name, score in scores}
    if variant := _variant_of(study, task):
        card["variant"] = variant
    card |= {
        "selection": f"{SELECTION}, of {among} run{'s' * (among > 1)}",
        "command": result["command"],
        "result": f"{study}/{run.name}",
        "backend": result["backend"],
        "trained_with": result["versions"],
        "measured_with": versions(),
        "licence": f"Weights: Apache-2.0. {LICENCES[dataset]}",
    }
    name = preset_name(result["model"], study, task)
    save_preset(model, name, card, folder)
    return name, card
