import os
import subprocess
import sys

import pytest

from keras_corefmem.utils.processes import available_cores, import_quietly

NOISE = "import os\nos.write(2, b'noise')\nVALUE = 3\n"


def test_imports_are_quiet(tmp_path, monkeypatch, capfd):
    (tmp_path / "noisy_module.py").write_text(NOISE)
    (tmp_path / "broken_module.py").write_text(NOISE + "import no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_quietly("no_such_module", "noisy_module")
    assert sys.modules["noisy_module"].VALUE == 3
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_quietly("broken_module")
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"


def test_cores_are_those_of_this_process():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    code = code if hasattr(os, "sched_setaffinity") else ""
    code += (
        "from keras_corefmem.utils.processes import available_cores; print(len(available_cores()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == (1 if hasattr(os, "sched_setaffinity") else os.cpu_count())
    assert available_cores() == sorted(available_cores()) and available_cores()
