import multiprocessing
import os
import time

import pytest

from keras_corefmem.utils.processes import available_cores
from keras_corefmem.utils.workers import Workers


def test_a_process_that_dies_fails_its_own_call_alone():
    core = available_cores()[-1]
    with Workers(1, [core]) as workers:
        calls = [workers.submit(os.sched_getaffinity, 0), workers.submit(os._exit, 9)]
        calls += [workers.submit(abs, -2), workers.submit(int, "two")]
        assert calls[0].result() == {core} and calls[2].result() == 2
        with pytest.raises(ChildProcessError, match="its process died, .* the same command cont"):
            calls[1].result()
        with pytest.raises(ValueError, match="invalid literal"):
            calls[3].result()


def test_stopping_ends_the_work_and_no_other_process():
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    other.start()
    with Workers(1, available_cores()) as workers:
        process = workers.submit(os.getpid).result()
        call = workers.submit(time.sleep, 600)
        while not call.running():
            time.sleep(0.01)
        workers.stop()
    assert isinstance(call.exception(), ChildProcessError | RuntimeError)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert other.is_alive()
    other.terminate()
