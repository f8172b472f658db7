"""Old names that are kept for one version."""

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable)


def renamed_arguments(
    convert: Callable[[str, Any], Any] = lambda name, value: value, /, **names: str
) -> Callable[[T], T]:
    """Decorates a function or class to take arguments by their old names too, with a warning.

    Args:
        convert: function from an old name and its value to the value of the new one.
        **names: the new name of each old one.
    """

    def decorate(target: Any) -> Any:
        if inspect.isclass(target):
            initializer: Any = target
            initializer.__init__ = decorate(initializer.__init__)
            return target

        @functools.wraps(target)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for old in names.keys() & kwargs.keys():
                warning = f"The argument {old} is now called {names[old]}."
                warnings.warn(warning, DeprecationWarning, stacklevel=2)
                kwargs[names[old]] = convert(old, kwargs.pop(old))
            return target(*args, **kwargs)

        return wrapper

    return decorate


def renamed_names(module: str, **names: str) -> Callable[[str], Any]:
    """Makes a module's `__getattr__` that finds functions or classes by their old names.

    Args:
        module: name of the module.
        **names: the new name of each old one.
    """

    def getattr_of_module(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warning = f"{module}.{name} is now called {names[name]}."
        warnings.warn(warning, DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(module), names[name])

    return getattr_of_module
