"""Worker processes, any of which may die without the others."""

import concurrent.futures
import multiprocessing
import threading
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from keras_corefmem.utils.processes import pin, stop


class Workers(concurrent.futures.ThreadPoolExecutor):
    """Runs functions in processes, each on a core of its own.

    If a process dies, only the call that it worked on fails, with a `ChildProcessError`, and a new
    process takes its place.

    Args:
        count: number of processes.
        cores: numbers of the cores; processes share them if there are fewer cores.

    Example:
        >>> with keras_corefmem.utils.workers.Workers(2, [0]) as workers:
        ...     list(workers.map(abs, [-1, 2]))
        [1, 2]
    """

    def __init__(self, count: int, cores: Sequence[int]) -> None:
        super().__init__(count, initializer=self._begin)
        self._cores, self._own, self._begun = cores, threading.local(), 0
        self._counting = threading.Lock()
        self._pools: list[concurrent.futures.ProcessPoolExecutor] = []

    def submit(self, function: Callable, /, *args: Any, **kwargs: Any) -> Any:
        return super().submit(self._run, function, *args, **kwargs)

    def stop(self) -> None:
        """Ends the processes in the middle of their work."""
        self.shutdown(wait=False, cancel_futures=True)
        for pool in self._pools:
            stop(pool)

    def _begin(self) -> None:
        with self._counting:
            self._own.core = self._cores[self._begun % len(self._cores)]
            self._begun += 1
        self._own.pool = None

    def _run(self, function: Callable, *args: Any, **kwargs: Any) -> Any:
        if self._own.pool is None:
            context = multiprocessing.get_context("spawn")
            self._own.pool = concurrent.futures.ProcessPoolExecutor(
                1, context, initializer=pin, initargs=(self._own.core,)
            )
            self._pools.append(self._own.pool)
        try:
            return self._own.pool.submit(function, *args, **kwargs).result()
        except BrokenProcessPool:
            self._own.pool = None
            raise ChildProcessError(
                "its process died, perhaps for want of memory; the same command continues."
            ) from None
