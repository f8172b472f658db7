"""`corefmem export`."""

from typing import Annotated, Literal

from zoo.cli.options import MODEL_FILE, argument, option


def export(
    model: MODEL_FILE,
    folder: Annotated[str, argument("FOLDER", "folder to write")],
    no_xla: Annotated[
        bool, option(None, "for TensorFlow that was built without XLA; slower", "--no-xla")
    ] = False,
    format: Literal["saved_model", "onnx"] = option(
        None, "onnx: features to logits, and the preprocessor", default="saved_model"
    ),
) -> None:
    """Write a reader as a SavedModel that answers text, or as ONNX."""
    import zoo
    from zoo.cli.inputs import load_model

    reader = load_model(model)
    zoo.export(reader, folder, jit_compile=not no_xla, format=format)
    print(f"{'ONNX' if format == 'onnx' else 'SavedModel'}: {folder}")
