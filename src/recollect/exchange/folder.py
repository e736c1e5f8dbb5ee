"""The files of a folder, in an order that does not change, each with the name it has there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files in a folder and in the folders in it, hidden ones left out, sorted by their names.

    The name is the path within the folder, with slashes, so that it is the same on every machine. Links to
    folders are not followed, for they may lead in a circle.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     (Path(name) / "b").mkdir()
    ...     for each in ("b/c.md", "a.md", ".hidden.md"):
    ...         _ = (Path(name) / each).write_text("Tea.")
    ...     [name for name, _ in files_of(Path(name))]
    ['a.md', 'b/c.md']
    """
    found = []
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(path) / name for name in names if not name.startswith(".")]
    yield from sorted((path.relative_to(folder).as_posix(), path) for path in found)
