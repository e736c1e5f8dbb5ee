"""Other words for a memory that is in the index already: only the posting lists that differ are written.

What is said about a memory (its tags, its names, its day) may be changed later, and is found by its words.
The lists of a term are found by its hash, so that a change of a few words reads and writes a few blocks of
about a kilobyte, however large the segment is.
"""

from __future__ import annotations

from memorata.index import tail
from memorata.index.postings import Key, amended, found, key_of, places_of
from memorata.store.database import Session
from memorata.store.namespaces import Namespace
from memorata.store.port import Terms


def reword(session: Session, namespace: Namespace, slot: int, old: Terms, new: Terms) -> None:
    """List a memory under other words, in the transaction of the write that changes it.

    Parameters
    ----------
    session
        Inside a write transaction.
    namespace, slot
        Which memory.
    old, new
        Its words before and after.
    """
    if slot >= namespace.flushed:
        session.execute(
            "UPDATE records SET terms = ? WHERE namespace = ? AND slot = ?",
            (tail.encoded(new), namespace.number, slot),
        )
    else:
        _relist(session, namespace.number, slot, _differences(old, new))
    # Lists that a process keeps are those of the generation it knows.
    session.execute("UPDATE namespaces SET generation = generation + 1 WHERE number = ?", (namespace.number,))


def _differences(old: Terms, new: Terms) -> dict[tuple[str, str], int]:
    """Return every word that is listed differently, and how often it is said now."""
    before = {(field, term): times for field, terms in old.items() for term, times in terms.items()}
    after = {(field, term): times for field, terms in new.items() for term, times in terms.items()}
    return {
        key: after.get(key, 0) for key in before.keys() | after.keys() if before.get(key) != after.get(key)
    }


def _relist(session: Session, number: int, slot: int, changes: dict[tuple[str, str], int]) -> None:
    segment, first, buckets = session.execute(
        "SELECT number, first, buckets FROM segments WHERE namespace = ? AND first <= ? "
        "ORDER BY first DESC LIMIT 1",
        (number, slot),
    ).fetchone()
    by_place: dict[int, dict[Key, dict[int, int]]] = {}
    for (field, term), times in sorted(changes.items()):
        key = key_of(field, term)
        low, long = places_of(key)[0] % buckets, places_of(key)[1]
        # A list stays where it is, long or short: readers look in both places.
        listed = _block(session, number, segment, long)
        place = long if listed is not None and field in found(listed, term) else low
        by_place.setdefault(place, {})[key] = {slot - first: times}
    for place, wanted in by_place.items():
        block = amended(_block(session, number, segment, place), wanted)
        if block is None:
            session.execute(session.dialect.postings.drop, (number, segment, place))
        else:
            session.execute(session.dialect.postings.put, (number, segment, place, block))


def _block(session: Session, number: int, segment: int, place: int) -> bytes | None:
    row = session.execute(session.dialect.postings.one, (number, segment, place)).fetchone()
    return None if row is None else bytes(row[0])
