"""Measured results: one line of JSON per run, in `STUDY.jsonl` of a folder of results."""

import collections
import itertools
import json
import os
import pathlib
import shlex
import statistics
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NotRequired

import pydantic
from typing_extensions import TypedDict

from keras_corefmem.utils.files import (
    BadFileError,
    check_content,
    load_json,
    parse_json,
    read_text,
    replacing,
)
from keras_corefmem.utils.locks import check_room, hold
from zoo.experiments.folders import run_name
from zoo.training.state import rank

Result = dict[str, Any]

SEARCHES = "searches"
# The hyper-parameter that repeats a setting.
SEED = "seed"
REMEDY = "remove it, and give the command that made it again."
# Limits of one result: bytes, and questions.
ROOM = 2**20
MOST = 10_000_000
# Characters of a command: the time to split it grows with their square.
LONGEST = 20_000
_RANGES = Annotated[str, pydantic.Field(pattern=r"^(\d{1,7}(-\d{1,7})?(,\d{1,7}(-\d{1,7})?)*)?$")]


def _check_command(command: str) -> str:
    """Raises `ValueError` if `shlex` cannot split a command, such as for an unclosed quotation."""
    shlex.split(command)
    return command


_Command = Annotated[
    str, pydantic.Field(max_length=LONGEST), pydantic.AfterValidator(_check_command)
]
_Counts = Annotated[list[int], pydantic.Field(min_length=2, max_length=2)]
# Values are not converted, and further fields are kept.
_AS_WRITTEN = pydantic.with_config(pydantic.ConfigDict(strict=True, extra="allow"))


@_AS_WRITTEN
class _Questions(TypedDict):
    test: Annotated[int, pydantic.Field(ge=1)]
    train: NotRequired[int]
    valid: NotRequired[int]


@_AS_WRITTEN
class _Settings(TypedDict):
    arguments: NotRequired[dict[str, Any]]


@_AS_WRITTEN
class _Guess(TypedDict):
    wrong: int
    kinds: dict[str, _Counts]


@_AS_WRITTEN
class _Condition(TypedDict):
    accuracy: float
    calibration_error: float
    answered: float


def _check_types(edges: Any) -> Any:
    """Raises `ValueError` if a measured share of attention has none to compare with."""
    if missing := edges["shares"].keys() - edges["even"].keys():
        raise ValueError(f"even lacks {', '.join(sorted(missing))}, which shares have")
    return edges


@_AS_WRITTEN
class _Edges(TypedDict):
    shares: dict[str, float]
    even: dict[str, float]


class _Measured(TypedDict):
    """The fields of every run, and optional fields that tables read."""

    study: str
    model: str
    task: int | str
    seed: int
    valid_accuracy: float
    valid_loss: float
    command: _Command
    settings: NotRequired[_Settings]
    valid_losses: NotRequired[list[float]]
    test_predicted: NotRequired[dict[str, _RANGES] | list[str]]
    test_kinds: NotRequired[dict[str, _Counts]]
    attention_mass: NotRequired[dict[str, float]]
    conditions: NotRequired[dict[str, _Condition | None]]
    edge_attention: NotRequired[Annotated[_Edges, pydantic.AfterValidator(_check_types)]]
    baselines: NotRequired[dict[str, _Guess]]


@_AS_WRITTEN
class _Run(_Measured):
    """A run of a study."""

    tag: str
    backend: str
    questions: _Questions
    test_accuracy: NotRequired[float]
    test_wrong: _RANGES | list[int]


class _Trial(_Measured):
    trial: str
    chosen: dict[str, Any]
    epochs: int
    seconds: float
    test_wrong: NotRequired[_RANGES | list[int]]


@_AS_WRITTEN
class Trial(_Trial):
    """A complete trial of a search."""

    test_accuracy: NotRequired[float]


@_AS_WRITTEN
class Tested(_Trial):
    """The best trial of a search."""

    test_accuracy: float


_FIELDS_BEFORE = {"hit_rates": "attention_mass"}


