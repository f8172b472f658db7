"""The named models of the zoo, from the TOML files in `models`, one per family."""

import functools
import pathlib
import tomllib
from typing import Annotated, Any, Literal

import pydantic
from typing_extensions import TypedDict

from keras_corefmem.utils.files import BadFileError, check_content, read_text
from keras_corefmem.utils.names import did_you_mean

FOLDER = pathlib.Path(__file__).parent
REMEDY = "correct it."
STRICT = pydantic.ConfigDict(extra="forbid", strict=True)
Reads = Literal["passages", "stories", "sentences", "texts"]


def _never_is_none(value: object) -> object:
    # TOML has no null.
    return None if value == "never" else value


def _check_mentions(value: object) -> object:
    share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    if value not in (None, "random") and not share:
        raise ValueError('must be a share from 0 to 1 or "random"')
    return value


def _check_augment(value: object) -> object:
    if value is not None:
        # Only a few runs need it.
        from keras_corefmem.preprocessing.augmentation.choices import check_names

        check_names(value)
    return value


@pydantic.with_config(STRICT)
class TrainingOptions(TypedDict, total=False):
    """Fields that override the defaults of `zoo.training.Settings`, which describes them.

    Example:

    >>> zoo.configs.TrainingOptions(learning_rate=0.01)
    {'learning_rate': 0.01}
    """

    epochs: pydantic.PositiveInt
    patience: pydantic.PositiveInt
    batch_size: pydantic.PositiveInt
    learning_rate: Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]
    halve_every: Annotated[pydantic.PositiveInt | None, pydantic.BeforeValidator(_never_is_none)]
    optimizer: Literal["adam", "rmsprop", "sgd", "adagrad"]
    clip_norm: pydantic.PositiveFloat
    clip_each: bool
    average: Annotated[float, pydantic.Field(ge=0, lt=1)]
    buckets: pydantic.PositiveInt
    train_size: pydantic.PositiveInt | None
    mentions: Annotated[Any, pydantic.AfterValidator(_check_mentions)]
    unanswerable: Annotated[float, pydantic.Field(gt=0, le=1)] | None
    augment: Annotated[str | dict[str, str] | None, pydantic.BeforeValidator(_check_augment)]
    arguments: dict[str, Any]


@pydantic.with_config(STRICT)
class _Overrides(TypedDict, total=False):
    arguments: dict[str, Any]
    training: TrainingOptions


@pydantic.with_config(STRICT)
class _DatasetOverrides(_Overrides, total=False):
    tasks: dict[str, _Overrides]
    word_vectors: bool


@pydantic.dataclasses.dataclass(frozen=True, kw_only=True, config={"extra": "forbid"})
class Configuration:
    """A named model: its class, arguments and training.

    Args:
        name: name of the model.
        family: name of its family.
        reads: `"passages"`, `"stories"` sentence by sentence, single `"sentences"`, or
            `"texts"` of any kind.
        description: description in one line.
        class_name: name of its class in `zoo`.
        arguments: arguments of the `from_examples` method of its class.
        word_vectors: whether its runs in studies start from pretrained word vectors, as in `Study`;
            `datasets` may override it.
        training: training options that differ from the defaults of `zoo.training.Settings`.
        datasets: overrides of arguments and training by name of a data set and, in its `tasks`, by
            name of a task.
        differs: differences from the model of its paper.

    Example:

    >>> zoo.configs.configuration("ga-coref-gru").arguments
    {'layers': 3, 'encoder': 'coref_gru'}
    """

    name: str
    family: str
    reads: Reads
    description: str
    class_name: str = pydantic.Field(alias="class")
    arguments: dict[str, Any] = pydantic.Field(default_factory=dict)
    word_vectors: bool = False
    training: TrainingOptions = pydantic.Field(default_factory=TrainingOptions)
    datasets: dict[str, _DatasetOverrides] = pydantic.Field(default_factory=dict)
    differs: str = ""

    def training_options(
        self, dataset: str | None = None, task: int | str | None = None
    ) -> TrainingOptions:
        """Returns the training options for a data set, with `arguments` if it overrides any.

        Args:
            dataset: name of the data set.
            task: task of the data set.
        """
        own = self.datasets.get(dataset or "", _DatasetOverrides())
        of_task = own.get("tasks", {}).get(str(task), _Overrides())
        training = own.get("training", {}), of_task.get("training", {})
        arguments = {**own.get("arguments", {}), **of_task.get("arguments", {})}
        options = TrainingOptions(**{**self.training, **training[0], **training[1]})
        return TrainingOptions(**options, arguments=arguments) if arguments else options


def read_toml(path: str | pathlib.Path, kind: Any) -> Any:
    """Reads a TOML file and checks its type; errors name the file."""
    text = read_text(path, "TOML")
    try:
        content = tomllib.loads(text)
    except ValueError as error:
        # Invalid TOML, or an integer of thousands of digits.
        raise BadFileError(f"{path} is not valid TOML: {error}.") from None
    except RecursionError:
        raise BadFileError(f"{path} is not valid TOML: it is nested too deeply.") from None
    return check_content(path, content, kind, REMEDY)


def _merge(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    both = (key for key in own if isinstance(own[key], dict) and isinstance(shared.get(key), dict))
    return {**shared, **own, **{key: _merge(shared[key], own[key]) for key in both}}


def read_family(path: str | pathlib.Path) -> dict[str, Configuration]:
    """Reads the models of a family from its TOML file."""
    shared = read_toml(path, dict[str, Any])
    own_models = shared.pop("models", {})
    entries = check_content(f"{path}: models", own_models, dict[str, dict[str, Any]], REMEDY)
    models: dict[str, Configuration] = {}
    for name, own in entries.items():
        merged = _merge({"name": name, **shared}, own)
        models[name] = check_content(f"{path}: models.{name:.80}", merged, Configuration, REMEDY)
    return models


@functools.cache
def _all() -> dict[str, Configuration]:
    configurations: dict[str, Configuration] = {}
    for path in sorted((FOLDER / "models").glob("*.toml")):
        configurations |= read_family(path)
    return configurations


def models(family: str | None = None) -> list[str]:
    """Lists the zoo's models.

    Args:
        family: name of a family, whose models come in the order of its file; `None` for all models
            in alphabetical order.

    Returns:
        Names of models.

    Example:

    >>> zoo.models("dmn")
    ['dmn', 'dmn-supervised', 'dmn-printed', 'dmn-plus']
    """
    if family is None:
        return sorted(_all())
    return [name for name, model in _all().items() if model.family == family]


def configuration(name: str) -> Configuration:
    """Looks up a named model.

    Args:
        name: one of `zoo.models()`, with hyphens or underscores.

    Raises:
        ValueError: if there is no such model.

    Example:

    >>> zoo.configs.configuration("qdren").class_name
    'RecurrentEntityNetwork'
    """
    hyphened = name.replace("_", "-")
    if hyphened not in _all():
        raise ValueError(
            f"There is no model {name!r}; choose one of {', '.join(models())}."
            f"{did_you_mean(name, models())}"
        )
    return _all()[hyphened]
