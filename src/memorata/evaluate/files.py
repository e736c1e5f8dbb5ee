"""Files of data sets, runs and labels as they lie on disk: opened, read by line, and hashed.

A file may be compressed with gzip or not; its first two bytes say which, not its name. Whatever is wrong with
it (missing, cut short, not UTF-8) becomes a :class:`~memorata.model.errors.DatasetError` that names it.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO, cast

from memorata.model.errors import DatasetError

_GZIP = b"\x1f\x8b"
_BLOCK_BYTES = 1 << 20


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its bytes, uncompressed if need be; what goes wrong names the file."""
    try:
        with path.open("rb") as raw:
            compressed = raw.read(2) == _GZIP
            raw.seek(0)
            if not compressed:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast("BinaryIO", unpacked)
    except EOFError as error:
        raise DatasetError(path, None, "the gzip file is cut short: fetch it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DatasetError(path, None, f"the gzip file is damaged ({error}): fetch it again") from error
    except OSError as error:
        raise DatasetError(path, None, f"cannot be read ({error.strerror or error})") from error


def numbered_lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield every line that is not blank with its number from 1, without its end.

    Only a line feed (after a carriage return or not) ends a line; the other separators of Unicode may occur
    in texts.
    """
    with opened(Path(path)) as stream:
        for number, line in enumerate(stream, 1):
            try:
                text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode()
            except UnicodeDecodeError as error:
                reason = f"not UTF-8 text: {error.reason} at byte {error.start}"
                raise DatasetError(path, number, reason) from error
            if text.strip():
                yield number, text.rstrip("\r\n")


def sha256_of(files: Mapping[str, Path]) -> str:
    r"""Return the hash of the one file, or of a list of the hashes of several.

    The list has a line ``HASH  NAME\n`` for each file, sorted by name, as ``sha256sum`` would print it.
    """
    hashes = {name: _sha256(path) for name, path in files.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    listing = "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))
    return hashlib.sha256(listing.encode()).hexdigest()


def _sha256(path: Path) -> str:
    """Return the hash of a file's bytes, still compressed if it is."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as raw:
            while block := raw.read(_BLOCK_BYTES):
                digest.update(block)
    except OSError as error:
        raise DatasetError(path, None, f"cannot be read ({error.strerror or error})") from error
    return digest.hexdigest()
