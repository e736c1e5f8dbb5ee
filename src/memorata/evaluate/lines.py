r"""The lines of a text file with their numbers, so that every complaint about one can say where it is."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

from memorata.model.errors import DatasetError


def numbered_lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    r"""Yield each line of a UTF-8 file that is not blank, with its number from 1 and without its end.

    A file that cannot be read, or is not UTF-8, raises :class:`~memorata.model.errors.DatasetError`. Only a
    line feed (after a carriage return or not) ends a line; the other separators of Unicode may occur in
    texts.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.txt")
    ...     _ = path.write_text("first\n\nthird\u2028still third\n", encoding="utf-8")
    ...     list(numbered_lines(path))
    [(1, 'first'), (3, 'third\u2028still third')]
    """
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DatasetError(path, number, f"not UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise DatasetError(path, None, f"cannot be read: {error.strerror}") from error
