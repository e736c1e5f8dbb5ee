"""Files that only their owner reads."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600


def create_private(file: Path) -> None:
    """Make an empty file that only its owner may read or write, unless there is one.

    SQLite gives the files that it makes beside a database the rights of the database. Where the file cannot
    be made nothing is raised: SQLite says why when it opens it.
    """
    if not file.exists():
        with suppress(OSError):
            os.close(os.open(file, os.O_CREAT | os.O_WRONLY, OWNER_ONLY))
