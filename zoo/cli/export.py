"""`corefmem export`."""

from typing import Annotated, Literal

from zoo.cli.options import MODEL_FILE, argument, option


def export(
    model: MODEL_FILE,
    folder: Annotated[str, argument("FOLDER", "folder to write")],
    no_xla: Annotated[
        bool, option(None, "for TensorFlow that was built without XLA; slower", "--no-xla")
    ] = False,
    format: Literal["saved_model", "onnx", "litert"] = option(
        None, "onnx, litert: features to logits, and the preprocessor", default="saved_model"
    ),
    length: int | None = option(
        "N", "litert: tokens, or sentences of a story, that are read; 100 by default", default=None
    ),
    question_length: int | None = option(
        "N", "litert: tokens of questions; 20 by default", default=None
    ),
) -> None:
    """Write a reader as a SavedModel that answers text, as ONNX or as LiteRT."""
    import zoo
    from zoo.cli.inputs import load_model

    lengths = {"length": length, "question_length": question_length}
    lengths = {name: value for name, value in lengths.items() if value is not None}
    if lengths and format != "litert":
        raise ValueError(f"--{next(iter(lengths)).replace('_', '-')} is for --format litert.")
    if no_xla and format != "saved_model":
        raise ValueError(f"--no-xla is for --format saved_model, not {format}: leave it out.")
    reader = load_model(model)
    zoo.export(reader, folder, jit_compile=False if no_xla else None, format=format, **lengths)
    names = {"saved_model": "SavedModel", "onnx": "ONNX", "litert": "LiteRT"}
    print(f"{names[format]}: {folder}")
