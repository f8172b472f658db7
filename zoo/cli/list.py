"""`corefmem list`."""

import importlib.metadata
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from zoo.cli.options import argument, one_of, parse_model

# Other packages add lists by this group of entry points, such as search spaces.
PLUGINS = "corefmem_listings"


def _kinds() -> list[str]:
    return [*LISTS, *(plugin.name for plugin in importlib.metadata.entry_points(group=PLUGINS))]


def list_names(
    kind: str | None = argument(
        "KIND", "models, presets (one by one), data-sets, ...", parser=one_of(_kinds), default=None
    ),
    model: str | None = argument(
        "MODEL", "presets of this model alone", parser=parse_model, default=None
    ),
) -> None:
    """List models, presets, data sets, studies and search spaces."""
    if model and kind != "presets":
        raise ValueError(f"{model}: only presets are listed by model, corefmem list presets MODEL.")
    if kind == "presets":
        print_lines("presets", scores_of_presets(model))
        return
    plugins = importlib.metadata.entry_points(group=PLUGINS)
    lists = LISTS | {plugin.name: plugin.load() for plugin in plugins}
    for name in [kind] if kind else lists:
        print_lines(name, lists[name]())


def print_lines(heading: str, lines: Mapping[str, str]) -> None:
    print(heading.capitalize().replace("-", " "))
    width = max(map(len, lines), default=0) + 2
    for name, line in lines.items():
        print(f"  {name:<{width}}{line}")


def list_models() -> dict[str, str]:
    from zoo.configs.configurations import configuration, models

    known = map(configuration, models())
    return {m.name: "; differs: ".join(filter(None, (m.description, m.differs))) for m in known}


def list_presets() -> dict[str, str]:
    """Counts presets by name without the number of the task."""
    from zoo.hub.presets import presets

    lines = {}
    for stem, group in itertools.groupby(presets(), _without_number):
        first, *more = group
        name = f"{first} … {more[-1].removeprefix(stem)}" if more else first
        lines[name] = f"{len(more) + 1} presets" if more else "1 preset"
    if lines:
        return {**lines, "scores of each": "corefmem list presets [MODEL]"}
    return {"none yet": "corefmem reproduce STUDY --presets makes them"}


def _without_number(name: str) -> str:
    return name.rstrip("0123456789")


def scores_of_presets(model: str | None) -> dict[str, str]:
    from zoo.hub.presets import presets, read_preset

    stem = (model or "").replace("-", "_")
    names = (name for name in presets() if name.startswith(stem))
    cards = {name: read_preset(name)["card"] for name in names}
    return {
        name: describe_card(card) for name, card in cards.items() if model in (None, card["model"])
    }


def describe_card(card: dict[str, Any]) -> str:
    from keras_corefmem.datasets import DATASETS

    dataset = DATASETS[card["dataset"]]
    task = f" task {card['task']}" if dataset.tasks else ""
    return (
        f"{card['dataset']}{task}, seed {card['seed']}: validation {card['valid_accuracy']:.1%}, "
        f"{dataset.reported} {card['test_accuracy']:.1%}"
    )


def list_data_sets() -> dict[str, str]:
    from keras_corefmem.datasets import DATASETS

    return {name: dataset.line for name, dataset in DATASETS.items()}


def list_studies() -> dict[str, str]:
    from zoo.experiments.studies import STUDIES

    return {name: study.description for name, study in STUDIES.items()}


LISTS: dict[str, Callable[[], Mapping[str, str]]] = {
    "models": list_models,
    "presets": list_presets,
    "data-sets": list_data_sets,
    "studies": list_studies,
}
