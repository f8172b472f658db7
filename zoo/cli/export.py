"""`corefmem export`."""

from typing import Annotated

import typer

from keras_corefmem.utils.processes import import_quietly
from zoo.cli.options import MODEL_FILE


def export(
    model: MODEL_FILE,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="folder to write")],
) -> None:
    """Write a reader as a SavedModel that answers text."""
    import_quietly("keras")
    import zoo
    from zoo.cli.inputs import load_model

    zoo.export(load_model(model), folder)
    print(f"SavedModel: {folder}")
