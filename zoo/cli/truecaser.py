"""`corefmem truecaser`."""

import pathlib
from collections.abc import Iterator
from typing import Annotated

from zoo.cli.options import argument, option


def truecaser(
    inputs: Annotated[
        list[str], argument("FILE", "plain text with its capitals, or folders of .txt")
    ],
    output: Annotated[str, option("FILE.json", "file to write")],
) -> None:
    """Learn capital letters, for texts in lower case."""
    from rich.progress import track

    from keras_corefmem.text.truecase import Truecaser
    from keras_corefmem.visualization import make_console

    console = make_console()
    paths = [path for name in inputs for path in find_texts(name)]
    progress = track(paths, "Reading", console=console, disable=not console.is_terminal)
    learned = Truecaser.learn(paragraph for path in progress for paragraph in read(path))
    learned.save(output)
    names = sum(word != form for word, form in learned.forms.items())
    console.print(f"{len(learned.forms):,} words of {len(paths)} files, {names:,} with capitals.")
    console.print(f"Written: {output}")


def find_texts(name: str) -> list[pathlib.Path]:
    path = pathlib.Path(name)
    if not path.is_dir():
        return [path]
    paths = sorted(path.rglob("*.txt"))
    if not paths:
        raise FileNotFoundError(f"{name}: no .txt files in this folder, pass one with some.")
    return paths


def read(path: pathlib.Path) -> Iterator[str]:
    """Reads the paragraphs of a file, which are separated by blank lines, each as one line."""
    from keras_corefmem.utils.files import read_text

    paragraphs = read_text(path, "plain text").split("\n\n")
    return filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs))
