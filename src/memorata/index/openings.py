"""How every memory of a namespace opens, so that what nobody said before is known at a glance.

Of each text two checksums are kept (:mod:`memorata.dedupe.openings`), 8 bytes of a memory. Equal openings
have equal checksums, so nothing is missed; that two have the same one by chance costs a look and no more.

To look for what a new memory repeats or contradicts, its vector is compared with every other, and a few rows
are read. Of a batch that is in vain for most: nothing there even begins like it. Who writes batches therefore
keeps how all of them open (:class:`OpeningCache`), and searches only for those that begin like another.

What a slot says never changes, so openings stay true for as long as the namespace has its number. They are
read a part at a time, and not by those who come to write once.
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
from memorata.store.rows import Namespace, marks

_NO_SLOTS: Final[IntArray] = np.zeros(0, np.intp)
_NOTHING: Final = 0
"""What stands for no subject, and for no memory; no checksum of an opening is this."""


class Openings:
    """The openings of texts, by their slots from 0 on.

    Examples
    --------
    >>> known = Openings()
    >>> known.add(["Anna likes tea.", "Bob swims a lot.", "Anna collects old stamps of Norway."])
    >>> known.sharing("Anna really likes green tea")
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
            subject = letters = _NOTHING
            if text is not None:
                shape = opening(text)
                subject, letters = _checksum(shape.subject), _checksum(shape.letters)
                if len(shape.letters) < LETTERS:
                    self._short.add(letters)
            self._subjects.append(subject)
            self._letters.append(letters)

    def sharing(self, text: str) -> tuple[IntArray, IntArray] | None:
        """Return the slots of all texts that `text` may repeat, and those of others that it may contradict.

        And some more; both are ascending. None for a text so short that any other may go on from it.
        """
        shape = opening(text)
        if len(shape.letters) < LETTERS:
            return None
        letters = self._letters.view
        alike: BoolArray = letters == _checksum(shape.letters)
        if self._short:
            # What is shorter may be the beginning of this.
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
    return zlib.crc32(opening.encode("utf-8", "surrogatepass")) | 1 if opening else _NOTHING


_KEPT: Final = 256
"""Of how many namespaces openings are kept; those asked for longest ago go first."""
_PATIENCE: Final = 4
"""How often one looks in vain before openings are read: a process that writes once has no use for them."""
_PAGE_SIZE: Final = 1_000
"""How many are read at a look."""
_MAX_SHARING: Final = 64
"""How many texts are read at a look to see whether they are meant; of more, a search tells faster."""
_MAX_COMPARED: Final = 8
"""How many texts are compared word by word."""
_KEPT_TEXTS: Final = 4_096
"""How many texts are kept that were added, or read to see whether they are meant."""
_TEXTS: Final = (
    "SELECT m.slot, m.content FROM memories m WHERE +m.namespace = ? AND m.number >= ? AND m.number < ? "
    "AND (m.speaker = '' OR m.session = '' OR m.position IS NULL)"
)
"""A turn of a transcript is an event, and is neither repeated nor contradicted."""


class OpeningCache:
    """The openings of namespaces that were written to."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], tuple[Openings, int]] = OrderedDict()
        self._texts: OrderedDict[tuple[int, int, int], str] = OrderedDict()

    def clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()
        self.forget_texts()

    def forget_texts(self) -> None:
        """Forget the texts that are kept: some were purged."""
        self._texts.clear()

    def is_new(self, session: Session, namespace: Namespace, content: str) -> bool:
        """Tell whether it is certain that no memory of a namespace is repeated or contradicted by a text.

        False where that is not known, or takes longer to find out than a search.
        """
        known = self._known(session, namespace)
        sharing = None if known is None else known.sharing(content)
        if known is None or sharing is None:
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
        """Return texts of slots, which never change; the last are kept, for the newest are often meant."""
        kept, key = self._texts, (namespace.number, namespace.begun)
        unread = [slot for slot in slots if (*key, slot) not in kept]
        if unread:
            for slot, text in _texts(session, namespace.number, unread).items():
                kept[(*key, slot)] = text
        contents = {slot: kept[place] for slot in slots if (place := (*key, slot)) in kept}
        while len(kept) > _KEPT_TEXTS:
            kept.popitem(last=False)
        return contents

    def note(self, added: Sequence[Added]) -> None:
        """Keep how what was just added opens, where all before it is known: nobody need read it again."""
        for batch in added:
            # Out of the table while it grows: one that somebody interrupted has no use.
            key = batch.namespace.number, batch.namespace.begun
            known = self._kept.pop(key, None)
            if known is None:
                continue
            if 0 < len(known[0]) == batch.namespace.slots:
                memories = (entry.memory for entry in batch.entries)
                texts = [None if memory.source.is_turn else memory.content for memory in memories]
                known[0].add(texts)
                for slot, text in list(enumerate(texts, batch.namespace.slots))[-_KEPT_TEXTS:]:
                    if text is not None:
                        self._texts[(*key, slot)] = text
            self._kept[key] = known

    def _known(self, session: Session, namespace: Namespace) -> Openings | None:
        """Return the openings of a namespace; None as long as they are not all there."""
        key, number, slots = (namespace.number, namespace.begun), namespace.number, namespace.slots
        known, looks = self._kept.pop(key) if key in self._kept else (Openings(), 0)
        start = len(known)
        if start < slots and looks >= _PATIENCE:
            end = min(slots, start + _PAGE_SIZE)
            texts: list[str | None] = [None] * (end - start)
            place = session.dialect.number
            for slot, content in session.execute(_TEXTS, (number, place(number, start), place(number, end))):
                texts[slot - start] = content
            known.add(texts)
        self._kept[key] = known, looks + 1
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return known if len(known) == slots else None


def _texts(session: Session, number: int, slots: Sequence[int]) -> dict[int, str]:
    """Return the texts of some slots; of what was purged there is none any more."""
    start = session.dialect.number(number, 0)
    numbers = [start + slot for slot in slots]
    # Padded, so that few statements have to be prepared.
    numbers += numbers[-1:] * (-len(numbers) % 8)
    return dict(
        session.execute(
            f"SELECT slot, content FROM memories WHERE +namespace = ? AND number IN ({marks(numbers)})",
            [number, *numbers],
        ).fetchall()
    )
