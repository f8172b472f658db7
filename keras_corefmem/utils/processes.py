"""Helpers for commands and their workers: quiet imports, cores, memory, and ending workers."""

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
    """Makes the C library keep freed buffers: paging them in again costs a third of a step."""
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
    """Makes JAX, if it is the backend, compute in the calling thread and cache compiled programs.

    In a thread of its own, JAX pages memory in anew at each step (`benchmarks/dispatch.py`), and
    Keras callbacks that wait for results in threads may wait forever on one core. Programs are
    kept in the user's cache folder, unless the user chose another folder, or no cache by
    `JAX_ENABLE_COMPILATION_CACHE=false`.
    """
    if _backend() != "jax" or not importlib.util.find_spec("jax"):
        return
    home = pathlib.Path.home() / ".cache" / "keras_corefmem" / "jax"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(home))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")
    # JAX needs filelock to remove the least recently used programs.
    if importlib.util.find_spec("filelock"):
        os.environ.setdefault("JAX_COMPILATION_CACHE_MAX_SIZE", str(2**30))
    import jax

    # There is no environment variable for this.
    jax.config.update("jax_cpu_enable_async_dispatch", False)


def follow_parent() -> None:
    """Leaves interrupts to the parent of this worker process, and ends the worker with it."""
    # An interrupted worker would go on with the next piece of work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def terminating_cleanly() -> Iterator[None]:
    """Makes SIGTERM, as schedulers of clusters send it, raise `KeyboardInterrupt` like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def stop(pool: Executor) -> None:
    """Ends a pool, and its processes in the middle of their work."""
    # The pool forgets its processes when it is shut down.
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
        process.join()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hides standard error, where TensorFlow writes before its logging is configured.

    `TF_CPP_MIN_LOG_LEVEL=0` disables this; 1 does not, since JAX sets it on import.
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
    """Imports modules that are installed, without their output, see `quiet`."""
    with quiet():
        for name in names:
            if importlib.util.find_spec(name):
                importlib.import_module(name)


def import_keras(*others: str) -> None:
    """Imports Keras and then other modules, quietly and without packages that no command uses.

    Keras and TensorFlow import scikit-learn, Matplotlib, pandas and JAX if installed, for little
    use; this takes a third of the time.
    """
    prepare_jax()
    unused = ["sklearn", "matplotlib", "pandas", *(["jax"] * (_backend() == "tensorflow"))]
    with hidden(*unused):
        import_quietly("keras")
    import_quietly(*others)


def _backend() -> str:
    """Returns the backend that Keras will use, looked up as Keras does."""
    if "KERAS_BACKEND" in os.environ:
        return os.environ["KERAS_BACKEND"]
    home = os.environ.get("KERAS_HOME", pathlib.Path.home() / ".keras")
    try:
        return json.loads(pathlib.Path(home, "keras.json").read_text())["backend"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "tensorflow"


@contextlib.contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Makes packages that are not imported yet look as if they were not installed."""
    modules: dict[str, Any] = sys.modules
    absent = [name for name in names if name not in modules]
    modules |= dict.fromkeys(absent)
    try:
        yield
    finally:
        for name in absent:
            del modules[name]