def result_name(result: Result) -> str:
    """Returns the name of a run within its study, made of the fields that identify it.

    Args:
        result: `model`, `tag`, `task` and `seed` of a run, or `trial` of a search.

    Example:
        >>> from zoo.experiments.results import result_name
        >>> result_name({"model": "qdren", "tag": "wide", "task": 2, "seed": 0})
        'qdren-wide-task-02-seed-0'
    """
    if "trial" in result:
        return f"trial-{result['trial']}"
    words = result["model"], result.get("tag"), result["task"]
    return run_name(*words, f"seed-{result['seed']}")


def identity_of(result: Result) -> tuple[Any, ...]:
    """Returns the fields that identify a run within its study, or a trial within its search.

    Args:
        result: `model`, `tag`, `task` and `seed` of a run, or `trial` of a search.

    Example:
        >>> from zoo.experiments.results import identity_of
        >>> identity_of({"model": "qdren", "tag": "wide", "task": 2, "seed": 0})
        ('qdren', 'wide', 2, 0)
    """
    if "trial" in result:
        return (result["trial"],)
    return result["model"], result.get("tag") or "", result["task"], result["seed"]


def read_results(study: str, folder: str | os.PathLike = "results") -> list[Result]:
    """Reads the results of a study, or of a search as `searches/NAME`."""
    path = _path(study, folder)
    old = path.with_suffix("").glob("*.json")
    contents = [_check(each, load_json(each), study) for each in old]
    lines = read_text(path, "JSON").split("\n") if path.exists() else []
    for number, line in enumerate(lines, 1):
        place = f"{path}:{number}"
        if line.strip():
            contents.append(_check(place, parse_json(line, place, REMEDY), study))
    results = {identity_of(content): content for content in contents}
    return sorted(results.values(), key=result_name)


def check_results(folder: str | os.PathLike = "results") -> None:
    """Checks that there is room for one more result, before it is computed.

    Raises:
        OSError: if there is no room, or the folder is not writable; the error says what to do.
    """
    # Adding a result rewrites the whole file of the study.
    sizes = (path.stat().st_size for path in pathlib.Path(folder).rglob("*.jsonl"))
    check_room(folder, size := max(sizes, default=0) + ROOM, size)


def append_result(
    result: Result,
    folder: str | os.PathLike = "results",
    check: Callable[[list[Result]], object] = lambda known: None,
) -> None:
    """Adds the result of a run to its study, replacing an earlier one of the same run.

    Args:
        result: the result.
        folder: folder of results.
        check: function that raises an error if the known results of the study refuse this one.
    """
    with hold(folder, wait=True):
        known = read_results(result["study"], folder)
        check(known)
        results = {identity_of(each): each for each in (*known, result)}
        _write(result["study"], results.values(), folder)


def replace_results(
    study: str, results: Iterable[Result], folder: str | os.PathLike = "results"
) -> None:
    """Replaces all results of a study or search."""
    with hold(folder, wait=True):
        _write(study, results, folder)
        for old in _path(study, folder).with_suffix("").glob("*.json"):
            old.unlink()


def recorded_searches(folder: str | os.PathLike = "results") -> list[str]:
    """Returns the sorted names of the searches with results."""
    root = pathlib.Path(folder, SEARCHES)
    old = (path.parent.name for path in root.glob("*/*.json"))
    return sorted({*old, *(path.name.removesuffix(".jsonl") for path in root.glob("*.jsonl"))})


def validation_rank(result: Result) -> tuple[float, float]:
    """Returns a sort key that is greater for better runs: validation accuracy, then loss."""
    return rank(result["valid_accuracy"], result["valid_loss"])


def best_result(results: Iterable[Result]) -> Result:
    """Returns the result with the highest validation accuracy, then the lowest loss."""
    return max(results, key=validation_rank)


def group_seeds(trials: Iterable[Result]) -> list[list[Result]]:
    """Groups the trials of a search that differ only in a chosen seed, the best setting first.

    Settings with more seeds come first, so that those with failed or missing trials rank lower;
    then settings are ranked as results are, by the means over their seeds.
    """
    groups: dict[str, list[Result]] = collections.defaultdict(list)
    for trial in trials:
        chosen = dict(trial["chosen"])
        # Without a choice of seeds, as in rounds of Hyperband, each trial is a group of its own.
        alone = "" if SEED in chosen else trial["trial"]
        chosen.pop(SEED, None)
        groups[json.dumps([alone, chosen], sort_keys=True)].append(trial)

    def mean_rank(group: list[Result]) -> tuple[float, ...]:
        return len(group), *map(statistics.fmean, zip(*map(validation_rank, group), strict=True))

    return sorted(groups.values(), key=mean_rank, reverse=True)


