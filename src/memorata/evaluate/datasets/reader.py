"""What every reader of a data set shares: its name, the hash of its files, and counts known after one pass.

A reader says how to go through its files once (:meth:`Reader._read`); the rest of the
:class:`~memorata.evaluate.collection.Dataset` protocol follows from that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from memorata.evaluate.collection import Haystack
from memorata.evaluate.datasets.source import sha256_of
from memorata.model.errors import DatasetError, shown


class Reader(ABC):
    """A data set in files that are read anew each time, so that it may be larger than memory.

    Parameters
    ----------
    format
        What the format is called.
    path
        The file or folder the set was opened by; its name without endings names the set in tables.
    files
        The files by the name they have in the set.
    options
        What the set was read with, for its name in tables.
    """

    def __init__(self, format: str, path: Path, files: Mapping[str, Path], **options: object) -> None:
        shown_options = ", ".join(f"{option}={value}" for option, value in options.items())
        stem = path.resolve().name.split(".")[0]
        self._name = f"{format}/{stem}" + (f" ({shown_options})" if shown_options else "")
        self._path = path
        self._files = dict(files)
        self._sha256 = ""
        self._read_whole = False
        self._length = 0
        self._dropped: Mapping[str, int] = {}
        for file in self._files.values():
            if not file.is_file():
                raise DatasetError(file, None, "no such file")

    @property
    def name(self) -> str:
        """What it is called in tables, with the options it was read with."""
        return self._name

    @property
    def sha256(self) -> str:
        """The hash of the file as it lies on disk; of several, the hash of their hashes by name."""
        if not self._sha256:
            self._sha256 = sha256_of(self._files)
        return self._sha256

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many questions were left out, by reason; reads the set if it has not been read to its end."""
        self._read_once()
        return self._dropped

    def haystacks(self) -> Iterator[Haystack]:
        """Yield the haystacks in the order of the file.

        Raises
        ------
        DatasetError
            Where a file is not what its format asks for.
        """
        dropped: Counter[str] = Counter()
        seen: set[str] = set()
        count = 0
        for haystack in self._read(dropped):
            for question in haystack.questions:
                if question.id in seen:
                    raise DatasetError(self._path, None, f"two questions have the id {shown(question.id)}")
                seen.add(question.id)
            count += 1
            yield haystack
        self._length, self._dropped, self._read_whole = count, MappingProxyType(dict(dropped)), True

    def __len__(self) -> int:
        """How many haystacks there are; reads the set if it has not been read to its end."""
        self._read_once()
        return self._length

    @abstractmethod
    def _read(self, dropped: Counter[str]) -> Iterator[Haystack]:
        """Go through the files once, counting in `dropped` the questions that are left out."""

    def _read_once(self) -> None:
        if not self._read_whole:
            deque(self.haystacks(), maxlen=0)
