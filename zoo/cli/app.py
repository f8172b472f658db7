"""The command line, `corefmem`: its commands, and error messages of one line."""

import importlib.metadata
import itertools
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

import keras_corefmem
from keras_corefmem.utils.locks import FULL
from keras_corefmem.utils.processes import terminating_cleanly
from zoo.cli.annotate import annotate
from zoo.cli.arguments import show_arguments
from zoo.cli.demo import demo
from zoo.cli.download import download
from zoo.cli.evaluate import evaluate
from zoo.cli.explain import explain
from zoo.cli.export import export
from zoo.cli.list import list_names
from zoo.cli.options import option, parse_model
from zoo.cli.passages import passages
from zoo.cli.predict import predict
from zoo.cli.report import report
from zoo.cli.reproduce import reproduce
from zoo.cli.score import score
from zoo.cli.train import train
from zoo.cli.truecaser import truecaser

FUNCTIONS: list[Callable[..., Any]] = [train, evaluate, predict, explain, export, demo]
FUNCTIONS += [annotate, passages, list_names, download, reproduce, truecaser, score, report]
COMMANDS = {function.__name__.removesuffix("_names"): function for function in FUNCTIONS}
# Other packages add commands by this group of entry points, such as `search` of `tuning`.
PLUGINS = "corefmem_commands"
HELP = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command whose options may take several values, or none, depending on their metavar.

    If the metavar ends in `...`, `--models A B` means `--models A --models B`. If it is in
    brackets, as in `--presets [DIR]`, the value may be left out.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        kinds = {name: param.metavar or "" for param in self.params for name in param.opts}
        helps = self.get_help_option_names(ctx)
        if "--model" in kinds and not set(helps).isdisjoint(args):
            self.show_help(ctx, args, (*helps, "--model"))
        spread, rest = [], list(args)
        while rest:
            word = rest.pop(0)
            kind = kinds.get(word, "") if word.startswith("--") else ""
            if not kind.endswith(("...", "]")):
                spread.append(word)
                continue
            values = []
            while rest and re.match(r"[^-]|-\d|-?$", rest[0]):
                values.append(rest.pop(0))
                if kind.endswith("]"):
                    break
            if kind.endswith("]") and not values:
                values = [""]
            spread += [part for value in values for part in (word, value)] or [word]
        try:
            return super().parse_args(ctx, spread)
        except typer.TyperException as error:
            if getattr(error, "ctx", None) is None:
                ctx.fail(error.format_message())
            raise

    def show_help(self, ctx: Any, args: list[str], before: Sequence[str]) -> None:
        """Shows the help, with the arguments of models that are named after certain words."""
        print(ctx.get_help())
        for word, name in itertools.pairwise(args):
            if word in before and not name.startswith("-"):
                print(f"\n{show_arguments(parse_model(name))}")
        ctx.exit()


def show_version(wanted: bool) -> None:
    if wanted:
        print(f"corefmem {keras_corefmem.__version__}")
        raise typer.Exit


def options_of_all(
    version: bool = option(
        None,
        "show the version and exit",
        "--version",
        default=False,
        callback=show_version,
        is_eager=True,
    ),
) -> None:
    """Reading models that use linguistic structure as memory."""


def make_app() -> Any:
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP,
    )
    app.callback()(options_of_all)
    plugins = importlib.metadata.entry_points(group=PLUGINS)
    functions = COMMANDS | {point.name: point.load() for point in plugins}
    for name, function in functions.items():
        app.command(name, cls=Command, context_settings=HELP)(function)
    return typer.main.get_command(app)


def parse(words: Sequence[str]) -> typer.Context:
    app = make_app()
    context = app.make_context("corefmem", list(words))
    if not context.args and not context._protected_args:
        context.fail("Missing command.")
    name, command, rest = app.resolve_command(context, [*context._protected_args, *context.args])
    return command.make_context(name, rest, parent=context)


def fail(message: str) -> int:
    print("corefmem: error:", message, file=sys.stderr)
    return 2


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        argv: the words after `corefmem`; those of the process by default.

    Returns:
        The exit status, 2 for invalid input.
    """
    warnings.formatwarning = lambda message, *_: f"corefmem: warning: {message}\n"
    try:
        context = parse(sys.argv[1:] if argv is None else argv)
        with context, terminating_cleanly():
            return context.command.invoke(context) or 0
    except typer.Exit as stop:
        return stop.exit_code
    except typer.TyperException as error:
        place = getattr(error, "ctx", None)
        usage = f"{place.get_usage()}\n" if place else ""
        place = place.command_path if place else "corefmem"
        print(f"{usage}{place}: error: {error.format_message()}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        backend = os.environ.get("KERAS_BACKEND", "tensorflow")
        if error.name != backend:
            raise
        # Another version than that of the extra may not work.
        package = "'keras_corefmem[jax]'" if backend == "jax" else backend
        return fail(f"KERAS_BACKEND is {backend}, which is not installed: pip install {package}")
    except BrokenPipeError:
        # The reader of the pipe is gone, so discard what is left in the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ImportError, ValueError, OSError) as error:
        remedy = FULL.get(getattr(error, "errno", None) or 0, "")
        return fail(" ".join(str(error).split()) + f": {remedy}." * bool(remedy))
    except KeyboardInterrupt:
        print("corefmem: interrupted; the same command continues.", file=sys.stderr)
        return 130
