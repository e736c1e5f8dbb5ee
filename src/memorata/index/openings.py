"""How every memory of a namespace opens, so that what nobody said before is known at a glance.

Of each text two checksums are kept (:mod:`memorata.dedupe.openings`). Equal openings have equal
checksums, so nothing is missed; that two openings have the same one by chance costs a look and no more. Of
those that were once looked at closer, because something new opened like them, or because they opened like
others when they were new, the gist is kept as well: there is room for it beside every text, 24 bytes of a
memory in all.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from memorata.dedupe.openings import LETTERS, Gist, are_close, gist, opening
from memorata.index.growing import Growing
from memorata.model.checks import BoolArray, IntArray

_NOTHING: Final = 0
"""What stands for no subject, and for no memory; no checksum of an opening is this."""
_GIST: Final = np.dtype([("words", np.uint64), ("kinds", np.uint32), ("spelling", np.uint32)])
_UNREAD: Final = (0, 0, 0)
_READ: Final = 1 << 31
"""Beside the kinds of a text whose gist is known; no kind of words has this bit."""


class Openings:
    """The openings of texts, by their slots from 0 on.

    Examples
    --------
    >>> known = Openings()
    >>> known.add(texts := ["Anna likes tea.", "Bob swims a lot.", "Anna collects old stamps of Norway."])
    >>> known.sharing("Anna really likes green tea")
    array([0, 2])
    >>> known.read(known.unread(np.array([0, 2])), {0: texts[0], 2: texts[2]})
    >>> known.like("Anna really likes green tea", np.array([0, 2]))
    array([0])
    """

    def __init__(self) -> None:
        self._subjects = Growing(np.uint32, ())
        self._letters = Growing(np.uint32, ())
        self._short: set[int] = set()
        self._gists = Growing(_GIST, ())
        self._asked: tuple[str, Gist] | None = None

    def __len__(self) -> int:
        return len(self._subjects)

    def add(self, texts: Sequence[str | None]) -> None:
        """Add the texts of the next slots; None for a slot whose memory is gone."""
        for text in texts:
            subject = letters = _NOTHING
            known = _UNREAD
            if text is not None:
                found = opening(text)
                subject, letters = _checksum(found.subject), _checksum(found.letters)
                if len(found.letters) < LETTERS:
                    self._short.add(letters)
                if self._asked is not None and self._asked[0] == text:
                    # Mostly what is added is what was asked for just before.
                    known = _written(self._asked[1])
            self._subjects.append(subject)
            self._letters.append(letters)
            self._gists.append(known)

    def sharing(self, text: str) -> IntArray | None:
        """Return the slots, ascending, of all texts that `text` may repeat or contradict, and some more.

        None for a text so short that any other may go on from it.
        """
        found = opening(text)
        if len(found.letters) < LETTERS:
            return None
        letters = self._letters.view
        shared: BoolArray = letters == _checksum(found.letters)
        if found.subject:
            shared |= self._subjects.view == _checksum(found.subject)
        if self._short:
            # What is shorter may be the beginning of this.
            for end in range(1, LETTERS):
                if (short := _checksum(found.letters[:end])) in self._short:
                    shared |= letters == short
        slots: IntArray = shared.nonzero()[0]
        return slots

    def unread(self, slots: IntArray) -> IntArray:
        """Return those of some slots whose gist is not known yet."""
        unread: IntArray = slots[self._gists.view["kinds"][slots] < _READ]
        return unread

    def read(self, slots: IntArray, texts: Mapping[int, str]) -> None:
        """Keep the gists of the texts of some slots; one that has no text any more has none."""
        gists = self._gists.view
        gists["kinds"][slots] = _READ
        for slot, text in texts.items():
            gists[slot] = _written(gist(text))

    def like(self, text: str, slots: IntArray) -> IntArray:
        """Return those of some slots, whose gists are known, that `text` may still repeat or contradict."""
        found = gist(text)
        self._asked = text, found
        others = self._gists.view[slots]
        chosen: IntArray = slots[are_close(found, others["words"], others["kinds"], others["spelling"])]
        return chosen


def _written(found: Gist) -> tuple[int, int, int]:
    return found.words, found.kinds | _READ, found.spelling


def _checksum(opening: str) -> int:
    """Return a checksum that is never 0; 0 for an empty subject or statement."""
    return zlib.crc32(opening.encode("utf-8", "surrogatepass")) | 1 if opening else _NOTHING
