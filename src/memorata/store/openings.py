"""How the texts of a namespace open, kept to tell at a glance what nobody has said before.

To look for what a new memory repeats or contradicts, its vector is compared with every other, and a few rows
are read. For most that is in vain: nothing there even begins like it (:mod:`memorata.index.openings`). Who
writes one memory after the other therefore keeps how all of them open, and looks only at those that may be
meant; if it is none, no vector is compared at all, and what is in memory for searches need not even be
brought up to date.

What a slot says never changes, so openings stay true for as long as the namespace has its number. They are
read a part at a time, and not by those who come to write once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memorata.model.checks import IntArray
from memorata.store.cache import Added
from memorata.store.database import Session
from memorata.store.namespaces import Namespace, find_namespace
from memorata.store.rows import marks

# Who only recalls has no use for how texts open, and does not load what tells.
if TYPE_CHECKING:
    from memorata.index.openings import Openings

_KEPT: Final = 256
"""Of how many namespaces openings are kept; those asked for longest ago go first."""
_PATIENCE: Final = 4
"""How often one looks in vain before openings are read: a process that writes once has no use for them."""
_AT_ONCE: Final = 1_000
"""How many are read at a look."""
_SOME: Final = 256
"""Of how many texts the gist is read at a look; it is read once, and in the time of a search."""
_FEW: Final = 64
"""How many texts are read at a look to see whether they are meant; of more, a search tells faster."""
_READ: Final = (
    "SELECT m.slot, m.content FROM memories m WHERE +m.namespace = ? AND m.number >= ? AND m.number < ? "
    "AND (m.speaker = '' OR m.session = '' OR m.position IS NULL)"
)
"""A turn of a transcript is an event, and is neither repeated nor contradicted."""


class OpeningCache:
    """The openings of namespaces that were written to."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], tuple[Openings, int]] = OrderedDict()

    def clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()

    def unheard(self, session: Session, path: str, content: str) -> bool:
        """Tell whether it is certain that no memory of a namespace is repeated or contradicted by a text.

        False where that is not known, or takes longer to find out than a search.
        """
        namespace = find_namespace(session, path)
        if namespace is None:
            return True
        known = self._known(session, namespace)
        sharing = None if known is None else known.sharing(content)
        if known is None or sharing is None:
            return False
        unread = known.unread(sharing)
        if unread.size:
            some = unread[:_SOME]
            known.read(some, _texts(session, namespace.number, some))
            if some.size < unread.size:
                return False
        close = known.like(content, sharing) if sharing.size else sharing
        if not close.size or close.size > _FEW:
            return not close.size
        texts = _texts(session, namespace.number, close).values()
        from memorata.dedupe.openings import concern

        return not any(concern(older, content) for older in texts)

    def note(self, added: Sequence[Added]) -> None:
        """Keep how what was just added opens, where all before it is known: nobody need read it again."""
        from memorata.dedupe.verification import is_turn

        for each in added:
            # Out of the table while it grows: one that somebody interrupted has no use.
            key = each.namespace.number, each.namespace.begun
            known = self._kept.pop(key, None)
            if known is None:
                continue
            if 0 < len(known[0]) == each.namespace.slots:
                memories = (entry.memory for entry in each.entries)
                known[0].add([None if is_turn(memory) else memory.content for memory in memories])
            self._kept[key] = known

    def _known(self, session: Session, namespace: Namespace) -> Openings | None:
        """Return the openings of a namespace; None as long as they are not all there."""
        from memorata.index.openings import Openings

        key, number, slots = (namespace.number, namespace.begun), namespace.number, namespace.slots
        known, looks = self._kept.pop(key) if key in self._kept else (Openings(), 0)
        start = len(known)
        if start < slots and looks >= _PATIENCE:
            end = min(slots, start + _AT_ONCE)
            texts: list[str | None] = [None] * (end - start)
            place = session.dialect.number
            for slot, content in session.execute(_READ, (number, place(number, start), place(number, end))):
                texts[slot - start] = content
            known.add(texts)
        self._kept[key] = known, looks + 1
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return known if len(known) == slots else None


def _texts(session: Session, number: int, slots: IntArray) -> dict[int, str]:
    """Return the texts of some slots; of what was purged there is none any more."""
    start = session.dialect.number(number, 0)
    return dict(
        session.execute(
            f"SELECT slot, content FROM memories WHERE +namespace = ? AND number IN ({marks(slots)})",
            [number, *[start + slot for slot in slots.tolist()]],
        ).fetchall()
    )
