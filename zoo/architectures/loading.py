"""Loading of models of any class from `.keras` files and presets."""

import os
import pathlib
import warnings
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from keras_corefmem.utils.files import BadFileError, naming_damage, parse_json
from keras_corefmem.utils.registration import registered_class

if TYPE_CHECKING:
    from zoo.architectures.text_model import TextModel


def load(path: str | os.PathLike, custom_objects: dict[str, Any] | None = None) -> "TextModel":
    """Loads a reader from a `.keras` file. Its classes in the zoo need not be imported before.

    Args:
        path: the file.
        custom_objects: classes and functions by name that are not registered with Keras, as for
            `keras.saving.load_model`.

    Returns:
        The model, compiled if it was compiled when saved.

    Raises:
        ValueError: if there is no such file, it is damaged, or it does not contain a reader.

    Example:
        >>> zoo.from_preset("qrn_babi_1").save("reader.keras")
        >>> zoo.load("reader.keras").read("Mary went to the kitchen.", "Where is Mary?").answer
        'kitchen'
    """
    import keras

    from zoo.architectures.text_model import TextModel
    from zoo.hub.loading import check_model_size
    from zoo.hub.presets import find_bundled

    path = os.path.expanduser(path)
    if pathlib.Path(path).is_dir():
        raise ValueError(f"{path} is a folder: zoo.from_preset loads presets.")
    if not pathlib.Path(path).exists():
        is_handle = path.startswith("hf://") or find_bundled(path)
        remedy = f": zoo.from_preset({path!r}) loads the preset" if is_handle else ""
        raise ValueError(f"There is no file {path}{remedy}.")

    with naming_damage(path, "copy it again, or save the reader again."):
        # For files that are not archives, Keras would report a missing file.
        with zipfile.ZipFile(path) as archive:
            content, shapes = _read_archive(archive, path)
        name, module = content["registered_name"], content["module"] or "__main__"
        cls = registered_class(name, custom_objects)
        if cls is None and module.split(".")[0] != "keras":
            raise BadFileError(
                f"{path} holds a {content['class_name']} of the module {module}, a class that "
                "Keras does not know: pass it in custom_objects, or decorate it with "
                "@keras.saving.register_keras_serializable() and import it before."
            )
        if cls is None or not issubclass(cls, TextModel):
            raise BadFileError(
                f"{path} holds a {content['class_name']}, not a reader of this zoo: "
                "`keras.saving.load_model` loads it."
            )
        with keras.saving.custom_object_scope(custom_objects or {}):
            complaint = f"{path}: the weights do not fit the model: copy it again."
            check_model_size(complaint, cls, content["config"], shapes)
        return keras.saving.load_model(path, custom_objects)


def _read_archive(archive: zipfile.ZipFile, path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the configuration in a `.keras` file, and the shapes of its weights."""
    import h5py

    from zoo.hub.presets import EXPANSION, HEADERS

    members = archive.infolist()
    if sum(member.file_size for member in members) > EXPANSION * os.path.getsize(path) + HEADERS:
        raise ValueError("it unpacks to far more than trained weights do")
    # Reading a part of a member does not verify its checksum.
    if (broken := archive.testzip()) is not None:
        raise ValueError(f"its {broken} has another checksum")
    content = parse_json(archive.read("config.json").decode(), f"{path}: config.json")
    shapes: dict[str, Any] = {}

    def note(name: str, entry: Any) -> None:
        if isinstance(entry, h5py.Dataset):
            shapes[name] = entry.shape

    with archive.open("model.weights.h5") as member, h5py.File(member) as file:
        file.visititems(note)
    return content, shapes


def from_preset(
    handle: str | os.PathLike,
    load_weights: bool = True,
    examples: Sequence | None = None,
    *,
    folder: str | os.PathLike | None = None,
    **overrides: Any,
) -> "TextModel":
    """Makes a compiled model from a preset: architecture, preprocessing and weights.

    Args:
        handle: name of a bundled preset, one of `zoo.presets()`; a folder that
            `model.save_to_preset` wrote; or `"hf://user/name"` or `"hf://user/name@revision"` on
            the Hugging Face Hub.
        load_weights: whether to load the weights of the preset instead of initializing new ones.
        examples: training examples of another task, to fine-tune the model on: words and answers
            come from the examples, and weights from the preset where they fit.
        folder: folder of presets that take precedence over those of the package.
        **overrides: arguments that replace those of the preset: of the constructor, including
            `dtype`, or, with `examples`, of `from_examples`; or `frozen`, a list of the names of
            layers to freeze, `outer/inner` for inner ones.

    Raises:
        FileNotFoundError: if a file of the preset is missing.
        ValueError: if there is no such preset, it is damaged or of a newer version, or its weights
            do not fit the overrides.
        ConnectionError: if the hub cannot be reached.

    Example:
        >>> model = zoo.from_preset("qrn_babi_1")
        >>> model.read("Mary went to the kitchen.", "Where is Mary?").answer
        'kitchen'
    """
    from zoo.architectures.text_model import TextModel

    if not isinstance(load_weights, bool):
        message = "The second argument of from_preset is load_weights: write folder=."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        load_weights, folder = True, load_weights
    return TextModel.from_preset(handle, load_weights, examples, folder=folder, **overrides)


def open_model(handle: str) -> "TextModel":
    """Loads a model from a `.keras` file, or from the preset that any other handle names."""
    return load(handle) if handle.endswith(".keras") else from_preset(handle)
