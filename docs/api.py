"""Makes the API reference from the docstrings: `python docs/api.py FOLDER`.

Needs `pip install -e '.[docs]'`.
"""

import importlib
import pathlib
import pkgutil
import sys
import warnings

import pdoc

PACKAGES = ("keras_corefmem", "zoo", "tuning")


def modules():
    """Names of all modules, but of those that need what is not installed."""
    for name in PACKAGES:
        package = importlib.import_module(name)
        # What a package imports only when asked for is documented with it.
        for member in getattr(package, "__all__", ()):
            setattr(package, member, getattr(package, member))
        yield name
        for each in pkgutil.walk_packages(package.__path__, f"{name}."):
            try:
                importlib.import_module(each.name)
                yield each.name
            except ModuleNotFoundError as error:
                print(f"{each.name} is left out: it needs {error.name}.", file=sys.stderr)


def main(folder):
    pdoc.render.configure(docformat="google", math=True)
    # It finds some modules by itself, and warns that they are named once more.
    warnings.filterwarnings("ignore", "The module specification")
    pdoc.pdoc(*modules(), output_directory=pathlib.Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
