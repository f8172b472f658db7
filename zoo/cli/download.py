"""`corefmem download`."""

from typing import Annotated, Literal

from zoo.cli.options import argument, option


def download(
    dataset: Annotated[Literal["babi"], argument(None, "the data set")],
    cache_dir: str | None = option("DIR", "instead of Keras' cache folder", default=None),
    origin: str | None = option("URL", "a copy to try before the known homes", default=None),
) -> None:
    """Get a data set from the first of its homes that has it unchanged."""
    from keras_corefmem.datasets.stories import babi

    folder = babi.download(cache_dir, origin)
    print(f"bAbI: {folder}")
    if cache_dir:
        print(f"Read it with --data-dir {folder}")
