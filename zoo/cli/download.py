"""`corefmem download`."""

from typing import Annotated, Literal

import typer


def download(
    dataset: Annotated[Literal["babi"], typer.Argument(help="the data set")],
    cache_dir: Annotated[
        str | None, typer.Option(metavar="DIR", help="instead of Keras' cache folder")
    ] = None,
) -> None:
    """Get a data set from its official home."""
    from keras_corefmem.datasets.stories import babi

    folder = babi.download(cache_dir)
    print(f"bAbI: {folder}")
    if cache_dir:
        print(f"Read it with --data-dir {folder}")
