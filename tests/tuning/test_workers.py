import multiprocessing

import pytest

from keras_corefmem.utils.files import BadFileError
from keras_corefmem.utils.locks import NoRoomError
from tuning import workers
from tuning.search import Search

# What a process does in place of a search: it notes its name, and a chief ends as the test says.
PART = """
import os, pathlib, signal, time

def take_part(name, port, core, fields, complaints):
    folder = pathlib.Path(fields["output"])
    with open(folder / "begun", "a") as file:
        file.write(f"{name}\\n")
    if name != "chief":
        time.sleep(600)
    deaths = folder / "deaths"
    left = int(deaths.read_text())
    while len((folder / "begun").read_text().split()) % 4:
        time.sleep(0.01)
    if left:
        deaths.write_text(str(left - 1))
        os.kill(os.getpid(), signal.SIGKILL)

def take_deadly_part(name, port, core, fields, complaints):
    folder = pathlib.Path(fields["output"])
    errors = [folder / "SEARCH" / f"trial_{n}" / "error.json" for n in range(2)]
    if name == "chief":
        while not all(error.exists() for error in errors):
            time.sleep(0.01)
        return
    deaths = folder / f"{name}-deaths"
    count = len(deaths.read_text()) if deaths.exists() else 0
    if count < 3:
        deaths.write_text("x" * (count + 1))
        os.kill(os.getpid(), signal.SIGKILL)
    error = errors[int(name[-1])]
    error.parent.mkdir()
    error.write_text("0")
    time.sleep(600)

def complain(name, port, core, fields, complaints):
    if name == "chief":
        time.sleep(600)
    complaints.put("searches cannot be written")
    os._exit(1)
"""


def lead(tmp_path, monkeypatch, deaths):
    """Leads a chief that dies so many times and three workers; returns how often each began."""
    (tmp_path / "part_of_search.py").write_text(PART)
    (tmp_path / "deaths").write_text(str(deaths))
    monkeypatch.syspath_prepend(tmp_path)
    import part_of_search

    with monkeypatch.context() as patch:
        patch.setattr(workers, "take_part", part_of_search.take_part)
        try:
            workers.search_with(3, Search("qdren", output=str(tmp_path)), report=None)
        finally:
            assert not multiprocessing.active_children()
    names = (tmp_path / "begun").read_text().split()
    return {name: names.count(name) for name in names}


def test_where_the_chief_dies_each_process_starts_anew_once(tmp_path, monkeypatch):
    begun = lead(tmp_path, monkeypatch, 1)
    assert begun == dict.fromkeys(["chief", "worker-0", "worker-1", "worker-2"], 2)


def test_a_search_stops_where_processes_die_again_and_again(tmp_path, monkeypatch):
    monkeypatch.setattr(Search, "PATIENCE", 1)
    with pytest.raises(ChildProcessError, match="chief died 2 times .* exit status is -9"):
        lead(tmp_path, monkeypatch, 5)


def test_a_search_goes_on_where_every_worker_has_a_deadly_trial(tmp_path, monkeypatch):
    search = Search("qdren", output=str(tmp_path))
    search.folder.mkdir()
    (tmp_path / "deadly_part.py").write_text(PART.replace("SEARCH", search.name))
    monkeypatch.syspath_prepend(tmp_path)
    import deadly_part

    monkeypatch.setattr(workers, "take_part", deadly_part.take_deadly_part)
    workers.search_with(2, search, report=None)
    assert [(tmp_path / f"worker-{n}-deaths").read_text() for n in range(2)] == ["xxx", "xxx"]
    assert search.finished_trials() == ["0", "1"]


def test_a_search_stops_at_once_where_a_disk_is_full(tmp_path, monkeypatch):
    (tmp_path / "complaining_part.py").write_text(PART)
    monkeypatch.syspath_prepend(tmp_path)
    import complaining_part

    monkeypatch.setattr(workers, "take_part", complaining_part.complain)
    with pytest.raises(OSError, match="^searches cannot be written$"):
        workers.search_with(1, Search("qdren", output=str(tmp_path)), report=None)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    "error, told",
    [
        (BadFileError("oracle.json is damaged"), ["oracle.json is damaged"]),
        (NoRoomError("searches cannot be written"), ["searches cannot be written"]),
        (PermissionError("oracle.json"), ["oracle.json"]),
        (ConnectionError("The chief of the search is gone."), []),
    ],
)
def test_a_process_tells_what_the_next_one_would_meet_too(error, told, monkeypatch, tmp_path):
    def fail(search, report):
        raise error

    for name in ("TUNER_ID", "ORACLE_IP", "ORACLE_PORT"):
        monkeypatch.setenv(f"KERASTUNER_{name}", "")
    monkeypatch.setattr(workers, "pin", lambda core: None)
    monkeypatch.setattr("tuning.tuners.run_trials", fail)
    complaints = multiprocessing.get_context("spawn").SimpleQueue()
    with pytest.raises(SystemExit, match="1"):
        workers.take_part("chief", 0, None, {"model": "qdren"}, complaints)
    assert [complaints.get() for _ in told] == told and complaints.empty()