def best_trial(trials: Iterable[Result]) -> Result:
    """Returns the best trial of the best setting, see `group_seeds`."""
    return best_result(group_seeds(trials)[0])


def as_ranges(numbers: Iterable[int]) -> str:
    """Returns a set of numbers as a string of ranges.

    Example:
        >>> from zoo.experiments.results import as_ranges
        >>> as_ranges([3, 7, 8, 9, 15])
        '3,7-9,15'
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _from_ranges(place: str | os.PathLike, text: str) -> list[int]:
    ends = (part.split("-") for part in text.split(",") if part)
    ranges = [range(int(e[0]), int(e[-1]) + 1) for e in ends]
    count = sum(map(len, ranges))
    if not all(ranges):
        raise BadFileError(f"{place}: {text!r:.80} has a range without questions; {REMEDY}")
    if count > MOST:
        raise BadFileError(f"{place}: {count:,} wrong answers, of at most {MOST:,}; {REMEDY}")
    return list(itertools.chain.from_iterable(ranges))


def _by_answer(result: Result) -> dict[str, dict[str, str]]:
    """Returns, for each wrong answer, the ranges of the questions that have it."""
    if "test_predicted" not in result:
        return {}
    numbers: dict[str, list[int]] = {}
    for number, answer in zip(result["test_wrong"], result["test_predicted"], strict=True):
        numbers.setdefault(answer, []).append(number)
    return {"test_predicted": {answer: as_ranges(numbers[answer]) for answer in sorted(numbers)}}


def _in_order(place: str | os.PathLike, content: Result) -> list[str]:
    """Returns the wrong answers in the order of `test_wrong`."""
    predicted, wrong = content["test_predicted"], content.get("test_wrong", [])
    numbers = wrong
    if isinstance(predicted, dict):
        ranges = ((answer, _from_ranges(place, text)) for answer, text in predicted.items())
        answers = {number: answer for answer, those in ranges for number in those}
        numbers = sorted(answers)
        predicted = [answers[number] for number in numbers]
    if numbers != wrong or len(predicted) != len(wrong):
        raise BadFileError(
            f"{place}: test_predicted has not one answer for each of test_wrong; {REMEDY}"
        )
    return predicted


def _path(study: str, folder: str | os.PathLike) -> pathlib.Path:
    return pathlib.Path(folder, f"{study}.jsonl")


def _check(place: str | os.PathLike, content: Any, study: str) -> Result:
    if isinstance(content, dict):
        content = {_FIELDS_BEFORE.get(name, name): value for name, value in content.items()}
    check_content(place, content, Trial if study.startswith(SEARCHES) else _Run, REMEDY)
    if content["study"] != study:
        raise BadFileError(
            f"{place}: study: it is of {content['study']:.80}, not {study}; {REMEDY}"
        )
    if isinstance(content.get("test_wrong"), str):
        content["test_wrong"] = _from_ranges(place, content["test_wrong"])
    if not study.startswith(SEARCHES):
        wrong, count = content["test_wrong"], content["questions"]["test"]
        if len({*wrong}) < len(wrong) or wrong and not 0 <= min(wrong) <= max(wrong) < count:
            raise BadFileError(
                f"{place}: test_wrong: it is not of questions 0 to {count - 1}, each once; {REMEDY}"
            )
    if "test_predicted" in content:
        content["test_predicted"] = _in_order(place, content)
    return content


def _write(study: str, results: Iterable[Result], folder: str | os.PathLike) -> None:
    with replacing(_path(study, folder)) as partial, open(partial, "w", encoding="utf-8") as file:
        for result in sorted(results, key=result_name):
            if "test_wrong" in result:
                wrong, predicted = as_ranges(result["test_wrong"]), _by_answer(result)
                result = {**result, "test_wrong": wrong, **predicted}
            file.write(json.dumps(result, separators=(",", ":")) + "\n")
