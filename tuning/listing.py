"""`corefmem list`: what there is to choose from."""

from tuning.spaces import SPACES
from zoo.cli import commands


def show(args):
    commands.show(args)
    lines = {name: f"{space.line}: {', '.join(space.models)}" for name, space in SPACES.items()}
    commands.print_lines("Search spaces", lines)
