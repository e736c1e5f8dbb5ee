"""The files that an import reads: single ones, those of a folder in a fixed order, or standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from memorata._frozen import frozen
from memorata.model.errors import InvalidArgument
from memorata.service.formats import SUFFIXES, format_of
from memorata.service.formats.record import Notes


@frozen
class Source:
    """A file to be read: the name people see, the one it goes by in ids, its format and where it is."""

    name: str
    label: str
    form: str
    data: bytes
    link: str


def sources(name: str, format: str | None, notes: Notes) -> Iterator[Source]:
    """Yield the files that a name stands for; what a folder has besides is skipped."""
    if name == "-":
        data = sys.stdin.buffer.read()
        yield Source(name, "stdin", format or format_of(data, "") or "text", data, "")
        return
    path = Path(name)
    if not path.exists():
        raise InvalidArgument("FILE", name, "a file or folder that exists")
    if not path.is_dir():
        data = path.read_bytes()
        found = format or format_of(data, path.suffix)
        if found is None:
            known = ", ".join(SUFFIXES)
            expected = f"one whose suffix ({known}) or content is known, or --format given"
            raise InvalidArgument("FILE", name, expected)
        yield Source(name, path.name, found, data, name)
        return
    for label, file in files_of(path, lambda error: _unreadable(notes, error, path)):
        if not file.is_file():
            # Nobody may ever write into a pipe, and whoever reads it waits for that.
            reason = "no file: a link that leads nowhere, a pipe or a device"
            notes.skipped.append({"file": str(file), "line": 1, "where": "the file", "reason": reason})
            continue
        try:
            data = file.read_bytes()
        except OSError as error:
            _unreadable(notes, error, file)
            continue
        found = format or format_of(data, file.suffix)
        if found is None:
            reason = "a file of no known format"
            notes.skipped.append({"file": str(file), "line": 1, "where": "the file", "reason": reason})
        else:
            yield Source(str(file), label, found, data, str(file))


def _unreadable(notes: Notes, error: OSError, path: Path) -> None:
    """Write down what stands in a folder but cannot be read."""
    name = path if error.filename is None else error.filename
    said = error.strerror or str(error)
    notes.problems.append({"file": str(name), "line": 1, "where": "all of it", "problem": said})


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
