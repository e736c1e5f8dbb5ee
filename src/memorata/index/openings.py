"""The openings of all memories of a namespace: a fast test that a text repeats and contradicts none of them.

Two checksums of each text are kept (:mod:`memorata.dedupe.openings`), 8 bytes a memory. Equal openings have
equal checksums, so nothing is missed; a collision costs one comparison.

The search for repeats and contradictions of a new memory compares its vector with every other, and reads a
few rows. For most memories of a batch it is in vain: no other text even begins like theirs. A process that
writes batches therefore caches the openings of all memories (:class:`OpeningCache`), and searches only for
texts that share one.

The text of a slot never changes, so openings stay valid as long as the namespace has its number. They are
read in pages, and not by a process that writes once.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from memorata.dedupe.openings import LETTERS, concern, concerned, opening
from memorata.index.cache import Added
from memorata.index.record import Growing
from memorata.model.checks import BoolArray, IntArray
from memorata.store.database import Session
from memorata.store.rows import Namespace

_NO_SLOTS: Final[IntArray] = np.zeros(0, np.intp)
_NO_CHECKSUM: Final = 0
"""Stands for no subject and for no memory; no checksum of an opening has this value."""


class Openings:
    """The openings of texts, by their slots from 0 on.

    >>> openings = Openings()
    >>> openings.add(["Anna likes tea.", "Bob swims a lot.", "Anna collects old stamps of Norway."])
    >>> openings.sharing("Anna really likes green tea")
    (array([0]), array([2]))
    """

    def __init__(self) -> None:
        self._subjects = Growing(np.uint32, ())
        self._letters = Growing(np.uint32, ())
        self._short: set[int] = set()

    def __len__(self) -> int:
        return len(self._subjects)

    def add(self, texts: Sequence[str | None]) -> None:
        """Add the texts of the next slots; None for a slot whose memory is gone."""
        for text in texts:
            subject = letters = _NO_CHECKSUM
            if text is not None:
                shape = opening(text)
                subject, letters = _checksum(shape.subject), _checksum(shape.letters)
                if len(shape.letters) < LETTERS:
                    self._short.add(letters)
            self._subjects.append(subject)
            self._letters.append(letters)

    def sharing(self, text: str) -> tuple[IntArray, IntArray] | None:
        """Return the slots of texts that `text` may repeat, and of others that it may contradict, ascending.

        None for a text so short that it may begin any other.
        """
        shape = opening(text)
        if len(shape.letters) < LETTERS:
            return None
        letters = self._letters.view
        alike: BoolArray = letters == _checksum(shape.letters)
        if self._short:
            # A shorter text may be the beginning of this one.
            for end in range(1, LETTERS):
                if (short := _checksum(shape.letters[:end])) in self._short:
                    alike |= letters == short
        repeated, about = alike.nonzero()[0], _NO_SLOTS
        if shape.subject:
            about = (self._subjects.view == _checksum(shape.subject)).nonzero()[0]
            about = about[~alike[about]]
        return repeated, about


def _checksum(opening: str) -> int:
    """Return a checksum that is never 0; 0 for an empty subject or statement."""
    return zlib.crc32(opening.encode("utf-8", "surrogatepass")) | 1 if opening else _NO_CHECKSUM


_MAX_NAMESPACES: Final = 256
"""Most namespaces with cached openings; the least recently used go first."""
_MIN_LOOKS: Final = 4
"""Lookups of a namespace before its openings are read: a process that writes once has no use for them."""
_PAGE_SIZE: Final = 1_000
"""Openings that are read in one lookup."""
_MAX_SHARING: Final = 64
"""Most texts with a shared opening that are read in one lookup; above, a search is faster."""
_MAX_COMPARED: Final = 8
"""Most texts that are compared word by word."""
_MAX_TEXTS: Final = 4_096
"""Most cached texts, of those that were added or read."""
_TEXTS: Final = (
    "SELECT m.slot, m.content FROM memories m WHERE +m.namespace = ? AND m.number >= ? AND m.number < ? "
    "AND (m.speaker = '' OR m.session = '' OR m.position IS NULL)"
)
"""A turn of a transcript is an event, and is neither repeated nor contradicted."""


class OpeningCache:
    """The cached openings of namespaces that were written to."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], tuple[Openings, int]] = OrderedDict()
        self._texts: OrderedDict[tuple[int, int, int], str] = OrderedDict()

    def forget_texts(self) -> None:
        """Drop the cached texts: some were purged."""
        self._texts.clear()

    def is_new(self, session: Session, namespace: Namespace, content: str) -> bool:
        """Return whether a text certainly repeats and contradicts nothing; False where a search is faster."""
        openings = self._openings(session, namespace)
        sharing = None if openings is None else openings.sharing(content)
        if openings is None or sharing is None:
            return False
        count = sharing[0].size + sharing[1].size
        if not count or count > _MAX_SHARING:
            return not count
        alike, about = sharing[0].tolist(), sharing[1].tolist()
        texts = self._contents(session, namespace, alike + about)
        older = concerned(
            content,
            [texts[slot] for slot in alike if slot in texts],
            [texts[slot] for slot in about if slot in texts],
        )
        return len(older) <= _MAX_COMPARED and not any(concern(text, content) for text in older)

    def _contents(self, session: Session, namespace: Namespace, slots: list[int]) -> dict[int, str]:
        """Return the texts of slots; the last are cached, as the newest share openings most often."""
        cached, key = self._texts, (namespace.number, namespace.begun)
        unread = [slot for slot in slots if (*key, slot) not in cached]
        if unread:
            for slot, text in _texts(session, namespace.number, unread).items():
                cached[(*key, slot)] = text
        contents = {slot: cached[place] for slot in slots if (place := (*key, slot)) in cached}
        while len(cached) > _MAX_TEXTS:
            cached.popitem(last=False)
        return contents

    def note(self, added: Sequence[Added]) -> None:
        """Cache the openings of added memories, where those of all before them are cached."""
        for batch in added:
            # Out of the cache while it grows: an interrupted one must not be used.
            key = batch.namespace.number, batch.namespace.begun
            entry = self._kept.pop(key, None)
            if entry is None:
                continue
            if 0 < len(entry[0]) == batch.namespace.slots:
                memories = (entry.memory for entry in batch.entries)
                texts = [None if memory.source.is_turn else memory.content for memory in memories]
                entry[0].add(texts)
                for slot, text in list(enumerate(texts, batch.namespace.slots))[-_MAX_TEXTS:]:
                    if text is not None:
                        self._texts[(*key, slot)] = text
            self._kept[key] = entry

    def _openings(self, session: Session, namespace: Namespace) -> Openings | None:
        """Return the openings of a namespace; None as long as they are not all loaded."""
        key, number, slots = (namespace.number, namespace.begun), namespace.number, namespace.slots
        openings, looks = self._kept.pop(key) if key in self._kept else (Openings(), 0)
        start = len(openings)
        if start < slots and looks >= _MIN_LOOKS:
            end = min(slots, start + _PAGE_SIZE)
            texts: list[str | None] = [None] * (end - start)
            place = session.dialect.number
            for slot, content in session.execute(_TEXTS, (number, place(number, start), place(number, end))):
                texts[slot - start] = content
            openings.add(texts)
        self._kept[key] = openings, looks + 1
        if len(self._kept) > _MAX_NAMESPACES:
            self._kept.popitem(last=False)
        return openings if len(openings) == slots else None


def _texts(session: Session, number: int, slots: Sequence[int]) -> dict[int, str]:
    """Return the texts of some slots, without purged ones."""
    start = session.dialect.number(number, 0)
    numbers = [start + slot for slot in slots]
    # Padded, so that few statements have to be prepared.
    numbers += numbers[-1:] * (-len(numbers) % 8)
    among, values = session.dialect.among(numbers)
    return dict(
        session.execute(
            f"SELECT slot, content FROM memories WHERE +namespace = ? AND number {among}", [number, *values]
        ).fetchall()
    )
