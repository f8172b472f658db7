"""Commands of `corefmem`, run in this process."""

from zoo.cli.app import main


def printed(capsys, *words):
    """What a command prints that succeeds."""
    assert main([*map(str, words)]) == 0
    return capsys.readouterr().out


def refused(capsys, *words):
    """The one line that a command ends with whose input is wrong."""
    assert main([*map(str, words)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("corefmem: error: ") and error.count("\n") == 1
    return error
