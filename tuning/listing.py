"""`corefmem list`: what there is to choose from."""

from tuning.spaces import SPACES
from zoo import commands


def show(args):
    commands.show(args)
    print("Search spaces")
    for name, space in SPACES.items():
        print(f"  {name:<20}{space.line}: {', '.join(space.models)}")
