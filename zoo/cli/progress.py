"""Progress of `corefmem annotate`."""

import contextlib
import time
from typing import Any

import rich.console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from keras_corefmem import corpora

# Seconds between two lines if there is no terminal.
PULSE = 60


class Report(corpora.Progress, contextlib.AbstractContextManager):
    """Shows the progress of shards: a bar in a terminal, or else a line per minute."""

    def __init__(self, console: rich.console.Console) -> None:
        self.console, self.started = console, False
        self.texts = self.tokens = self.before = 0
        self.began = self.last = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, console=console, disable=not console.is_terminal)

    def __exit__(self, *error: object) -> None:
        if self.started:
            self.progress.stop()

    def start(self, size: int | None) -> None:
        self.started, self.task = True, self.progress.add_task(self.summary(), total=size)
        self.progress.start()

    def add(self, shard: dict[str, Any], is_new: bool, size: int) -> None:
        if is_new:
            self.texts += shard["texts"]
            self.tokens += shard["tokens"]
        else:
            self.before += 1
        self.progress.update(self.task, advance=size, description=self.summary())

    def pulse(self) -> None:
        if not self.console.is_terminal and time.monotonic() - self.last >= PULSE:
            self.last = time.monotonic()
            self.console.print(self.summary())

    def summary(self) -> str:
        seconds = max(time.monotonic() - self.began, 1e-9)
        there = f"; {self.before} shards were there" if self.before else ""
        return (
            f"{self.texts:,} texts, {self.texts / seconds:,.0f} texts/s, "
            f"{self.tokens / seconds:,.0f} tokens/s{there}"
        )
