"""`corefmem export`."""

from typing import Annotated

from zoo.cli.options import MODEL_FILE, argument


def export(
    model: MODEL_FILE, folder: Annotated[str, argument("FOLDER", "folder to write")]
) -> None:
    """Write a reader as a SavedModel that answers text."""
    import zoo
    from zoo.cli.inputs import load_model

    reader = load_model(model)
    zoo.export(reader, folder)
    print(f"SavedModel: {folder}")
