"""Registration of a package's classes with Keras before the package imports them.

To load a file, Keras looks up classes by the names under which their import registers them. For a
package that imports its classes lazily, they are registered here as soon as Keras is imported: at
once if it already is, otherwise right after its import.
"""

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from typing import Any


class _Unimported:
    """A placeholder for a class, which is imported when Keras uses it."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def imported(self) -> type:
        return getattr(importlib.import_module(self._module), self._name)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self.imported(), attribute)


class _BehindKeras(importlib.abc.MetaPathFinder):
    """Calls a function once, right after the import of Keras."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call, self.looking = call, False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != "keras" or self.looking:
            return None
        # Code that looks for Keras does not always import it.
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


def register_modules(*modules: str, plugins: str) -> None:
    """Imports modules once Keras is imported, which registers their classes.

    Args:
        *modules: names of modules.
        plugins: entry-point group of packages that register classes of their own.
    """

    def import_modules() -> None:
        import importlib.metadata

        for module in modules:
            # Skips a module whose own import has just imported Keras.
            if module not in sys.modules:
                importlib.import_module(module)
        for plugin in importlib.metadata.entry_points(group=plugins):
            plugin.load()

    _with_keras(import_modules)


def register_names(module: str, names: Sequence[str]) -> None:
    """Registers classes of a module with Keras, once Keras is imported, without importing that.

    Args:
        module: name of the module that has them.
        names: names under which `register_keras_serializable("keras_corefmem")` registers them.
    """

    def register() -> None:
        import keras

        known = keras.saving.get_custom_objects()
        for name in names:
            known.setdefault(f"keras_corefmem>{name}", _Unimported(module, name))

    _with_keras(register)


def registered_class(name: str, custom_objects: dict[str, Any] | None = None) -> type | None:
    """Imports and returns the class that Keras knows by a registered name, or returns `None`."""
    import keras

    registered = keras.saving.get_registered_object(name, custom_objects)
    registered = registered.imported() if isinstance(registered, _Unimported) else registered
    return registered if isinstance(registered, type) else None


def _with_keras(call: Callable[[], None]) -> None:
    if "keras" in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, _BehindKeras(call))
