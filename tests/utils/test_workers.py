import os

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
