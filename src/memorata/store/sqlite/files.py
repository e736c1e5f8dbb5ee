"""Files that only their owner reads, and that are there as a whole or not at all."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from memorata.model.errors import StoreUnavailable

OWNER_ONLY: Final = 0o600


def create_private(file: Path) -> None:
    """Make an empty file that only its owner may read or write, unless there is one.

    SQLite gives the files that it makes beside a database the rights of the database. Where the file cannot
    be made nothing is raised: SQLite says why when it opens it.
    """
    if not file.exists():
        with suppress(OSError):
            os.close(os.open(file, os.O_CREAT | os.O_WRONLY, OWNER_ONLY))


_LEFTOVER: Final = re.compile(r"\.(?P<process>\d+)\.partial(?:-journal)?")


def kept_logs(file: Path) -> list[str]:
    """Return the names of the logs of replaced files beside a database: a purge leaves them alone."""
    if not file.parent.is_dir():
        return []
    return sorted(path.name for path in file.parent.glob(f"{glob.escape(file.name)}.replaced-*-wal"))


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Let no other process be in such a block for the same folder, where the system can lock one."""
    if os.name == "nt":
        yield
        return
    import fcntl

    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def remove_leftovers(file: Path) -> None:
    """Remove unfinished copies of a database whose processes, of this machine, have ended.

    A copy that was being made when its process was killed holds memories, purged ones too.
    """
    if os.name == "nt" or not file.parent.is_dir():
        # On Windows os.kill ends the process, whatever the signal.
        return
    for path in file.parent.iterdir():
        match = _LEFTOVER.fullmatch(path.name.removeprefix(file.name)) if path.name != file.name else None
        if match is not None and path.name.startswith(file.name) and not _is_running(int(match["process"])):
            path.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def to_disk(path: Path) -> None:
    """Wait until what was written to a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        # Windows opens no folders; it writes their entries by itself.
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to beside `target`; at the end it is synchronised and replaces `target`."""
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        yield partial
        to_disk(partial)
        partial.replace(target)
        to_disk(target.parent)
    except OSError as error:
        raise StoreUnavailable(f"{target} cannot be written ({error}); name another file") from error
    finally:
        partial.unlink(missing_ok=True)
