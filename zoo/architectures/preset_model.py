"""Models that are loaded from presets and saved to them."""

from keras_corefmem.utils.files import naming_damage
from keras_corefmem.utils.registration import registered_class
from zoo.hub import (
    describe_class,
    known_card,
    load_named_weights,
    load_preset,
    open_preset,
    read_presets,
    write_folder,
)


class ClassProperty(property):
    """A property of a class."""

    def __get__(self, model, model_class=None):
        return self.fget(model_class)


class PresetModel:
    """The part of a model that deals with presets."""

    @ClassProperty
    def presets(cls):
        """Cards of the bundled presets of this class by name: data set, measured numbers, licence.

        The names are what `from_preset` takes.
        """
        contents = read_presets().items()
        return {n: each["card"] for n, each in contents if find_class(each["class"], cls)}

    @classmethod
    def from_preset(cls, handle, load_weights=True, examples=None, *, folder=None, **overrides):
        """A model of a preset: architecture, preprocessing and weights, compiled with its defaults.

        With `examples`, it is a model for another task and vocabulary, to be fine-tuned: its
        preprocessing is learned from the examples with the settings of the preset. Vectors of words
        and weights of answers that both know are the preset's, as all other weights of unchanged
        shape; `coverage` tells how many words have such a vector.

        ```python
        model = zoo.from_preset("ga_coref_gru_babi_1", examples=train)
        model.fit(train, epochs=5)
        ```

        Args:
            handle: str or path, name of a bundled preset, of those in `presets`; a folder that
                `save_to_preset` wrote; or `"hf://user/name"` or `"hf://user/name@revision"` on the
                Hugging Face Hub.
            load_weights: bool, whether to take the weights of the preset, rather than new ones.
            examples: list, training examples of another task; `None` for that of the preset.
            folder: path, folder of presets that come before those of the package.
            **overrides: arguments in place of those of the preset: of the constructor, `dtype`
                included, or with `examples` of `from_examples`.

        Raises:
            FileNotFoundError: if a file of the preset is missing.
            ValueError: if there is no such preset, it is of another class, damaged, or of a newer
                version, or its weights do not fit the overrides.
            ConnectionError: if the hub is out of reach.

        Example:

        >>> model = zoo.QueryReductionNetwork.from_preset("qrn_babi_1")
        >>> model.read("Mary went to the kitchen.", "Where is Mary?").answer
        'kitchen'
        """
        preset = open_preset(handle, folder)
        found = find_class(preset.class_name, cls)
        if found is None and find_class(preset.class_name, PresetModel) is None:
            raise ValueError(
                f"{preset.handle}: the class {preset.class_name!r:.80} is not a model of the zoo, "
                "nor derived from one and imported: import the module that defines it."
            )
        if found is None:
            raise ValueError(
                f"{preset.handle} is a {preset.short_class_name}, not a {cls.__name__}: "
                "zoo.from_preset loads presets of all classes."
            )
        return load_preset(found, preset, load_weights, examples, overrides)

    def save_to_preset(self, folder, card=None):
        """Writes architecture, preprocessing and weights to a folder, for `from_preset`.

        The folder is written whole or not at all, and holds `config.json`, with the SHA-256 of the
        other files, `preprocessor.json`, `model.weights.h5`, with the weights by name, and
        `README.md`, a model card. It holds no optimizer: `model.save` does.

        Args:
            folder: path, a new folder, or that of a preset, which is replaced.
            card: dict, facts for the model card by name, such as `dataset`, `test_accuracy` and
                `licence`. By default those of the preset that the model is, or the last logs of
                `fit`.

        Raises:
            ValueError: if the folder holds anything but a preset, a layer is quantized or has LoRA,
                or two weights have the same name.

        Example:

        >>> model = zoo.from_preset("qrn_babi_1")
        >>> model.save_to_preset("my_reader", card={"licence": "apache-2.0"})
        >>> zoo.from_preset("my_reader").count_params() == model.count_params()
        True
        """
        write_folder(self, folder, known_card(self) if card is None else card)

    def load_weights(self, filepath, *args, **kwargs):
        """Loads weights that Keras saved, or the `model.weights.h5` of a preset."""
        with naming_damage(filepath, "is it of another model? Save the weights again."):
            if not load_named_weights(self, filepath):
                super().load_weights(filepath, *args, **kwargs)


def find_class(name, base):
    """Returns the class that a preset names, if it is `base` or derived from it, or `None`.

    It is a class that is registered with Keras, or one of a user's that is at least imported.
    """
    registered = registered_class(name if ">" in name else f"keras_corefmem>{name}")
    if registered is not None and issubclass(registered, base):
        return registered
    classes = [base]
    for each in classes:
        classes += each.__subclasses__()
    # What the zoo itself does not register are base classes.
    classes = [each for each in classes if not each.__module__.startswith("zoo.")]
    named = [each for each in classes if name in (describe_class(each), each.__name__)]
    return named[-1] if named else None
