"""Arguments of models, read from their source without importing Keras."""

import ast
import functools
import inspect
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pydantic

from keras_corefmem.utils.files import validate
from zoo.architectures import config

FOLDER = pathlib.Path(__file__).parent
# Arguments of constructors that do not describe the architecture.
UNLISTED = {"self", "cls", "examples", "preprocessor", "name", "trainable"}


class Argument(NamedTuple):
    """An argument of a model: its default and type as written, and its docstring entry."""

    default: str
    description: str
    annotation: str


@functools.cache
def _definitions() -> dict[str, ast.stmt]:
    """Returns the classes and assignments of the architectures' modules by name."""
    statements: dict[str, ast.stmt] = {}
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                statements[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                statements.setdefault(node.targets[0].id, node)
    return statements


@functools.cache
def list_arguments(class_name: str) -> dict[str, Argument]:
    """Lists the arguments of a model's `from_examples` besides the examples, by name.

    Args:
        class_name: name of a class of the zoo.
    """
    constructor, start = (_find(class_name, name) for name in ("__init__", "from_examples"))
    texts: dict[str, str] = {}
    arguments: dict[str, Argument] = {}
    for owner, function in (constructor, start):
        for node in (owner, function):
            texts |= describe_arguments(ast.get_docstring(node) or "")
        for argument, default in _parameters(function):
            if argument.arg not in UNLISTED and not _is_learned(argument.annotation):
                written = ast.unparse(default) if default else ""
                kind = ast.unparse(argument.annotation) if argument.annotation else "Any"
                arguments[argument.arg] = Argument(written, texts.get(argument.arg, ""), kind)
    if not _has_word_vectors(class_name):
        arguments.pop("word_vectors", None)
    return dict(sorted(arguments.items()))


def check_values(class_name: str, values: Mapping[str, Any]) -> None:
    """Checks values of arguments one by one as the constructor does, but not their combinations.

    Args:
        class_name: name of a class of the zoo.
        values: values by name, for arguments that `list_arguments` lists.
    """
    known = list_arguments(class_name)
    # Annotations consist of types of the module `config`.
    fields: dict[str, Any] = {n: (eval(known[n].annotation, vars(config)), None) for n in values}
    kind = pydantic.create_model(class_name, __base__=config.Arguments, **fields)
    validate(class_name, values, kind)


def describe_arguments(docstring: str) -> dict[str, str]:
    """Returns the entries of `Args:` by name."""
    _, _, section = inspect.cleandoc(docstring).partition("\nArgs:\n")
    section = re.split(r"^\S", section, maxsplit=1, flags=re.MULTILINE)[0]
    entries = re.findall(r"^    (\w+): (.*?)(?=^    \S|\Z)", section, re.MULTILINE | re.DOTALL)
    return {name: " ".join(words.split()) for name, words in entries}


def _family(class_name: str) -> Iterator[ast.ClassDef]:
    """Yields a class of the zoo and its base classes in the zoo, in order."""
    node = _definitions().get(class_name)
    if isinstance(node, ast.ClassDef):
        yield node
        for base in node.bases:
            if isinstance(base, ast.Name):
                yield from _family(base.id)


def _find(class_name: str, method: str) -> tuple[ast.ClassDef, ast.FunctionDef]:
    """Returns the first class of a family that defines a method, and the method."""
    return next(
        (owner, node)
        for owner in _family(class_name)
        for node in owner.body
        if isinstance(node, ast.FunctionDef) and node.name == method
    )


def _has_word_vectors(class_name: str) -> bool:
    values = (
        ast.literal_eval(node.value)
        for owner in _family(class_name)
        for node in owner.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HAS_WORD_VECTORS"
    )
    return next(values)


def _parameters(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    own = function.args
    defaults = [*[None] * (len(own.args) - len(own.defaults)), *own.defaults, *own.kw_defaults]
    return list(zip([*own.args, *own.kwonlyargs], defaults, strict=True))


def _is_learned(annotation: ast.expr | None) -> bool:
    """Returns whether an annotation is marked as learned from the data."""
    nodes = ast.walk(annotation) if annotation else ()
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    known = (_definitions().get(name) for name in names)
    return "LEARNED" in names or any(
        _is_learned(node.value) for node in known if isinstance(node, ast.Assign)
    )
