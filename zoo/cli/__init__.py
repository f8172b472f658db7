"""The command line, `corefmem`."""

from zoo.cli.app import main

__all__ = ["main"]
