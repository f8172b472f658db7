"""Locks of folders, removal of what dead processes left in them, and checks of disk space."""

import contextlib
import errno
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator

Path = str | os.PathLike[str]

LOCK = ".lock"
# Name, in a partial folder, of the old folder that the new one replaces.
OLD = "old"
# Tells apart machines that share a disk, since process numbers hold for one machine only.
_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
_PARTIAL = re.compile(r"\.(?P<target>.+)-(?P<machine>[0-9a-f]{8})-(?P<process>\d+)-\w+")
MEGABYTE = 2**20
# Errors for lack of room, and their remedies.
FULL = {
    errno.ENOSPC: "make room on its disk",
    errno.EDQUOT: "make room, its quota is used up",
    errno.EFBIG: "raise the limit of files, ulimit -f",
}


class NoRoomError(OSError):
    """Error for a full disk, a used-up quota, or a file above the size limit."""


@contextlib.contextmanager
def hold(folder: Path, remedy: str = "choose another folder", wait: bool = False) -> Iterator[None]:
    """Keeps other processes from writing to a folder, and removes what dead ones left there.

    The lock ends with its process, however that ends.

    Args:
        folder: the folder, created if it is missing.
        remedy: advice in the error, besides waiting.
        wait: whether to wait for another process that holds the folder.

    Raises:
        BlockingIOError: if another process, which it names, holds the folder.
        OSError: if nothing can be written there.

    Example:
        >>> from keras_corefmem.utils.locks import hold
        >>> with hold("models/run"):
        ...     os.path.exists("models/run/.lock")
        True
    """
    folder = pathlib.Path(folder)
    new = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    check_room(folder)
    try:
        with _lock(folder / LOCK, folder, remedy, wait):
            sweep(folder, machine="")
            yield
    finally:
        # Removes new folders in which nothing was written.
        with contextlib.suppress(OSError):
            for parent in new:
                parent.rmdir()


@contextlib.contextmanager
def hold_place(path: Path) -> Iterator[None]:
    """Keeps other processes from replacing a folder, as `hold` keeps them from writing to it."""
    path = pathlib.Path(path)
    check_room(path.parent)
    with _lock(path.with_name(f".{path.name}{LOCK}"), path, "choose another folder", False):
        yield


@contextlib.contextmanager
def _lock(path: pathlib.Path, held: Path, remedy: str, wait: bool) -> Iterator[None]:
    # Slow to import.
    import filelock

    lock = filelock.FileLock(path, timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise BlockingIOError(
            f"{held} is being written by {_holder(path)}: wait until that ends, or {remedy}."
        ) from None
    try:
        with naming_full(path):
            path.write_text(json.dumps(_record()), "utf-8")
        yield
    finally:
        # A process that waits for this file notices that it is gone, and creates a new one.
        path.unlink(missing_ok=True)
        lock.release()


def clear(folder: Path) -> None:
    """Removes the content of a folder, if it exists, except its lock."""
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
    """Describes the process that holds a lock, as far as the lock's file says."""
    try:
        record = json.loads(path.read_text("utf-8"))
        return "process {process} on {machine} since {since} ({command:.80})".format(**record)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return "another process"


def partial_folder(path: pathlib.Path) -> tempfile.TemporaryDirectory:
    """Makes a hidden folder beside a path for its replacement; removes those of dead processes."""
    prefix = f".{path.name}-{_MACHINE}-{os.getpid()}-"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent, path.name)
        return tempfile.TemporaryDirectory(dir=path.parent, prefix=prefix)
    except OSError as error:
        if error.errno in FULL:
            raise
        raise _not_written(path.parent, error) from None


def sweep(folder: Path, name: str = "", machine: str = _MACHINE) -> None:
    """Removes what dead processes left in a folder, or beside a name in it.

    Args:
        folder: the folder.
        name: name of the path that they meant to replace; any by default.
        machine: machine of those processes; `""` for any, if only this process writes to the
            folder, so that all others are dead.
    """
    for path in pathlib.Path(folder).glob(".*-*-*-*"):
        match = _PARTIAL.fullmatch(path.name)
        if not match or name not in ("", match["target"]):
            continue
        is_here = match["machine"] == _MACHINE
        if (is_here or not machine) and not (is_here and _is_alive(int(match["process"]))):
            target = path.with_name(match["target"])
            # Restores a folder that its replacement had not replaced yet.
            if (path / OLD).exists() and not target.exists():
                os.replace(path / OLD, target)
            shutil.rmtree(path, ignore_errors=True)


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # There, signal 0 ends a process.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def _not_written(folder: Path, error: OSError) -> OSError:
    message = f"Nothing can be written to {folder} ({error.strerror}): choose another folder."
    return type(error)(message)


def check_room(folder: Path, size: int = 0, largest: int = 0) -> None:
    """Checks that a folder can be written to, and that its disk has room.

    Args:
        folder: the folder, created if it is missing.
        size: bytes that are going to be written there.
        largest: bytes of the largest file among them.

    Raises:
        NoRoomError: if there is not enough room; names the folder and what to do.
        OSError: if nothing can be written there; likewise.

    Example:
        >>> from keras_corefmem.utils.locks import check_room
        >>> check_room(".", size=1)
    """
    try:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file.fileno(), largest)
    except OSError as error:
        if error.errno in FULL:
            needed = f"a file of {largest / MEGABYTE:.1f} MB"
            raise _no_room(f"{folder} has no room for {needed}", error) from None
        raise _not_written(folder, error) from None
    free = shutil.disk_usage(folder).free
    if free < size:
        raise NoRoomError(
            f"{folder} has {free / MEGABYTE:.1f} MB free and needs {size / MEGABYTE:.1f}: make "
            "room, or choose another folder."
        )


def _reserve(file: int, size: int) -> None:
    """Allocates room, since quotas and limits show only then."""
    if not size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:
        # Some file systems cannot do this.
        if error.errno in FULL:
            raise


@contextlib.contextmanager
def naming_full(path: Path) -> Iterator[None]:
    """Makes errors for lack of room say what could not be written, and what to do.

    Args:
        path: path of the file or folder that is written.

    Raises:
        NoRoomError: in place of such an error.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise _no_room(f"{path} cannot be written", error) from None


def _no_room(problem: str, error: OSError) -> NoRoomError:
    number = error.errno or 0
    return NoRoomError(
        f"{problem} ({os.strerror(number)}): {FULL[number]}, or choose another folder."
    )
