"""Measurements in processes of their own."""

import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import time
from unittest import mock

HERE = pathlib.Path(__file__).parent
COREFMEM = (sys.executable, "-c", "import sys; from zoo.cli import main; sys.exit(main())")


def alone(function, *arguments, **environment):
    """The result of a function in a new process, with these environment variables too."""
    with (
        mock.patch.dict(os.environ, environment),
        multiprocessing.get_context("spawn").Pool(1) as pool,
    ):
        return pool.apply(function, arguments)


def run(*command, cwd=None):
    """Seconds of a command, GB of the largest of its processes, and its output.

    The command imports the packages of this repository wherever it runs.
    """
    paths = [str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    start = time.perf_counter()
    process = subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, text=True, cwd=cwd, env=environment
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return time.perf_counter() - start, usage.ru_maxrss / 2**20, output


def measure_in_turn(cases, rounds):
    """Minimum and median of all figures of some functions, which take turns.

    Args:
        cases: functions that return numbers by name.
        rounds: int.
    """
    found = {}
    for _ in range(rounds):
        for case in cases:
            for name, number in case().items():
                found.setdefault(name, []).append(number)
                print(f"{name}: {number:.3f} s", flush=True)
    return {
        name: {"seconds": min(numbers), "median": statistics.median(numbers)}
        for name, numbers in found.items()
    }


def measure_torch(sizes, rounds, python=None):
    """Rows of `torch_gru.py` and the version of PyTorch, `[], None` where it is not installed.

    Args:
        sizes: list of `(tokens, batch, units)`.
        rounds: int, rounds at 100 tokens.
        python: str, an interpreter that has PyTorch, by default this one.
    """
    command = [python or sys.executable, str(HERE / "torch_gru.py"), json.dumps([sizes, rounds])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:]
        if python or reason != ["ModuleNotFoundError: No module named 'torch'"]:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        print("torch.nn.GRU is left out: PyTorch is not installed (--torch PYTHON names another).")
        return [], None
    found = json.loads(done.stdout)
    return found["rows"], found["torch"]
