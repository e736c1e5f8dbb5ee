"""How every memory of a namespace opens, so that what nobody said before is known at a glance.

Of each text two checksums are kept (:mod:`recollect.duplicates.openings`), eight bytes. Equal openings have
equal checksums, so nothing is missed; that two openings have the same one by chance costs a look and no more.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from recollect.duplicates.openings import LETTERS, opening
from recollect.index.growing import Growing
from recollect.model.checks import BoolArray

_NOTHING: Final = 0
"""What stands for no subject, and for no memory; no checksum is this."""


class Sharing(NamedTuple):
    """Which slots share the opening of a text.

    Parameters
    ----------
    about
        Those with its subject: nothing else is contradicted by it.
    begun
        Those that begin with its letters, or are short and it begins with theirs: it repeats nothing else.
    """

    about: list[int]
    begun: list[int]


class Openings:
    """The openings of texts, by their slots from 0 on.

    Examples
    --------
    >>> known = Openings()
    >>> known.add(["Anna likes tea.", "Bob swims a lot.", None, "Anna plays the piano."])
    >>> known.sharing("Anna really likes green tea")
    Sharing(about=[0, 3], begun=[0])
    >>> known.sharing("Clara lives in Rome")
    Sharing(about=[], begun=[])
    """

    def __init__(self) -> None:
        self._subjects = Growing(np.uint32, ())
        self._letters = Growing(np.uint32, ())
        self._short: set[int] = set()

    def __len__(self) -> int:
        return len(self._subjects)

    def add(self, texts: Sequence[str | None]) -> None:
        """Add the texts of the next slots; None for a slot whose memory is gone."""
        subjects, letters = np.zeros((2, len(texts)), np.uint32)
        for place, text in enumerate(texts):
            if text is not None:
                read = opening(text)
                subjects[place], letters[place] = _checksum(read.subject), _checksum(read.letters)
                if len(read.letters) < LETTERS:
                    self._short.add(int(letters[place]))
        self._subjects.extend(subjects)
        self._letters.extend(letters)

    def sharing(self, text: str) -> Sharing | None:
        """Return the slots of all texts that `text` may repeat or contradict, and a few more.

        None for a text so short that any other may go on from it.
        """
        read = opening(text)
        if len(read.letters) < LETTERS:
            return None
        letters = self._letters.view
        begun = letters == _checksum(read.letters)
        if self._short:
            # What is shorter may be the beginning of this.
            for end in range(1, LETTERS):
                if (short := _checksum(read.letters[:end])) in self._short:
                    begun |= letters == short
        about = _slots(self._subjects.view == _checksum(read.subject)) if read.subject else []
        return Sharing(about, _slots(begun))


def _slots(found: BoolArray) -> list[int]:
    # Mostly it is nobody, and that is told sooner than who it is.
    return found.nonzero()[0].tolist() if found.any() else []


def _checksum(opening: str) -> int:
    """Return a checksum that is never 0; 0 for an empty subject or statement."""
    return zlib.crc32(opening.encode("utf-8", "surrogatepass")) | 1 if opening else _NOTHING
