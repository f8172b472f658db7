"""A search in several processes of this machine: keras-tuner's chief and its workers."""

import collections
import dataclasses
import multiprocessing
import multiprocessing.connection
import os
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keras_corefmem.utils.files import BadFileError
from keras_corefmem.utils.processes import available_cores, import_keras, keep_memory, pin

if TYPE_CHECKING:
    from tuning.search import Search

# Seconds between two checks of the results of workers.
PULSE = 1


def search_with(workers: int, search: "Search", report: Callable[[dict[str, Any]], None]) -> None:
    keep_memory()
    context = multiprocessing.get_context("spawn")
    cores = available_cores()
    reported = {outcome["trial"] for outcome in search.outcomes()}
    ended, deaths, running = set(search.finished_trials()), collections.Counter[str](), {}
    complaints = context.SimpleQueue()
    names = ["chief", *(f"worker-{n}" for n in range(workers))]
    port = free_port()

    def begin(name: str) -> None:
        place = names.index(name) - 1
        core = None if name == "chief" else cores[place % len(cores)]
        arguments = name, port, core, dataclasses.asdict(search), complaints
        process = context.Process(target=take_part, args=arguments)
        process.start()
        running[name] = process

    def report_new() -> None:
        new = [o for o in search.outcomes() if o["trial"] not in reported]
        for outcome in new:
            reported.add(outcome["trial"])
            report(outcome)

    for name in names:
        begin(name)
    try:
        while "chief" in running:
            multiprocessing.connection.wait([p.sentinel for p in running.values()], PULSE)
            report_new()
            before, ended = ended, set(search.finished_trials())
            if ended - before:
                deaths.clear()
            for name, status in remove_failed(running).items():
                if not complaints.empty():
                    raise OSError(complaints.get())
                deaths[name] += 1
                if deaths[name] > search.PATIENCE:
                    raise ChildProcessError(
                        f"{name} died {deaths[name]} times and no trial ended, the last exit "
                        f"status is {status}; the same command continues."
                    )
                if name == "chief":
                    end(running, search)
                    port = free_port()
                    for each in names:
                        begin(each)
                    break
                begin(name)
        report_new()
    finally:
        end(running, search)


def remove_failed(running: dict[str, Any]) -> dict[str, int]:
    """Removes processes that ended, and returns the exit status of those that failed."""
    over = {name: process for name, process in running.items() if not process.is_alive()}
    for name in over:
        del running[name]
    return {name: process.exitcode for name, process in over.items() if process.exitcode}


def end(running: dict[str, Any], search: "Search") -> None:
    """Terminates processes, which does not count as a death in their trials."""
    for process in running.values():
        process.terminate()
    for process in running.values():
        process.join()
    running.clear()
    for trial in search.started_trials():
        search.clear_starts(trial)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def take_part(
    name: str, port: int, core: int | None, fields: dict[str, Any], complaints: Any
) -> None:
    pin(core)
    os.environ |= {
        "KERASTUNER_TUNER_ID": name,
        "KERASTUNER_ORACLE_IP": "127.0.0.1",
        "KERASTUNER_ORACLE_PORT": str(port),
    }
    # Keras must not be imported before this.
    import_keras("tensorflow", "keras_tuner")
    from tuning.search import Search
    from tuning.tuners import run_trials

    try:
        run_trials(Search(**fields), report=lambda outcome: None)
    except ConnectionError:
        # `search_with` starts another chief and its workers.
        sys.exit(1)
    except (BadFileError, OSError) as error:
        # Restarting the process would cause the same error.
        complaints.put(str(error))
        sys.exit(1)
