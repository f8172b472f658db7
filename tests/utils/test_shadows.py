import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = f"import sys; sys.path.append({str(ROOT)!r}); import keras_corefmem"


@pytest.mark.parametrize("file", ["zoo/__init__.py", "tuning.py"])
def test_a_folder_that_hides_a_package_is_named_in_one_line(file, tmp_path):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    done = run(tmp_path)
    name = file.split("/")[0].removesuffix(".py")
    assert f"{tmp_path / file} hides the installed package {name}: rename it." in done.stderr


def test_other_folders_are_no_matter(tmp_path):
    (tmp_path / "zoos").mkdir()
    assert run(tmp_path).stderr == ""
    assert run(ROOT).stderr == ""


def run(folder):
    command = [sys.executable, "-c", SCRIPT]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    options = {"cwd": folder, "capture_output": True, "text": True, "env": environment}
    done = subprocess.run(command, **options)
    assert done.returncode == 0, done.stderr
    return done
