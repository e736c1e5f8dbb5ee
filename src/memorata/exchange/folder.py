"""The files of a folder, in an order that does not change, each with the name it has there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def files_of(
    folder: Path, unreadable: Callable[[OSError], None] = lambda error: None
) -> Iterator[tuple[str, Path]]:
    """Yield the files in a folder and in the folders in it, hidden ones left out, sorted by their names.

    The name is the path within the folder, with slashes, so that it is the same on every machine. Links to
    folders are not followed, for they may lead in a circle. What is there but is no file, such as a pipe or
    a link that leads nowhere, is among them.

    Parameters
    ----------
    folder
        Where to look.
    unreadable
        Told of every folder that cannot be listed; the others are.

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
    for path, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(path) / name for name in names if not name.startswith(".")]
    yield from sorted((path.relative_to(folder).as_posix(), path) for path in found)
