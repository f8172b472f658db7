"""Helpers of commands and their workers: quiet imports, cores, memory and the end of workers."""

import contextlib
import importlib.util
import json
import multiprocessing
import os
import pathlib
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any


def available_cores() -> list[int]:
    """Returns the numbers of the cores that this process may use, ascending."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def keep_memory() -> None:
    """Lets the C library keep freed buffers: paging them in again costs a third of a step."""
    for name in ("MMAP_THRESHOLD", "TRIM_THRESHOLD"):
        os.environ.setdefault(f"MALLOC_{name}_", str(2**32))
    os.environ.setdefault("MALLOC_TOP_PAD_", str(2**28))


def pin(core: int | None = None) -> None:
    """Gives a worker process one core of its own."""
    follow_parent()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    prepare_jax()


def prepare_jax() -> None:
    """Has JAX, where it is the backend, compute where it is asked to and keep what it compiles.

    In a thread of its own it pages memory in anew at every step (`benchmarks/dispatch.py`), and
    callbacks of Keras that wait for results in threads have waited forever on one core. What it
    compiles is kept in the user's cache, unless the user chose a folder, or none by
    `JAX_ENABLE_COMPILATION_CACHE=false`.
    """
    if _backend() != "jax" or not importlib.util.find_spec("jax"):
        return
    home = pathlib.Path.home() / ".cache" / "keras_corefmem" / "jax"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(home))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
    # JAX needs it to remove what was not used for longest.
    if importlib.util.find_spec("filelock"):
        os.environ.setdefault("JAX_COMPILATION_CACHE_MAX_SIZE", str(2**30))
    import jax

    # No variable of the environment does.
    jax.config.update("jax_cpu_enable_async_dispatch", False)


def follow_parent() -> None:
    """Leaves interrupts to the parent of this worker process, and ends the worker with it."""
    # A worker would go on with the next piece of work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def stop(pool: Executor) -> None:
    """Ends a pool of processes in the middle of their work."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in multiprocessing.active_children():
        process.terminate()
        process.join()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hides standard error: what TensorFlow says before its logging is set.

    `TF_CPP_MIN_LOG_LEVEL=0` lets it through. (JAX sets 1 on import, so that 1 is nobody's wish.)
    """
    error = os.dup(2)
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL") != "0":
        with open(os.devnull, "w") as silence:
            os.dup2(silence.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(error, 2)
        os.close(error)


def import_quietly(*names: str) -> None:
    """Imports modules, where installed, see `quiet`."""
    with quiet():
        for name in names:
            if importlib.util.find_spec(name):
                importlib.import_module(name)


def import_keras(*others: str) -> None:
    """Imports Keras, and other modules after it, quietly, and what no command uses not at all.

    Keras and TensorFlow import scikit-learn, Matplotlib, pandas and JAX where installed, for little
    use: that is a third of the time.
    """
    prepare_jax()
    unused = ["sklearn", "matplotlib", "pandas", *(["jax"] * (_backend() == "tensorflow"))]
    with hidden(*unused):
        import_quietly("keras")
    import_quietly(*others)


def _backend() -> str:
    """The backend that Keras will have, as it looks it up."""
    if "KERAS_BACKEND" in os.environ:
        return os.environ["KERAS_BACKEND"]
    home = os.environ.get("KERAS_HOME", pathlib.Path.home() / ".keras")
    try:
        return json.loads(pathlib.Path(home, "keras.json").read_text())["backend"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "tensorflow"


@contextlib.contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Lets packages that are not imported yet look as if they were not installed."""
    modules: dict[str, Any] = sys.modules
    absent = [name for name in names if name not in modules]
    modules |= dict.fromkeys(absent)
    try:
        yield
    finally:
        for name in absent:
            del modules[name]
