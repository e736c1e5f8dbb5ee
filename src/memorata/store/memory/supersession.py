"""Which memories superseded which, until when each of them held, and what it left to its successor.

A superseded memory held until its successor began, and never ended before its own start. Where the successor
was in turn superseded by one that began even before it, the chain decides: no two of it are true at once, so
the oldest held until the earliest of all its successors began. A memory may have an end of its own, which
stays. An end that a successor set depends on it: it moves when the beginning of the successor is corrected,
and goes when the successor is purged; and before there was a successor it was not known. So the store records
which of the two an end is (``end_given``).

One that is superseded because it only repeats another is no longer found by fields that it alone has: tags,
names, a place. Nor may a text that was repeated without an expiry expire because its first occurrence does.
So the memory that stays takes these over; the note of the repeat records them, for undoing it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memorata.index.record import changed
from memorata.model import checks
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.database import Session
from memorata.store.memory.lookup import Located, located, record_of
from memorata.store.rows import (
    OWN,
    Namespace,
    find,
    find_namespace,
    instant,
    last_change,
    marks,
    memory,
    microseconds,
    moment,
    put_record,
    set_columns,
)

if TYPE_CHECKING:
    from memorata.store.memory.repeats import Linked


INHERITED_KINDS: Final = frozenset({"exact", "near"})
"""The kinds of repeats whose fields are taken over; the result of a merge has them from the start."""
UNLINKED: Final[Mapping[str, Any]] = {"superseded_by": None, "superseded_at": None, "end_given": False}
"""The columns of a memory that nothing superseded."""
_WORDED: Final = frozenset({"tags", "entities"})
"""The fields that are searched by their terms."""


class Replaced(NamedTuple):
    """A memory that another superseded, and whether that set its end."""

    number: int
    slot: int
    memory: Memory
    end_given: bool


def replaced_by(
    session: Session, namespace: Namespace, id_: str, *, without_repeats: bool = False
) -> list[Replaced]:
    """Return what one superseded, as added, perhaps without mere repeats of it that superseded nothing."""
    condition = (
        " AND (m.end_given <> 0 OR EXISTS (SELECT 1 FROM memories o "
        "WHERE o.superseded_by = m.id AND +o.namespace = m.namespace))"
        if without_repeats
        else ""
    )
    rows = session.execute(
        f"SELECT m.number, m.slot, m.end_given, {OWN}, NULL FROM memories m "
        f"WHERE m.superseded_by = ? AND +m.namespace = ?{condition} ORDER BY m.number",
        (id_, namespace.number),
    )
    return [
        Replaced(number, slot, memory(row, namespace.path), bool(end_given))
        for number, slot, end_given, *row in rows.fetchall()
    ]


def notes_of(session: Session, path: str, id_: str) -> list[Note]:
    """Return the notes of the repeats of a memory, and what it took over from each."""
    namespace = find_namespace(session, path)
    if namespace is None:
        return []
    rows = session.execute(
        f"SELECT r.number, r.gained, {OWN}, NULL FROM memories w "
        "JOIN repeats r ON +r.namespace = w.namespace AND r.winner = w.number "
        "JOIN memories m ON +m.namespace = w.namespace AND m.number = r.memory "
        "WHERE w.namespace = ? AND w.id = ? AND m.superseded_by = w.id "
        f"AND r.kind IN ({marks(INHERITED_KINDS)}) "
        "ORDER BY r.number",
        (namespace.number, id_, *INHERITED_KINDS),
    )
    return [Note(number, taken, memory(row, path)) for number, taken, *row in rows.fetchall()]


def note_taken(session: Session, namespace: int, taken: Mapping[int, str | None]) -> None:
    """Write what was taken over from repeats, by the numbers of their notes."""
    session.executemany(
        "UPDATE repeats SET gained = ? WHERE +namespace = ? AND number = ?",
        [(text, namespace, number) for number, text in taken.items()],
    )


def ends_at(session: Session, number: int, as_of: datetime) -> dict[int, float]:
    """Return by slot until when memories were known to hold at a moment, where that differs from today."""
    rows = session.execute(
        "SELECT m.slot, m.valid_from, m.valid_to, m.superseded_at, m.end_given, w.slot, "
        "coalesce(w.valid_from, w.created_at) FROM memories m "
        "JOIN memories w ON w.namespace = m.namespace AND w.id = m.superseded_by "
        "WHERE m.namespace = ? AND m.superseded_at IS NOT NULL",
        (number,),
    )
    ends = ends_known(map(Succession._make, rows.fetchall()), microseconds(as_of))
    return {slot: end_of(instant(end)) for slot, end in ends.items()}


def end_of(moment: datetime | None) -> float:
    """Return a moment as records have it: in seconds since 1970, and infinity for none."""
    return math.inf if moment is None else moment.timestamp()


def _chain(session: Session, number: int, id_: str) -> list[tuple[int, int]]:
    """Return slots and beginnings of a memory, of its successor, and so on; none if it does not exist."""
    rows = session.execute(
        "WITH RECURSIVE way (slot, began, next, step) AS ("
        "SELECT slot, coalesce(valid_from, created_at), superseded_by, 0 FROM memories "
        "WHERE namespace = ?1 AND id = ?2 UNION ALL "
        "SELECT m.slot, coalesce(m.valid_from, m.created_at), m.superseded_by, way.step + 1 FROM way "
        "JOIN memories m ON m.namespace = ?1 AND m.id = way.next) SELECT slot, began FROM way ORDER BY step",
        (number, id_),
    )
    return rows.fetchall()


def began(session: Session, number: int, id_: str) -> datetime:
    """Return when a memory or the earliest of its successors began."""
    return moment(earliest(_chain(session, number, id_)))


def led_to(session: Session, number: int, id_: str) -> list[int]:
    """Return the slots of a memory, of its successor, and so on; none if it does not exist."""
    return [slot for slot, _ in _chain(session, number, id_)]


def settle_ends(session: Session, namespace: Namespace, id_: str) -> None:
    """Set the ends of everything that a memory superseded, directly or not, to when it began."""
    (slot,) = session.execute(
        "SELECT slot FROM memories WHERE namespace = ? AND id = ?", (namespace.number, id_)
    ).fetchone()
    open_ = [(id_, int(slot), began(session, namespace.number, id_))]
    while open_:
        winner, winner_slot, first = open_.pop()
        for number, slot, loser, end_given in replaced_by(session, namespace, winner, without_repeats=True):
            ended = ended_again(loser, end_given, first)
            if ended != loser.valid_to:
                set_columns(session, namespace.number, number, valid_to=ended)
                record = changed(record_of(session, namespace, slot), until=end_of(ended))
                put_record(session, namespace, slot, record, "update")
            own = loser.event_time
            open_.append((loser.id, slot, min(own, first) if winner_slot > slot else own))


def mark_superseded(session: Session, older: Located, by: str, at: datetime, first: datetime | None) -> int:
    """Mark a memory as superseded by one that began at `first`; None for one that it only repeats."""
    namespace, number, slot, memory, record = older
    until, end_given = memory.valid_to, False
    if first is not None and until is None:
        until, end_given = ended_by(memory, first), True
    links: dict[str, Any] = {"superseded_by": by, "superseded_at": at}
    set_columns(session, namespace.number, number, **links, valid_to=until, end_given=end_given)
    ended = changed(record, superseded=at.timestamp(), until=end_of(until))
    change = put_record(session, namespace, slot, ended, "supersede")
    if first is not None and first < memory.event_time:
        # What it had itself superseded ended sooner, too.
        settle_ends(session, namespace, memory.id)
        return last_change(session, namespace.number)
    return change


def mark_current(session: Session, older: Located, *, end_given: bool) -> None:
    """Mark a memory as superseded by nothing; an end that a successor set goes, one of its own stays."""
    namespace, number, slot, memory, record = older
    until = ended_again(memory, end_given, None)
    set_columns(session, namespace.number, number, **UNLINKED, valid_to=until)
    current = changed(record, superseded=end_of(None), until=end_of(until))
    put_record(session, namespace, slot, current, "reinstate")


def note_repeat(session: Session, path: str, id_: str, kind: str, at: datetime) -> None:
    """Note that a superseded memory repeats its successor, unless there is such a note."""
    from memorata.store.memory.repeats import KINDS

    checks.one_of("repeat", kind, KINDS)
    namespace, number, _, loser = find(session, path, id_)
    _, winner_number, _, winner = find(session, path, str(loser.superseded_by))
    # What the repeat has added is in the other memory already.
    mentions = loser.mentions if kind in INHERITED_KINDS else 0
    support = microseconds(winner.supported_at)
    # A note that it repeats another memory is out of date.
    session.execute(
        "DELETE FROM repeats WHERE +namespace = ? AND memory = ? AND winner <> ?",
        (namespace.number, number, winner_number),
    )
    if session.execute(
        "SELECT 1 FROM repeats WHERE +namespace = ? AND memory = ?", (namespace.number, number)
    ).fetchone():
        return
    session.insert(
        "repeats",
        "namespace, memory, winner, kind, reason, at, mentions, before, after, supported_before, "
        "supported_after",
        (namespace.number, number, winner_number, kind, "It was noted where it came from.", microseconds(at),
         mentions, winner.confidence, winner.confidence, support, support),
    )  # fmt: skip


def relink(session: Session, path: str, links: Sequence[Linked]) -> None:
    """Give memories these links and no others; ends and `end_given` stay as they are."""
    for link in links:
        namespace, number, _, _ = find(session, path, link.memory_id)
        # All are unlinked first: the direction of a link may have changed.
        set_columns(session, namespace.number, number, version=0, superseded_by=None)
    for link in links:
        namespace, number, slot, _, record = located(session, path, link.memory_id)
        for other in (*filter(None, [link.superseded_by]), *link.supersedes):
            find(session, path, other)
        winner = link.superseded_by
        if winner is not None and slot in led_to(session, namespace.number, winner):
            raise InvalidArgument(
                "superseded_by", winner, f"a memory that does not lead back to {link.memory_id!r}"
            )
        ends: dict[str, Any] = {"superseded_by": winner, "superseded_at": link.superseded_at}
        columns = UNLINKED if winner is None else ends
        set_columns(session, namespace.number, number, **columns, supersedes=link.supersedes)
        linked = changed(record, superseded=end_of(link.superseded_at))
        put_record(session, namespace, slot, linked, "reinstate" if winner is None else "supersede")


def ended_by(memory: Memory, began: datetime) -> datetime:
    """Return until when a memory without an end of its own held, if its successor `began` then."""
    return began if memory.valid_from is None else max(began, memory.valid_from)


def ended_again(memory: Memory, end_given: bool, began: datetime | None) -> datetime | None:
    """Return until when a superseded memory held, whose successor `began` then; None if that is gone."""
    if not end_given:
        return memory.valid_to
    return None if began is None else ended_by(memory, began)


class Succession(NamedTuple):
    """A memory and its successor `winner`, which `began` to hold then; by slot, in microseconds."""

    slot: int
    valid_from: int | None
    valid_to: int | None
    superseded_at: int
    end_given: bool
    winner: int
    began: int


def earliest(chain: Iterable[tuple[int, int]]) -> int:
    """Return when the first in a chain of slots and beginnings began, in microseconds.

    A repeat that was superseded by an older memory is no succession: the chain ends there.
    """
    first, last = None, -1
    for slot, began in chain:
        if first is not None and slot < last:
            break
        first, last = began if first is None else min(first, began), slot
    assert first is not None  # a chain has a beginning
    return first


def ends_known(successions: Iterable[Succession], as_of: int) -> dict[int, int | None]:
    """Return until when memories were known to hold at a moment, where that differs from today."""
    by_slot = {succession.slot: succession for succession in successions}
    begun = {slot: succession for slot, succession in by_slot.items() if succession.superseded_at <= as_of}
    ends: dict[int, int | None] = {}
    for slot, succession in by_slot.items():
        if not succession.end_given:
            continue
        end = None
        if slot in begun:
            chain = [(succession.winner, succession.began)]
            while (above := begun.get(chain[-1][0])) is not None:
                chain.append((above.winner, above.began))
            end = earliest(chain)
            if succession.valid_from is not None:
                end = max(end, succession.valid_from)
        if end != succession.valid_to:
            ends[slot] = end
    return ends


class Note(NamedTuple):
    """The number of a note, the fields that were taken over, as :func:`noted` writes them, and the repeat."""

    number: int
    taken: str | None
    repeat: Memory


def taken_over(memory: Memory, repeat: Memory) -> dict[str, Any]:
    """Return the fields of a memory that change when it takes over what only a repeat of it has."""
    folded = {name.casefold() for name in memory.entities}
    ends = memory.expires_at, repeat.expires_at
    wanted: dict[str, Any] = {
        "tags": memory.tags + tuple(tag for tag in repeat.tags if tag not in memory.tags),
        "entities": memory.entities
        + tuple(name for name in repeat.entities if name.casefold() not in folded),
        "place": memory.place or repeat.place,
        "pinned": memory.pinned or repeat.pinned,
        "expires_at": None if repeat.pinned or None in ends else max(filter(None, ends)),
    }
    return {name: value for name, value in wanted.items() if value != getattr(memory, name)}


def noted(memory: Memory, taken: dict[str, Any]) -> str | None:
    """Return the fields that a memory took over as JSON for the note: before and after; None for none."""
    if not taken:
        return None
    return json.dumps({name: [_plain(getattr(memory, name)), _plain(value)] for name, value in taken.items()})


def given_back(
    memory: Memory, notes: Sequence[Note], gone: Collection[int]
) -> tuple[Memory, dict[int, str | None]]:
    """Return a memory without what it took over under the notes that are `gone`, as far as that is unchanged.

    And by number what it takes over from each of the other repeats, which may be more now.
    """
    for note in reversed(notes):
        memory = _without(memory, note.taken)
    others = {}
    for number, _, repeat in notes:
        if number not in gone:
            taken = taken_over(memory, repeat)
            others[number] = noted(memory, taken)
            memory = replace(memory, **taken)
    return memory, others


def _without(memory: Memory, taken: str | None) -> Memory:
    restored: dict[str, Any] = {}
    for name, (before, after) in json.loads(taken or "{}").items():
        now = getattr(memory, name)
        if name in _WORDED:
            gained = set(after) - set(before)
            restored[name] = tuple(value for value in now if value not in gained)
        elif _plain(now) == after:
            is_time = name == "expires_at" and before is not None
            restored[name] = datetime.fromisoformat(before) if is_time else before
    return replace(memory, **restored)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Place):
        return [value.lat, value.lon, value.name]
    return list(value) if isinstance(value, Sequence) else value
