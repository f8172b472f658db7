"""`corefmem export`."""

from typing import Annotated

from keras_corefmem.utils.processes import import_keras
from zoo.cli.options import MODEL_FILE, argument


def export(
    model: MODEL_FILE, folder: Annotated[str, argument("FOLDER", "folder to write")]
) -> None:
    """Write a reader as a SavedModel that answers text."""
    import_keras()
    import zoo
    from zoo.cli.inputs import load_model

    zoo.export(load_model(model), folder)
    print(f"SavedModel: {folder}")
