import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from keras_corefmem.utils.processes import (
    available_cores,
    import_quietly,
    prepare_jax,
    terminating_cleanly,
)

NOISE = "import os\nos.write(2, b'noise')\nVALUE = 3\n"


def test_imports_are_quiet(tmp_path, monkeypatch, capfd):
    (tmp_path / "noisy_module.py").write_text(NOISE)
    (tmp_path / "broken_module.py").write_text(NOISE + "import no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "1")
    import_quietly("no_such_module", "noisy_module")
    assert sys.modules["noisy_module"].VALUE == 3
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_quietly("broken_module")
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    del sys.modules["noisy_module"]
    import_quietly("noisy_module")
    assert capfd.readouterr().err == "noise"


@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_keras_is_imported_without_what_commands_do_not_use(backend, tmp_path):
    (tmp_path / "keras.py").write_text(
        "FOUND = []\nfor name in ('sklearn', 'jax'):\n"
        "    try:\n        FOUND.append(__import__(name).NAME)\n"
        "    except ImportError:\n        pass\n"
    )
    for name in ("sklearn", "matplotlib", "jax"):
        (tmp_path / f"{name}.py").write_text(
            f"NAME = {name!r}\nclass config:\n    update = print\n"
        )
    (tmp_path / "keras.json").write_text(f'{{"backend": "{backend}"}}')
    code = "import sys; from keras_corefmem.utils.processes import import_keras\n"
    # This Keras has nothing that classes could be registered with.
    code += "sys.meta_path[:] = [f for f in sys.meta_path if 'Keras' not in type(f).__name__]\n"
    code += f"sys.path.insert(0, {str(tmp_path)!r}); import_keras('no_such_module')\n"
    code += "import keras, sklearn, jax; print(keras.FOUND)"
    environment = {name: v for name, v in os.environ.items() if name != "KERAS_BACKEND"}
    environment["KERAS_HOME"] = str(tmp_path)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    flag = "jax_cpu_enable_async_dispatch False\n"
    expected = {"jax": f"{flag}['jax']\n", "tensorflow": "[]\n"}
    assert done.stdout == expected[backend]


def test_cores_are_those_of_this_process():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    code = code if hasattr(os, "sched_setaffinity") else ""
    code += (
        "from keras_corefmem.utils.processes import available_cores; print(len(available_cores()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == (1 if hasattr(os, "sched_setaffinity") else os.cpu_count())
    assert available_cores() == sorted(available_cores()) and available_cores()


def test_what_jax_compiles_is_kept_where_the_user_says_nothing_else(monkeypatch, tmp_path):
    names = ("DIR", "MAX_SIZE")
    for name in names:
        monkeypatch.setenv(f"JAX_COMPILATION_CACHE_{name}", "")
        monkeypatch.delenv(f"JAX_COMPILATION_CACHE_{name}")
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "3")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KERAS_BACKEND", "tensorflow")
    changed: dict = {}
    jax = SimpleNamespace(config=SimpleNamespace(update=changed.__setitem__), __spec__="found")
    monkeypatch.setitem(sys.modules, "jax", jax)
    prepare_jax()
    assert "JAX_COMPILATION_CACHE_DIR" not in os.environ and not changed
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    prepare_jax()
    home = tmp_path / ".cache" / "keras_corefmem" / "jax"
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == str(home)
    assert os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] == "3"
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "mine")
    prepare_jax()
    assert os.environ["JAX_COMPILATION_CACHE_DIR"] == "mine"
    assert changed == {"jax_cpu_enable_async_dispatch": False}


def test_jax_computes_where_it_is_asked_to():
    pytest.importorskip("jax")
    code = "from keras_corefmem.utils.processes import prepare_jax; prepare_jax()\n"
    code += "import jax\nx = jax.numpy.ones((500, 500))\n"
    code += "f = jax.jit(lambda x: jax.lax.fori_loop(0, 99, lambda n, y: y @ x / 500, x))\n"
    # What another thread computes is still to come when the call returns.
    code += "f(x).block_until_ready(); print(f(x).is_ready())"
    environment = os.environ | {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "True\n"


def test_a_process_that_is_terminated_cleans_up_as_if_interrupted():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), terminating_cleanly():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before
    # Only the main thread can handle signals.
    with ThreadPoolExecutor() as pool:
        assert pool.submit(terminating_cleanly().__enter__).result() is None
    assert signal.getsignal(signal.SIGTERM) == before
