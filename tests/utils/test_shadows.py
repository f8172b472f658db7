import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = f"import sys; sys.path.append({str(ROOT)!r}); import keras_corefmem"

# As an editable install does, whose finder comes behind that of paths.
EDITABLE = f"""
import importlib.machinery, importlib.util, sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        folder = f"{ROOT}/{{name}}"
        if name in ("keras_corefmem", "tuning", "zoo"):
            return importlib.util.spec_from_file_location(name, folder + "/__init__.py")
after = sys.meta_path.index(importlib.machinery.PathFinder) + 1
sys.meta_path.insert(after, Finder)
import keras_corefmem
"""


@pytest.mark.parametrize("file", ["zoo/__init__.py", "tuning.py"])
def test_a_folder_that_hides_a_package_is_named_in_one_line(file, tmp_path):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    done = run(tmp_path)
    name = file.split("/")[0].removesuffix(".py")
    assert f"{tmp_path / file} hides the installed package {name}: rename it." in done.stderr


@pytest.mark.skipif(not (ROOT / "zoo").is_dir(), reason="such an install is of a checkout")
def test_a_folder_of_data_that_hides_an_editable_install_is_named(tmp_path):
    (tmp_path / "zoo").mkdir()
    message = f"{tmp_path / 'zoo'} hides the installed package zoo: rename it."
    assert message in run(tmp_path, EDITABLE).stderr
    (tmp_path / "zoo").rename(tmp_path / "zoos")
    assert run(tmp_path, EDITABLE).stderr == ""


def test_other_folders_are_no_matter(tmp_path):
    (tmp_path / "zoos").mkdir()
    assert run(tmp_path).stderr == ""
    assert run(ROOT).stderr == ""


def run(folder, script=SCRIPT):
    command = [sys.executable, "-c", script]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    options = {"cwd": folder, "capture_output": True, "text": True, "env": environment}
    done = subprocess.run(command, **options)
    assert done.returncode == 0, done.stderr
    return done
