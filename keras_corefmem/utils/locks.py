"""Folders that one process writes to: who does, what dead ones left, and whether there is room."""

import contextlib
import glob
import json
import os
import pathlib
import platform
import shlex
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator

Path = str | os.PathLike[str]

LOCK = ".lock"
# In a partial folder: what the new one takes the place of.
OLD = "old"
# Tells machines apart that share a disk; process numbers are those of one machine.
_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
MEGABYTE = 2**20


@contextlib.contextmanager
def hold(folder: Path, remedy: str = "choose another folder") -> Iterator[None]:
    """Keeps other processes from writing to a folder, and sweeps what dead ones left there.

    The lock ends with its process, however that ends.

    Args:
        folder: the folder, made where it is missing.
        remedy: what the error advises beside waiting.

    Raises:
        BlockingIOError: if another process holds the folder; it names that one.
        OSError: if nothing can be written there.

    Example:
        >>> from keras_corefmem.utils.locks import hold
        >>> with hold("models/run"):
        ...     os.path.exists("models/run/.lock")
        True
    """
    # Slow to import.
    import filelock

    path = pathlib.Path(folder, LOCK)
    new = [parent for parent in path.parents if not parent.exists()]
    check_room(folder)
    lock = filelock.FileLock(path, timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise BlockingIOError(
            f"{folder} is being written by {_holder(path)}: wait until that ends, or {remedy}."
        ) from None
    try:
        path.write_text(json.dumps(_record()), "utf-8")
        sweep(folder)
        yield
    finally:
        # Who waits for this file sees that it is gone, and makes a new one.
        path.unlink(missing_ok=True)
        lock.release()
        # Where nothing was written, nothing is left.
        with contextlib.suppress(OSError):
            for parent in new:
                parent.rmdir()


def clear(folder: Path) -> None:
    """Removes what a folder holds but its lock, if there is such a folder."""
    for path in pathlib.Path(folder).glob("*"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != LOCK:
            path.unlink()


def _record() -> dict[str, object]:
    command = shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    return {"process": os.getpid(), "machine": platform.node(), "since": since, "command": command}


def _holder(path: pathlib.Path) -> str:
    """Who holds a lock, as far as its file says."""
    try:
        record = json.loads(path.read_text("utf-8"))
        return "process {process} on {machine} since {since} ({command:.80})".format(**record)
    except (OSError, ValueError, LookupError, TypeError):
        return "another process"


def partial_folder(path: pathlib.Path) -> tempfile.TemporaryDirectory:
    """Makes a hidden folder beside a path for what takes its place; those of dead processes go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent, path.name)
    prefix = f".{path.name}-{_MACHINE}-{os.getpid()}-"
    return tempfile.TemporaryDirectory(dir=path.parent, prefix=prefix)


def sweep(folder: Path, name: str = "") -> None:
    """Removes what dead processes of this machine left in a folder, or beside a name in it."""
    for path in pathlib.Path(folder).glob(f".{glob.escape(name) or '*'}-{_MACHINE}-*-*"):
        target, _, process, _ = path.name.removeprefix(".").rsplit("-", 3)
        if process.isdecimal() and not _is_alive(int(process)):
            # A folder whose place a new one had not taken yet.
            if (path / OLD).exists() and not path.with_name(target).exists():
                os.replace(path / OLD, path.with_name(target))
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # Where signal 0 ends a process.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def check_room(folder: Path, size: int = 0, largest: int = 0) -> None:
    """Checks that a folder can be written to, and that its disk has room.

    Args:
        folder: the folder, made where it is missing.
        size: bytes that are going to be written there.
        largest: bytes of the largest file among them.

    Raises:
        OSError: naming the folder and what to do.

    Example:
        >>> from keras_corefmem.utils.locks import check_room
        >>> check_room(".", size=1)
    """
    try:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        message = f"Nothing can be written to {folder} ({error.strerror}): choose another folder."
        raise type(error)(message) from None
    free = shutil.disk_usage(folder).free
    if free < size:
        raise OSError(
            f"{folder} has {free / MEGABYTE:.1f} MB free and needs {size / MEGABYTE:.1f}: make "
            "room, or choose another folder."
        )
    limit = _file_size_limit()
    if limit is not None and limit < largest:
        raise OSError(
            f"Files may have {limit / MEGABYTE:.1f} MB (ulimit -f), those in {folder} need "
            f"{largest / MEGABYTE:.1f}: raise the limit."
        )


def _file_size_limit() -> int | None:
    if os.name == "nt":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if limit == resource.RLIM_INFINITY else limit
