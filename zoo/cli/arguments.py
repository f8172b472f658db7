"""The output of `--help MODEL`: settings and arguments of a model, as `--set` takes them."""

import ast
import json
import shutil
import textwrap
from collections.abc import Iterable

# Widths of the columns of names and defaults.
NAME, DEFAULT = 25, 16


def show_arguments(model: str) -> str:
    """Lists the settings and arguments of a model with their defaults."""
    from zoo.architectures.listing import describe_arguments, list_arguments
    from zoo.configs.configurations import configuration
    from zoo.training.settings import FIELDS, Settings

    known, settings = configuration(model), Settings.of(model)
    texts = describe_arguments(Settings.__doc__ or "")
    fields = (name for name in FIELDS if name != "arguments")
    rows = [(name, json.dumps(getattr(settings, name)), texts[name]) for name in fields]
    own = {**known.arguments, **settings.arguments}
    arguments = [
        (name, json.dumps(own[name]) if name in own else _as_json(default), text)
        for name, (default, text, _) in list_arguments(known.class_name).items()
    ]
    return (
        f"{model}: {known.description}\n\nSettings, as --set NAME=JSON:\n{_table(rows)}\n\n"
        f"Arguments of the model, as --set NAME=JSON:\n{_table(arguments)}"
    )


def _as_json(default: str) -> str:
    """Returns a default in source code as JSON, or unchanged if it is not a literal."""
    try:
        return json.dumps(ast.literal_eval(default or "None"))
    except ValueError:
        return default


def _table(rows: Iterable[tuple[str, str, str]]) -> str:
    width = max(80, shutil.get_terminal_size().columns)
    lines = []
    for name, default, text in rows:
        head = f"  {name:<{NAME}} {default:<{DEFAULT}} "
        indent = " " * (NAME + DEFAULT + 4)
        lines.append(textwrap.fill(text, width, initial_indent=head, subsequent_indent=indent))
    return "\n".join(lines)
