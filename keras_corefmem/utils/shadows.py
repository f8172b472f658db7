"""Warnings of a user's folders that Python imports instead of an installed package."""

import importlib.util
import pathlib
import warnings


def warn_of_shadows(*names: str) -> None:
    """Warns of packages installed beside this one that a folder of the same name hides.

    Args:
        *names: names of packages, which are not imported.
    """
    installed = pathlib.Path(__file__).parents[2]
    for name in names:
        ours = installed / name / "__init__.py"
        spec = importlib.util.find_spec(name) if ours.is_file() else None
        if spec is None or (spec.origin and pathlib.Path(spec.origin).samefile(ours)):
            continue
        local = spec.origin or next(iter(spec.submodule_search_locations or ()), name)
        warnings.warn(f"{local} hides the installed package {name}: rename it.", stacklevel=3)
