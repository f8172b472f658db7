"""Pages of the site that are not in docs/: README, results, changelog, and the API reference."""

import importlib
import posixpath
import re
import types
from pathlib import Path

import griffe
from mkdocs.structure.files import File

import keras_corefmem

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "results/README.md": "results.md",
}
FILES = ("CITATION.cff", "LICENSE")
ROOMS = (
    *(f"keras_corefmem.{name}" for name in keras_corefmem.__all__ if name != "utils"),
    *("keras_corefmem.graphs.coreference", "keras_corefmem.graphs.formats"),
    *("zoo", "zoo.reading", "zoo.reports", "zoo.training", "zoo.experiments", "tuning"),
)
# What all models of the zoo do alike, described once.
METHODS = (
    *("from_preset", "save_to_preset", "compile", "fit", "evaluate", "predict", "batches"),
    *("read", "inspect", "attend", "views", "answer_views", "tensorboard_callbacks"),
)


class Sections(griffe.Extension):
    """Shows sections that Google's style does not know as the ones that it does."""

    def on_object(self, *, obj, **kwargs):
        if obj.docstring:
            text = obj.docstring.value.replace("Call arguments:\n", "Args: Call arguments:\n")
            obj.docstring.value = text.replace("Example:\n", "Examples:\n")


def reference(room):
    """Page of the public names of a room, each described where it is defined."""
    module = importlib.import_module(room)
    parts = [f"# {room}", (module.__doc__ or "").strip()]
    names = [f"{room}.{name}" for name in sorted(module.__all__)]
    # Rooms have pages of their own.
    things = {name: getattr(module, name[len(room) + 1 :]) for name in names if name not in ROOMS}
    if room == "zoo":
        model = module.GatedAttentionReader
        things |= {f"model.{name}": getattr(model, name) for name in METHODS}
    for name, thing in things.items():
        if isinstance(thing, types.ModuleType):
            path = thing.__name__
        else:
            path = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
        # Constants are described where they are used.
        if path.startswith(room.partition(".")[0]):
            label = name.removeprefix(f"{room}.")
            # A model's own arguments, though another class defines the method.
            options = f"heading: {name}, toc_label: {label}, inherited_members: [from_examples]"
            parts.append(f"::: {path}\n    options: {{{options}}}")
    return "\n\n".join(parts)


def on_files(files, config):
    for source, target in PAGES.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    for name in FILES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    for room in ROOMS:
        files.append(File.generated(config, f"api/{room}.md", content=reference(room)))


def on_config(config):
    config.nav[-1] = {"API reference": [f"api/{room}.md" for room in ROOMS]}


def on_page_markdown(markdown, page, **kwargs):
    """Links lead to what they lead to on the forge."""
    sources = {target: source for source, target in PAGES.items()}
    here = page.file.src_uri
    folder = posixpath.dirname(sources.get(here, f"docs/{here}"))

    def relink(match):
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        path = PAGES.get(path, path.removeprefix("docs/"))
        return f"]({posixpath.relpath(path, posixpath.dirname(here) or '.')}{match[2]}"

    return re.sub(r"\]\(([^)#:\s]+)((?:#[^)]*)?\))", relink, markdown)
