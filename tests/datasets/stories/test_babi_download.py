import hashlib
import http.server
import io
import os
import shutil
import tarfile
import threading
from pathlib import Path

import pytest

from keras_corefmem.datasets.stories import babi, babi_download
from tests.support.disks import fill, small_disk

FILES = {
    f"tasks_1-20_v1-2/{folder}/qa1{name}_{part}.txt": f"{folder} {part}".encode()
    for folder, name in (("en", "_single-supporting-fact"), ("en-valid", ""))
    for part in ("train", "test")
}


def packed(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


WHOLE = packed({**FILES, "tasks_1-20_v1-2/hn/a.txt": b"a", "../outside.txt": b"bad"})


def damaged(data):
    middle = len(data) // 2
    return data[:middle] + bytes(20) + data[middle + 20 :]


@pytest.fixture
def homes(tmp_path, monkeypatch):
    """A server of homes: a dictionary from paths to contents, and the address."""
    contents = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content, missing = contents.get(self.path[1:], (None, 0))
            if content is None:
                return self.send_error(404)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content) + missing))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(babi_download, "HOMES", (f"{home}/first", f"{home}/second"))
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr(babi_download, "checksums", lambda: digests)
    yield contents, home
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["first", "second", "own"])
def test_the_first_home_that_has_the_tasks(homes, tmp_path, name):
    contents, home = homes
    contents[name] = WHOLE, 0
    cache = tmp_path / "a/cache"
    folder = babi.download(cache, origin=f"{home}/own" if name == "own" else None)
    assert folder == str(cache / "datasets/tasks_1-20_v1-2")
    written = {path for path in tmp_path.rglob("*") if path.is_file()}
    names = {*FILES, "tasks_1-20_v1-2/hn/a.txt"}
    assert written == {cache / "datasets" / name for name in names}
    assert os.listdir(cache / "datasets") == ["tasks_1-20_v1-2"]
    # Once is enough.
    contents.clear()
    assert babi.download(cache) == folder


@pytest.mark.parametrize(
    ("content", "missing", "message"),
    [
        (None, 0, "HTTP Error 404: Not Found"),
        (WHOLE[:-40], 40, f"only {len(WHOLE) - 40:,} of {len(WHOLE):,} bytes came"),
        (WHOLE[: len(WHOLE) // 2], 0, "the archive is truncated or broken"),
        (damaged(WHOLE), 0, "the archive .*"),
        (b"<html>Not found</html>", 0, "the archive is truncated or broken"),
        (b"", 0, "the archive is truncated or broken"),
        (packed({"note.txt": b"a"}), 0, "the archive has no en/qa1_single-supp"),
        (
            packed({**FILES, "tasks_1-20_v1-2/en-valid/qa1_test.txt": b"1 Bob left."}),
            0,
            "the archive has another en-valid/qa1_test.txt than version 1.2",
        ),
        (
            packed({**FILES, "tasks_1-20_v1-2/../../outside.txt": b"bad"}),
            0,
            r"the archive is truncated or broken \(.*outside the destination",
        ),
    ],
    ids="absent cut half damaged page empty other changed outside".split(),
)
def test_a_bad_archive_leaves_nothing_and_the_next_home_is_tried(
    homes, tmp_path, content, missing, message
):
    contents, home = homes
    if content is not None:
        contents["first"] = content, missing
    reasons = rf"{home}/first: {message}.*{home}/second: HTTP Error 404: Not Found"
    wrong = rf"^bAbI could not be downloaded. {reasons}. .* --origin .* --data-dir"
    with pytest.raises(FileNotFoundError, match=wrong):
        babi.download(tmp_path / "cache")
    assert os.listdir(tmp_path / "cache/datasets") == [] and os.listdir(tmp_path) == ["cache"]
    contents["second"] = WHOLE, 0
    babi.download(tmp_path / "cache")
    assert os.listdir(tmp_path / "cache/datasets") == ["tasks_1-20_v1-2"]


@pytest.mark.parametrize("content", [b"1 Bob left.", None])
def test_a_cached_folder_is_verified(homes, tmp_path, content):
    contents, _ = homes
    contents["first"] = WHOLE, 0
    folder = babi.download(tmp_path)
    path = Path(folder, "en-valid/qa1_test.txt")
    path.write_bytes(content) if content else path.unlink()
    what = "has another en-valid/qa1_test.txt than" if content else "has no en-valid/qa1_test.txt"
    with pytest.raises(ValueError, match=f"^{folder} {what}.*: remove that folder, and bAbI"):
        babi.download(tmp_path)
    shutil.rmtree(folder)
    assert babi.download(tmp_path) == folder and path.read_bytes() == b"en-valid test"


@pytest.mark.parametrize("content", [None, b"1 Bob left."])
def test_another_process_was_faster(homes, tmp_path, monkeypatch, content):
    contents, _ = homes
    contents["first"] = WHOLE, 0
    unpack = babi_download._unpack

    def slow(archive, folder):
        shutil.copytree(unpack(archive, folder), tmp_path / "datasets/tasks_1-20_v1-2")
        if content:
            (tmp_path / "datasets/tasks_1-20_v1-2/en-valid/qa1_test.txt").write_bytes(content)
        return Path(folder, "tasks_1-20_v1-2")

    monkeypatch.setattr(babi_download, "_unpack", slow)
    if content:
        with pytest.raises(ValueError, match=r"has another en-valid/qa1_test.txt than"):
            babi.download(tmp_path)
    else:
        assert Path(babi.download(tmp_path), "en-valid/qa1_test.txt").is_file()
    assert os.listdir(tmp_path / "datasets") == ["tasks_1-20_v1-2"]


def test_what_a_killed_download_left_goes_at_the_next(homes, tmp_path):
    contents, _ = homes
    contents["first"] = WHOLE, 0
    child = os.fork()
    if not child:
        babi_download._unpack = lambda *_: os._exit(9)
        try:
            babi.download(tmp_path)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    (left,) = os.listdir(tmp_path / "datasets")
    assert os.listdir(tmp_path / "datasets" / left) == ["babi.tar.gz"]
    babi.download(tmp_path)
    assert os.listdir(tmp_path / "datasets") == ["tasks_1-20_v1-2"]


def test_disks_that_are_full_or_for_reading_are_named(homes, tmp_path):
    homes[0]["first"] = WHOLE, 0
    with small_disk(tmp_path / "full", 2**20) as disk:
        fill(disk)
        with pytest.raises(OSError, match="v1-2 cannot be written .*: make room on its disk"):
            babi.download(disk)
        assert not list(disk.rglob(".*"))
    with small_disk(tmp_path / "read", 2**20, "ro") as disk:
        with pytest.raises(OSError, match="Nothing can be written to .*: choose another folder"):
            babi.download(disk)


@pytest.mark.parametrize("origin", ["http://127.0.0.1:9/none", "file:///none", "none"])
def test_an_address_that_does_not_answer(homes, tmp_path, origin):
    with pytest.raises(FileNotFoundError, match=f"downloaded. {origin}: .*/first: HTTP Error 404"):
        babi.download(tmp_path, origin)


def test_the_checksums_are_those_of_the_official_files(babi_dir):
    known = babi_download.checksums()
    assert len(known) == 20 * (2 + 3)
    for name, digest in known.items():
        assert hashlib.sha256((babi_dir / name).read_bytes()).hexdigest() == digest
