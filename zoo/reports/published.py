"""Published numbers, for comparison with the measured ones."""

import dataclasses
import functools

import pydantic

from zoo.configs.configurations import FOLDER, read_toml


@pydantic.dataclasses.dataclass(frozen=True, config=pydantic.ConfigDict(extra="forbid"))
class PublishedRow:
    """Scores that a paper reports for a model, in percent and as the study measures them.

    Args:
        paper: the citation, and the paper's name of the model.
        errors: test errors of the tasks 1 to 20.
        mean: their mean.
        failed: number of tasks above 5%.
        scores: scores by task, instead of `errors`.
        maxima: scores of the best run by task, if `scores` are means over runs.
        best: score of the best number of passes, by group of tasks.
        kinds: scores by kind of question.
        more_data: whether the model learned from more than the training data of the study.

    Example:
        >>> zoo.reports.PublishedRow("Kumar et al. 2016", scores={"words": 97.5}).failed is None
        True
    """

    paper: str
    errors: tuple[float, ...] = ()
    mean: float | None = None
    failed: int | None = None
    scores: dict[int | str, float] = dataclasses.field(default_factory=dict)
    maxima: dict[int | str, float] = dataclasses.field(default_factory=dict)
    best: dict[str, float] = dataclasses.field(default_factory=dict)
    kinds: dict[str, float] = dataclasses.field(default_factory=dict)
    more_data: bool = False

    def __post_init__(self) -> None:
        # Keys of TOML are strings.
        numbered = {key: int(key) for key in self.scores if str(key).isdigit()}
        self.scores.update({number: self.scores.pop(key) for key, number in numbered.items()})
        self.scores.update(enumerate(self.errors, 1))


@functools.cache
def published_rows(study: str) -> dict[str, list[PublishedRow]]:
    """Reads the published numbers of a study, for its models and for others.

    Args:
        study: name of the study.

    Returns:
        Rows by model, or by another name if the zoo has no such model; empty if there are no
        published numbers.

    Raises:
        ValueError: if a key of the file is unknown, missing or wrong.

    Example:
        >>> [row.mean for row in zoo.reports.published_rows("babi-1k")["qrn"]]
        [9.9]
    """
    path = FOLDER / "published" / f"{study}.toml"
    return read_toml(path, dict[str, list[PublishedRow]]) if path.exists() else {}
