"""Makes Keras find the classes of a package in files, although the package does not import them.

Keras looks classes up by the names that they are registered under when they are imported. A package
that imports its classes when they are asked for has them registered once Keras is there: at once if
it is, otherwise right behind its import.
"""

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from typing import Any


class _Unimported:
    """A class by its room and name, which is imported when Keras uses it."""

    def __init__(self, room: str, name: str) -> None:
        self._room, self._name = room, name

    def imported(self) -> type:
        return getattr(importlib.import_module(self._room), self._name)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self.imported(), attribute)


class _BehindKeras(importlib.abc.MetaPathFinder):
    """Calls a function once, behind the import of Keras."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call, self.looking = call, False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != "keras" or self.looking:
            return None
        # Whoever looks for Keras need not import it.
        self.looking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self.looking = False
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute = loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                sys.meta_path.remove(self)
                self.call()

            loader.exec_module = exec_module
        return spec


def register_rooms(*rooms: str, plugins: str) -> None:
    """Imports rooms once Keras is imported, which registers their classes.

    Args:
        *rooms: names of modules.
        plugins: name of the entry points of packages that register classes of their own.
    """

    def import_rooms() -> None:
        import importlib.metadata

        for room in rooms:
            # One that is just being imported has Keras imported.
            if room not in sys.modules:
                importlib.import_module(room)
        for plugin in importlib.metadata.entry_points(group=plugins):
            plugin.load()

    _with_keras(import_rooms)


def register_names(room: str, names: Sequence[str]) -> None:
    """Registers classes of a room with Keras, once it is imported, without importing the room.

    Args:
        room: name of the module that has them.
        names: their names, those that `register_keras_serializable("keras_corefmem")` knows.
    """

    def register() -> None:
        import keras

        known = keras.saving.get_custom_objects()
        for name in names:
            known.setdefault(f"keras_corefmem>{name}", _Unimported(room, name))

    _with_keras(register)


def registered_class(name: str, custom_objects: dict[str, Any] | None = None) -> type | None:
    """Returns the class that Keras knows by a registered name, or `None`; it is imported."""
    import keras

    found = keras.saving.get_registered_object(name, custom_objects)
    found = found.imported() if isinstance(found, _Unimported) else found
    return found if isinstance(found, type) else None


def _with_keras(call: Callable[[], None]) -> None:
    if "keras" in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, _BehindKeras(call))
