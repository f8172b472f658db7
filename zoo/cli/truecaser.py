"""`corefmem truecaser`: learns capital letters, for `corefmem annotate --truecaser`."""

import pathlib

from rich.progress import track

from keras_corefmem.text.truecase import Truecaser
from keras_corefmem.utils.files import read_text
from keras_corefmem.visualization import make_console


def learn(args):
    console = make_console()
    paths = [path for name in args.inputs for path in find_texts(name)]
    progress = track(paths, "Reading", console=console, disable=not console.is_terminal)
    truecaser = Truecaser.learn(paragraph for path in progress for paragraph in read(path))
    truecaser.save(args.output)
    names = sum(word != form for word, form in truecaser.forms.items())
    console.print(f"{len(truecaser.forms):,} words of {len(paths)} files, {names:,} with capitals.")
    console.print(f"Written: {args.output}")


def find_texts(name):
    """A file, or the `.txt` files in a folder and in those below it."""
    path = pathlib.Path(name)
    if not path.is_dir():
        return [path]
    found = sorted(path.rglob("*.txt"))
    if not found:
        raise FileNotFoundError(f"{name}: no .txt files in this folder, pass one with some.")
    return found


def read(path):
    """The paragraphs of a file, which blank lines separate, each on one line."""
    paragraphs = read_text(path, "plain text").split("\n\n")
    return filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs))
