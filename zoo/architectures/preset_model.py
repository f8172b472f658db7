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
    """A mixin with the methods of a model that load and save presets."""

    @ClassProperty
    def presets(cls):
        """Cards of the bundled presets of this class: data set, measured numbers, licence.

        The keys are the names that `from_preset` takes.
        """
        contents = read_presets().items()
        return {n: each["card"] for n, each in contents if find_class(each["class"], cls)}

    @classmethod
    def from_preset(cls, handle, load_weights=True, examples=None, *, folder=None, **overrides):
        """Makes a model from a preset: architecture, preprocessing and weights, compiled.

        With `examples`, the model is one for another task and vocabulary, to be fine-tuned. Its
        preprocessing is learned from the examples with the settings of the preset. Word vectors
        and answer weights are copied for words and answers that both know, as are all other
        weights of unchanged shape; `coverage` says how many words have such a vector.

        ```python
        model = zoo.from_preset("ga_coref_gru_babi_1", examples=train)
        model.fit(train, epochs=5)
        ```

        Args:
            handle: str or path, name of a bundled preset, of those in `presets`; a folder that
                `save_to_preset` wrote; or `"hf://user/name"` or `"hf://user/name@revision"` on the
                Hugging Face Hub.
            load_weights: bool, whether to load the weights of the preset instead of initializing
                new ones.
            examples: list, training examples of another task; `None` for the preset's own task.
            folder: path, folder of presets that take precedence over those of the package.
            **overrides: arguments that replace those of the preset: of the constructor, including
                `dtype`, or, with `examples`, of `from_examples`; or `frozen`, a list of the names
                of layers to freeze, `outer/inner` for inner ones.

        Raises:
            FileNotFoundError: if a file of the preset is missing.
            ValueError: if there is no such preset, it is of another class, damaged, or of a newer
                version, or its weights do not fit the overrides.
            ConnectionError: if the hub cannot be reached.

        Example:

        >>> model = zoo.QueryReductionNetwork.from_preset("qrn_babi_1")
        >>> model.read("Mary went to the kitchen.", "Where is Mary?").answer
        'kitchen'
        """
        preset = open_preset(handle, folder)
        model_class = find_class(preset.class_name, cls)
        if model_class is None and find_class(preset.class_name, PresetModel) is None:
            raise ValueError(
                f"{preset.handle}: the class {preset.class_name!r:.80} is not a model of the zoo, "
                "nor derived from one and imported: import the module that defines it."
            )
        if model_class is None:
            raise ValueError(
                f"{preset.handle} is a {preset.short_class_name}, not a {cls.__name__}: "
                "zoo.from_preset loads presets of all classes."
            )
        return load_preset(model_class, preset, load_weights, examples, overrides)

    def save_to_preset(self, folder, card=None):
        """Writes architecture, preprocessing and weights to a folder, for `from_preset`.

        The folder is written completely or not at all. It contains `config.json`, with SHA-256
        sums, `preprocessor.json`, `model.weights.h5`, with the weights by name, and `README.md`, a
        model card. It does not contain the optimizer, which `model.save` does save.

        Args:
            folder: path, a new folder, or one with a preset, which is replaced.
            card: dict, facts for the model card by name, such as `dataset`, `test_accuracy` and
                `licence`. The default is the card of the preset if the model is unchanged, or else
                the last logs of `fit`.

        Raises:
            ValueError: if the folder contains anything but a preset, a layer is quantized or has
                LoRA, or two weights have the same name.

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
    """Returns the class that a preset names if it is `base` or a subclass of it, else `None`.

    The class is registered with Keras, or a user's own that has been imported.
    """
    registered = registered_class(name if ">" in name else f"keras_corefmem>{name}")
    if registered is not None and issubclass(registered, base):
        return registered
    classes = [base]
    for each in classes:
        classes += each.__subclasses__()
    # Classes of the zoo that are not registered are base classes.
    classes = [each for each in classes if not each.__module__.startswith("zoo.")]
    named = [each for each in classes if name in (describe_class(each), each.__name__)]
    return named[-1] if named else None
