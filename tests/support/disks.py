"""Small disks of their own, which tests fill."""

import contextlib
import shutil
import subprocess

import pytest


@contextlib.contextmanager
def small_disk(folder, size, *options):
    """A disk of some bytes at a folder, where this process may mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "tmpfs", folder]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a disk is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(folder, left=0):
    """Fills a disk but for some bytes."""
    (folder / "filler").write_bytes(bytes(shutil.disk_usage(folder).free - left))


def files_in(folder):
    """The files of a disk but for what fills it."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "filler")
    return sorted(str(path.relative_to(folder)) for path in files)
