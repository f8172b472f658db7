"""What the processes of long work have in common."""

import importlib
import multiprocessing
import os
import signal
import threading


def available_cores():
    """Numbers of the cores that this process may use, ascending."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def follow_parent():
    """Begins a worker process: interrupts are its parent's to handle, and it ends with that."""
    # A worker would go on with the next piece of work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()


def leave_with_parent():
    """Ends a worker whose parent was killed: it would work beside the one that continues."""
    multiprocessing.parent_process().join()
    os._exit(1)


def stop(pool):
    """Ends a pool of processes in the middle of their work."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in multiprocessing.active_children():
        process.terminate()
        process.join()


def import_quietly(name):
    """Imports a module without what TensorFlow says before its logging can be set."""
    error = os.dup(2)
    with open(os.devnull, "w") as silence:
        os.dup2(silence.fileno(), 2)
    try:
        return importlib.import_module(name)
    finally:
        os.dup2(error, 2)
        os.close(error)
