"""Models that are loaded from presets and saved to them."""

from zoo.hub import known_card, load_named_weights, load_preset, presets_of, write_folder


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
        return presets_of(cls)

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
            folder: path, folder of the bundled presets, as of `zoo.presets`.
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
        return load_preset(cls, handle, load_weights, examples, folder, **overrides)

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
        if not load_named_weights(self, filepath):
            super().load_weights(filepath, *args, **kwargs)
