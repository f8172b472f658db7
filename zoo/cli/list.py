"""`corefmem list`."""

import importlib.metadata
from collections.abc import Mapping
from typing import Any

# Packages above this one add lists by this group of entry points, such as search spaces.
PLUGINS = "corefmem_listings"


def list_names() -> None:
    """List models, presets, data sets, studies and search spaces."""
    from keras_corefmem.datasets import DATASETS
    from zoo.configs.configurations import configuration, models
    from zoo.experiments.studies import STUDIES
    from zoo.hub import presets

    print_lines("Models", {name: configuration(name).description for name in models()})
    cards = {n: describe_card(presets.read_preset(n)["card"]) for n in presets.presets()}
    print_lines("Presets", cards)
    if not cards:
        print("  none yet; `corefmem reproduce STUDY --presets` makes them")
    print_lines("Data sets", {name: dataset.line for name, dataset in DATASETS.items()})
    print_lines("Studies", {name: study.description for name, study in STUDIES.items()})
    for plugin in importlib.metadata.entry_points(group=PLUGINS):
        print_lines(plugin.name.capitalize().replace("-", " "), plugin.load()())


def print_lines(heading: str, lines: Mapping[str, str]) -> None:
    print(heading)
    width = max(map(len, lines), default=0) + 2
    for name, line in lines.items():
        print(f"  {name:<{width}}{line}")


def describe_card(card: dict[str, Any]) -> str:
    from keras_corefmem.datasets import DATASETS

    dataset = DATASETS[card["dataset"]]
    task = f" task {card['task']}" if dataset.tasks else ""
    return (
        f"{card['dataset']}{task}, seed {card['seed']}: validation {card['valid_accuracy']:.1%}, "
        f"{dataset.reported} {card['test_accuracy']:.1%}"
    )
