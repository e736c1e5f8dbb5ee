"""A copy of a database while others go on using it: whole under its name, or not there.

It is made under another name beside it, brought to the disk, and renamed at the end: who is killed on the way
leaves no file that looks like the copy, and an older copy stays until the new one is there.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from memorata.model.errors import InvalidArgument, StoreUnavailable
from memorata.store.sqlite.connection import connect, translated


def back_up(connection: sqlite3.Connection, origin: str, target: Path) -> None:
    """Copy a database to a file, in place of an older copy if there is one.

    Parameters
    ----------
    connection
        To the database, outside of a transaction.
    origin
        Its path, or ``":memory:"``.
    target
        The file; one that is there has to be a database of Memorata's that nobody uses.
    """
    if target.exists():
        if Path(origin).exists() and target.samefile(origin):
            raise InvalidArgument("target", str(target), "another file than the database itself")
        connect(target, backup=False).close()
        if Path(f"{target}-wal").exists():
            raise StoreUnavailable(f"{target} is in use; close it first, or name another file for the copy")
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with translated(str(target)), closing(sqlite3.connect(partial)) as copy:
            connection.backup(copy, pages=4096)
        _to_disk(partial)
        partial.replace(target)
        _to_disk(target.parent)
    except OSError as error:
        raise StoreUnavailable(f"{target} cannot be written ({error}); name another file") from error
    finally:
        partial.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        # Windows opens no folders; it writes their entries by itself.
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
