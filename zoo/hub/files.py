"""Models from `.keras` files."""

import os
import pathlib
import zipfile
from typing import TYPE_CHECKING

from zoo import architectures

if TYPE_CHECKING:
    from zoo.architectures.text_model import TextModel


def load(path: str | os.PathLike) -> "TextModel":
    """Loads a reader from a `.keras` file, whose classes need not be imported before.

    Args:
        path: the file.

    Returns:
        The model, compiled if it was when it was saved.

    Raises:
        ValueError: if there is no such file, it is broken, or it holds no reader of the zoo.

    Example:
        >>> zoo.from_preset("qrn_babi_1").save("reader.keras")
        >>> zoo.load("reader.keras").read("Mary went to the kitchen.", "Where is Mary?").answer
        'kitchen'
    """
    import keras

    from zoo.architectures.text_model import TextModel

    if not pathlib.Path(path).exists():
        raise ValueError(f"There is no file {path}.")

    # Importing a class registers it.
    for name in architectures.__all__:
        getattr(architectures, name)
    try:
        # Keras takes what is no archive for a file that is missing.
        zipfile.ZipFile(path).close()
        model = keras.saving.load_model(path)
    except ImportError:
        raise
    except Exception as error:  # A damaged file raises anything in the libraries that read it.
        cause = str(error).partition("\n")[0]
        raise ValueError(
            f"{path} is broken, or holds no reader of this zoo ({cause}): copy it again, or save "
            "the reader again."
        ) from error
    if not isinstance(model, TextModel):
        raise ValueError(
            f"{path} holds no reader of this zoo, but a {type(model).__name__}: "
            "`keras.saving.load_model` loads it."
        )
    return model
