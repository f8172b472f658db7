"""Named search spaces of hyper-parameters."""

import fnmatch
import itertools
import json
import math
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pydantic

from keras_corefmem.utils.files import load_json
from zoo.configs.configurations import read_toml

# Prefix of values in JSON, which are neither numbers nor strings.
JSON = "json:"


@pydantic.dataclasses.dataclass(frozen=True, config={"extra": "forbid"})
class Space:
    """A named search space.

    Args:
        line: a one-line description.
        models: patterns of the names of the models that it is for.
        entries: values of fields of `zoo.training.Settings` or arguments of the model, by name:
            a list, or a range, which is a dictionary with `low`, `high` and, optionally, `log` or
            `step`. A range whose ends are integers contains only integers.

    Example:
        >>> import tuning
        >>> tuning.SPACES["hops"].entries["hops"]
        [1, 2, 3, 4]
    """

    line: str
    models: tuple[str, ...]
    entries: dict[str, Any]


SPACES: dict[str, Space] = read_toml(pathlib.Path(__file__).with_suffix(".toml"), dict[str, Space])


def space_of(
    model: str, name: str | os.PathLike | dict[str, Any] | Space | None = None
) -> dict[str, Any]:
    where, name = "the search space", name.entries if isinstance(name, Space) else name
    if isinstance(name, dict):
        entries = json.loads(json.dumps(name, default=_of_numpy))
    else:
        where = os.fspath(name or first_space(model))
        if where in SPACES:
            if not fits(model, SPACES[where]):
                models = ", ".join(SPACES[where].models)
                raise ValueError(f"--space {where} is for {models}, not for {model}.")
            return SPACES[where].entries
        if not where.endswith(".json"):
            names = ", ".join(known for known, space in SPACES.items() if fits(model, space))
            raise ValueError(
                f"There is no search space {where!r} for {model}; choose one of {names}, or give "
                "a .json file."
            )
        entries = load_json(where)
    if not isinstance(entries, dict) or not entries:
        raise ValueError(f"{where}: give an object of lists and ranges, by hyper-parameter.")
    for key, entry in entries.items():
        check_entry(key, entry, where)
    return entries


def _of_numpy(value: Any) -> Any:
    """Returns a number or an array of NumPy as Python's own."""
    if not hasattr(value, "tolist"):
        raise ValueError(
            f"the search space: give numbers, strings or other values of JSON, got {value!r:.80}."
        )
    return value.tolist()


def first_space(model: str) -> str:
    return next(name for name, space in SPACES.items() if fits(model, space))


def fits(model: str, space: Space) -> bool:
    return any(fnmatch.fnmatchcase(model, pattern) for pattern in space.models)


def check_entry(name: str, entry: Any, where: str) -> None:
    if isinstance(entry, list) and entry:
        values = as_choices(entry)
        if len(set(values)) < len(values):
            raise ValueError(
                f"{where}: {name} has a value twice, whose trials would be run and count twice: "
                f"leave one out of {json.dumps(entry):.200}."
            )
        return
    names = {"low", "high", "log", "step"}
    if isinstance(entry, dict) and {"low", "high"} <= entry.keys() <= names:
        low, high, log, step = entry["low"], entry["high"], entry.get("log"), entry.get("step")
        numbers = (low, high) if step is None else (low, high, step)
        kinds = int if isinstance(low, int) and isinstance(high, int) else int | float
        if (
            all(isinstance(n, kinds) and not isinstance(n, bool) for n in numbers)
            and all(abs(n) < math.inf for n in numbers)
            and log in (None, True, False)
            and low < high
            and not (log and low <= 0)
            # On a logarithmic scale, the step is a factor.
            and (step is None or step > (1 if log else 0))
        ):
            return
    raise ValueError(
        f"{where}: {name} must be a list of values, or an object with low < high and perhaps a "
        "positive step, or log, true or false, where low is positive and a step is greater than "
        f"1; got {json.dumps(entry):.200}."
    )


def varies(entry: list[Any] | dict[str, Any]) -> bool:
    return isinstance(entry, dict) or len(entry) > 1


def nearest_values(entries: dict[str, Any], most: int = 2) -> Iterator[dict[str, Any]]:
    """Yields values of a trial that differ from the first ones in none, one, ... `most` entries."""
    known = {
        name: as_choices(entry) if isinstance(entry, list) else [entry["low"], entry["high"]]
        for name, entry in entries.items()
    }
    first = {name: values[0] for name, values in known.items()}
    for count in range(most + 1):
        for names in itertools.combinations(known, count):
            for values in itertools.product(*(known[name][1:] for name in names)):
                yield first | dict(zip(names, values, strict=True))


def declare(hyperparameters: Any, entries: dict[str, Any]) -> None:
    for name, entry in entries.items():
        if isinstance(entry, list):
            hyperparameters.Choice(name, as_choices(entry))
            continue
        options = {"step": entry.get("step"), "sampling": "log" if entry.get("log") else "linear"}
        ends = entry["low"], entry["high"]
        if all(isinstance(end, int) for end in ends):
            hyperparameters.Int(name, *ends, **options)
        else:
            low, high = map(float, ends)
            if options["step"] and not entry.get("log"):
                # keras-tuner counts steps by `//`, which is 4.0 for 0.5 and 0.1.
                high += 1e-6 * options["step"]
            hyperparameters.Float(name, low, high, **options)


def as_choices(values: list[Any]) -> list[Any]:
    """Converts values to one type for keras-tuner: numbers, strings, or JSON for all others."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return [float(value) for value in values]
    if kinds in ({int}, {float}) or kinds == {str} and not any(map(_is_json, values)):
        return values
    return [JSON + json.dumps(value) for value in values]


def values_of(chosen: dict[str, Any], entries: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(chosen[name], entry) for name, entry in entries.items() if name in chosen}


def _value(value: Any, entry: list[Any] | dict[str, Any]) -> Any:
    if isinstance(entry, dict) and isinstance(value, float):
        # Sums of steps are rounded.
        return min(value, float(entry["high"]))
    return json.loads(value[len(JSON) :]) if _is_json(value) else value


def _is_json(value: Any) -> bool:
    return str(value).startswith(JSON)


def list_spaces() -> dict[str, str]:
    return {name: f"{space.line}: {', '.join(space.models)}" for name, space in SPACES.items()}
