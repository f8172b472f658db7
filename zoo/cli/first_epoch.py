"""Progress of `corefmem train` in the first epoch, which compiles the model for each shape."""

import threading
import time

import keras
import rich.console

# Seconds between two lines if there is no terminal.
PULSE = 10


class FirstEpoch(keras.callbacks.Callback):
    """Shows the progress of the first epoch until Keras does.

    In a terminal, Keras shows a bar after the first batch; elsewhere, it prints nothing before the
    end of the epoch.
    """

    def __init__(self, console: rich.console.Console, steps: int) -> None:
        super().__init__()
        self.console, self.steps, self.done = console, steps, 0
        self.over, self.began = threading.Event(), time.monotonic()
        self.status = console.status("Compiling the model ...") if console.is_terminal else None
        self.thread = threading.Thread(target=self._tell, daemon=True)

    def on_train_begin(self, logs: object = None) -> None:
        self.began = time.monotonic()
        if self.status:
            self.status.start()
        else:
            self.thread.start()

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        self.done = batch + 1
        if self.status:
            self.status.stop()

    def on_epoch_end(self, epoch: int, logs: object = None) -> None:
        self.close()

    def close(self) -> None:
        """Ends the line and the thread, even if the epoch did not end."""
        self.over.set()
        if self.status:
            self.status.stop()
        elif self.thread.is_alive():
            self.thread.join()

    def _tell(self) -> None:
        while not self.over.wait(PULSE):
            seconds = time.monotonic() - self.began
            self.console.print(
                f"  first epoch: {self.done} of {self.steps} batches, {seconds:.0f} s"
            )
