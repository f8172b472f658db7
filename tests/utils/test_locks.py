import collections
import os
import subprocess
import sys
import threading

import pytest

from keras_corefmem.utils import locks
from keras_corefmem.utils.files import replacing, replacing_folder
from keras_corefmem.utils.locks import NoRoomError, check_room, hold, partial_folder, sweep
from tests.support.limits import file_limit

DIES = """
import os, pathlib, sys
from keras_corefmem.utils.locks import hold, partial_folder
with hold(sys.argv[1]):
    place = partial_folder(pathlib.Path(sys.argv[1], "model"))
    pathlib.Path(place.name, "old").mkdir()
    pathlib.Path(place.name, "old", "kept").touch()
    os._exit(9)
"""


@pytest.fixture
def died(tmp_path):
    """A folder to which a process wrote that has died."""
    folder = tmp_path / "run"
    assert subprocess.run([sys.executable, "-c", DIES, folder]).returncode == 9
    assert (folder / ".lock").exists() and len(list(folder.iterdir())) == 2
    return folder


def test_a_folder_has_one_writer_who_is_named(tmp_path):
    with hold(tmp_path / "run"):
        (tmp_path / "run" / "model").touch()
        named = rf"run is being written by process {os.getpid()} on .* since .*: wait .*, or go\.$"
        with pytest.raises(BlockingIOError, match=named), hold(tmp_path / "run", "go"):
            pass
        with hold(tmp_path / "other"):
            pass
    assert os.listdir(tmp_path / "run") == ["model"] and not (tmp_path / "other").exists()
    with hold(tmp_path / "run"):
        pass


def test_dead_writers_hold_nothing_and_leave_nothing(died):
    with hold(died):
        # What was there stays, where the new one had not come yet.
        assert sorted(path.name for path in died.iterdir()) == [".lock", "model"]
    assert os.listdir(died) == ["model"] and os.listdir(died / "model") == ["kept"]


def test_what_dead_writers_left_goes_when_its_file_is_written_again(died):
    (died / ".lock").unlink()
    with replacing(died / "another") as partial:
        partial.touch()
    assert len(os.listdir(died)) == 2
    with replacing_folder(died / "model") as partial:
        (partial / "new").touch()
        assert os.listdir(died / "model") == ["kept"]
    assert sorted(os.listdir(died)) == ["another", "model"] and os.listdir(died / "model") == [
        "new"
    ]


def test_where_one_process_writes_what_dead_ones_of_other_machines_left_goes(died, monkeypatch):
    monkeypatch.setattr(locks, "_MACHINE", "00000000")
    (died / ".lock").unlink()
    sweep(died)
    assert len(os.listdir(died)) == 1
    with hold(died):
        assert sorted(os.listdir(died)) == [".lock", "model"]


def test_who_waits_writes_after_the_other(tmp_path):
    order = []

    def wait():
        with hold(tmp_path, wait=True):
            order.append("second")

    thread = threading.Thread(target=wait)
    with hold(tmp_path):
        thread.start()
        thread.join(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "second"] and os.listdir(tmp_path) == []


def test_a_folder_is_replaced_by_one_process_at_a_time(tmp_path):
    named = r"model is being written by process .*: wait until that ends, or choose another folder"
    with replacing_folder(tmp_path / "model") as partial:
        with pytest.raises(BlockingIOError, match=named), replacing_folder(tmp_path / "model"):
            pass
        (partial / "new").touch()
    assert os.listdir(tmp_path) == ["model"] and os.listdir(tmp_path / "model") == ["new"]


def test_living_writers_keep_what_they_write(tmp_path):
    path = tmp_path / "model[1]"
    with partial_folder(path), hold(tmp_path), replacing(path) as partial:
        assert len(os.listdir(tmp_path)) == 3
        partial.touch()
    assert os.listdir(tmp_path) == ["model[1]"]


def test_room_is_checked_before_it_is_needed(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"Nothing can be written to .*file \(.*\): choose another"):
        check_room(tmp_path / "file")
    with pytest.raises(OSError, match=r"to .*file \(.*\): choose"), replacing(tmp_path / "file/x"):
        pass
    with pytest.raises(OSError, match="Nothing can be written to /proc .*"), replacing("/proc/x"):
        pass
    usage = collections.namedtuple("usage", "free")(2 * 2**20)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage)
    check_room(tmp_path, 2 * 2**20)
    with pytest.raises(OSError, match=r" has 2\.0 MB free and needs 3\.0: make room, or choose"):
        check_room(tmp_path, 3 * 2**20)


def test_errors_for_want_of_room_name_file_and_remedy(tmp_path):
    message = r" has no room for a file of 2\.0 MB \(File too large\): raise the limit of files, ul"
    full = r"run/file cannot be written \(File too large\): raise the limit of files, ulimit -f, or"
    with file_limit(2**20):
        check_room(tmp_path, largest=2**20)
        with pytest.raises(NoRoomError, match=message):
            check_room(tmp_path, largest=2 * 2**20)
        with pytest.raises(NoRoomError, match=full), replacing(tmp_path / "run/file") as partial:
            partial.write_bytes(bytes(2**20 + 1))
        with pytest.raises(NoRoomError, match=full.replace("file", "model", 1)):
            with replacing_folder(tmp_path / "run/model") as partial:
                (partial / "weights").write_bytes(bytes(2**20 + 1))
    assert os.listdir(tmp_path / "run") == []
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "file"):
        pass
