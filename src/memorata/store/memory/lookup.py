"""Look memories up: by the hash of a text, by id, with their records, in pages, as a feed of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memorata.index.codes import Floats
from memorata.index.record import Records, unpacked
from memorata.index.segments import Embedder
from memorata.index.vector_rows import is_sound, unsealed
from memorata.model.errors import InvalidArgument, MemoryNotFound, StoreCorrupt
from memorata.model.memory import Memory
from memorata.store.database import Database, Session, Statement
from memorata.store.entries import Change, Hidden, Page, all_pages
from memorata.store.rows import (
    EMPTY,
    LARGEST,
    NAMED,
    OWN,
    SELECTED,
    SLOTS,
    Namespace,
    expect_found,
    find,
    find_namespace,
    ids_at,
    instant,
    memory,
    microseconds,
    slots_of,
    sound,
)

if TYPE_CHECKING:
    from memorata.store.filters import Filter

PLAIN: Final = "superseded_by IS NULL AND (speaker = '' OR session = '' OR position IS NULL)"
"""Current, and no turn of a transcript, which is an event and no duplicate of another."""
_SAME: Final = (
    f"SELECT m.statement, {OWN}, NULL FROM memories m WHERE m.namespace = ? "
    f"AND m.statement IN (SELECT value FROM json_each(?)) AND {PLAIN} AND m.forgotten_at IS NULL "
    "AND (m.expires_at IS NULL OR m.expires_at > ?) ORDER BY m.number"
)
_DIGESTS_PER_STATEMENT: Final = 1_000


def same(session: Session, path: str, statements: Sequence[str], now: datetime) -> dict[str, list[Memory]]:
    """Return the memories seen at `now` by the key of their statement, oldest first, without turns."""
    by_statement: dict[str, list[Memory]] = {}
    namespace = find_namespace(session, path)
    if namespace is None or not statements:
        return by_statement
    for key, *row in session.execute(*same_statement(session, namespace.number, statements, now)).fetchall():
        by_statement.setdefault(key, []).append(memory(row, path))
    return by_statement


def same_statement(session: Session, number: int, statements: Sequence[str], now: datetime) -> Statement:
    """Return the SQL that selects memories by the keys of their statements."""
    keys = session.dialect.array(list(dict.fromkeys(statements)))
    return _SAME, (number, keys, microseconds(now))


def cached_vectors(
    session: Session, path: str, embedder: Embedder, digests: Sequence[bytes]
) -> dict[bytes, Floats]:
    """Return the vectors of an embedder that a namespace has of texts with these digests."""
    statements = expect_vectors(session, path, embedder, digests)
    return {
        digest: unsealed(blob, embedder[1])
        for statement in statements
        for digest, blob in session.execute(*statement).fetchall()
        if is_sound(blob, embedder[1])
    }


def expect_vectors(
    session: Session, path: str, embedder: Embedder, digests: Sequence[bytes]
) -> list[Statement]:
    """Read the row of a namespace, and vectors by digest, ahead; return the statements for the vectors."""
    number = session.dialect.namespace_number(path)
    if number is None:
        number = (find_namespace(session, path) or EMPTY).number
    wanted = list(dict.fromkeys(digests))
    statements: list[Statement] = []
    for start in range(0, len(wanted), _DIGESTS_PER_STATEMENT):
        among, values = session.dialect.among(wanted[start : start + _DIGESTS_PER_STATEMENT])
        # One of each: a text that is said again and again has as many vectors, all alike.
        first = f"SELECT min(number) FROM vectors WHERE namespace = ? AND digest {among} AND embedder = ?"
        statements.append(
            (
                "SELECT digest, vectors FROM vectors "
                f"WHERE +namespace = ? AND number IN ({first} GROUP BY digest)",
                (number, number, *values, embedder[0]),
            )
        )
    session.namespace(path, statements)
    return statements


_PAGE_SIZE: Final = 500
"""How many rows of an export are read at a time."""


def get(session: Session, path: str, ids: Sequence[str]) -> list[Memory]:
    """Return memories by id, hidden ones too; raise for an id that does not exist."""
    expect_found(session, path, ids)
    return [find(session, path, id_)[3] for id_ in ids]


def existing(session: Session, memories: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return which of these (namespace, id) pairs exist."""
    by_path: dict[str, list[str]] = {}
    for path, id_ in memories:
        by_path.setdefault(path, []).append(id_)
    return {
        (path, id_)
        for path, ids in by_path.items()
        if (namespace := find_namespace(session, path)) is not None
        for id_ in slots_of(session, namespace.number, ids)
    }


def slots(session: Session, path: str, ids: Sequence[str]) -> dict[str, int]:
    """Return the slots of memories by id; missing ids are left out."""
    return slots_of(session, (find_namespace(session, path) or EMPTY).number, ids)


def ids(session: Session, path: str, slots: Sequence[int]) -> dict[int, str]:
    """Return the ids of memories by slot, in their order; slots without one are left out."""
    return dict(sorted(ids_at(session, (find_namespace(session, path) or EMPTY).number, slots).items()))


LOCATE: Final = (
    f"SELECT m.number, m.slot, r.record, {OWN}, NULL FROM memories m "
    "LEFT JOIN records r ON r.namespace = m.namespace AND r.slot = m.slot WHERE m.namespace = ? AND m.id = ?"
)


class Located(NamedTuple):
    """A memory with its namespace, number, slot and record."""

    namespace: Namespace
    number: int
    slot: int
    memory: Memory
    record: Records


def locate(session: Session, namespace: Namespace, id_: str) -> Located | None:
    """Return a memory of a namespace with its record; None if it does not exist."""
    row = session.execute(LOCATE, (namespace.number, id_)).fetchone()
    if row is None:
        return None
    number, slot, record, *columns = row
    return Located(namespace, number, slot, memory(columns, namespace.path), unpacked([record or b""]))


def located(session: Session, path: str, id_: str) -> Located:
    """Return a memory with its record, or raise."""
    namespace = find_namespace(session, path)
    row = None if namespace is None else locate(session, namespace, id_)
    if row is None:
        raise MemoryNotFound(id_, path)
    return row


def record_of(session: Session, namespace: Namespace, slot: int) -> Records:
    """Return the record of a memory."""
    row = session.execute(
        "SELECT record FROM records WHERE namespace = ? AND slot = ?", (namespace.number, slot)
    ).fetchone()
    return unpacked(row or [b""])


_OLDEST: Final = "o"
"""Begins the cursor of a listing that is oldest first."""


def page(
    session: Session,
    path: str,
    filter: Filter | None,
    limit: int,
    cursor: str | None,
    *,
    hidden: bool = False,
    oldest_first: bool = False,
) -> Page:
    """Return memories newest first, or oldest first, a page at a time; with `hidden`, hidden ones too."""
    condition = session.dialect.condition(filter)
    sql, values = condition.sql, list(condition.values)
    number = (find_namespace(session, path) or EMPTY).number
    first, end = session.dialect.number(number, 0), session.dialect.number(number, SLOTS)
    mark, direction = (_OLDEST, "ASC") if oldest_first else ("", "DESC")
    if not hidden:
        sql += " AND m.forgotten_at IS NULL AND m.superseded_by IS NULL"
    if cursor is not None:
        digits = cursor.removeprefix(mark)
        is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(LARGEST))
        if not cursor.startswith(mark) or not is_number or int(digits) > LARGEST:
            raise InvalidArgument("cursor", cursor, "the cursor of a page before, in the same order")
        first, end = (max(first, int(digits) + 1), end) if oldest_first else (first, min(int(digits), end))
    wanted = min(limit, LARGEST - 1) + 1
    shown: list[tuple[int, Memory]] = []
    while len(shown) < wanted:
        # Where SQL decides only a part of a filter, more is read until there are enough.
        missing = wanted - len(shown)
        rows = session.execute(
            f"SELECT m.number, {OWN}, NULL FROM memories m WHERE +m.namespace = ? AND m.number >= ? "
            f"AND m.number < ? AND {sql} ORDER BY m.number {direction} LIMIT ?",
            (number, first, end, *values, missing),
        ).fetchall()
        numbers = [row[0] for row in rows]
        if numbers != sorted(numbers, reverse=not oldest_first):
            raise _misplaced(path)
        read = [(row[0], memory(row[1:], path)) for row in rows]
        shown += [numbered for numbered in read if condition.passes(numbered[1])]
        if len(rows) < missing:
            break
        first, end = (rows[-1][0] + 1, end) if oldest_first else (first, rows[-1][0])
    more = len(shown) > limit
    if not more and filter is None and not session.dialect.remote:
        _check_rows(session, number, path)
    shown = shown[:limit]
    cursor = f"{mark}{shown[-1][0]}" if more and shown else None
    return Page(tuple(memory for _, memory in shown), cursor)


_AS_INDEXED: Final = (
    "SELECT (SELECT sum(number - ?2) FROM memories WHERE namespace = ?1) IS "
    "(SELECT sum(number - ?2) FROM memories WHERE +namespace = ?1 AND number >= ?2 AND number < ?3)"
)


def _check_rows(session: Session, number: int, path: str) -> None:
    """Raise if the rows of a namespace in a file are others than its index of ids has.

    A walk over rows ends without an error where the number of one is damaged, or a page changed places.
    """
    bounds = session.dialect.number(number, 0), session.dialect.number(number, SLOTS)
    if session.execute(_AS_INDEXED, (number, *bounds)).fetchone() != (1,):
        raise _misplaced(path)


def _misplaced(path: str) -> StoreCorrupt:
    return StoreCorrupt(f"memories of {path} are not where they were written; run `memorata admin check`")


def matching(session: Session, path: str, filter: Filter) -> list[str]:
    """Return the ids of all visible memories that pass a filter."""
    return [match.id for match in all_pages(lambda cursor: page(session, path, filter, _PAGE_SIZE, cursor))]


def hidden(session: Session, path: str) -> list[Hidden]:
    """Return since when the hidden memories of a namespace have been so, in the order they were added."""
    number = (find_namespace(session, path) or EMPTY).number
    rows = session.execute(
        "SELECT m.id, m.forgotten_at, m.superseded_at, m.end_given, "
        "CASE WHEN w.id IS NULL THEN NULL ELSE r.kind END "
        "FROM memories m LEFT JOIN repeats r ON +r.namespace = m.namespace AND r.memory = m.number "
        "LEFT JOIN memories w ON +w.namespace = m.namespace AND w.number = r.winner "
        "AND w.id = m.superseded_by "
        "WHERE +m.namespace = ? AND m.number >= ? AND m.number < ? "
        "AND (m.forgotten_at IS NOT NULL OR m.superseded_at IS NOT NULL) ORDER BY m.number",
        (number, session.dialect.number(number, 0), session.dialect.number(number, SLOTS)),
    ).fetchall()
    return [
        Hidden(id_, instant(forgotten), instant(since), None if since is None else bool(end_given), kind)
        for id_, forgotten, since, end_given, kind in rows
    ]


def export(
    database: Database, path: str | None, unreadable: Callable[[StoreCorrupt], None] | None = None
) -> Iterator[Memory]:
    """Yield every memory, hidden ones too, as added; `unreadable` gets the error of a damaged one."""
    after: tuple[int, ...] = ()

    def read(session: Session) -> list[Any]:
        values: list[Any] = [] if path is None else [path]
        condition = "c.change > 0 AND c.kind = 'add'" + ("" if path is None else " AND n.path = ?")
        key = session.dialect.change_key
        if after:
            condition += f" AND ({key}) > ({', '.join('?' * len(after))})"
        with session.dialect.leniently(session) if unreadable is not None else nullcontext():
            return session.execute(
                f"SELECT {key}, {SELECTED} FROM changes c JOIN namespaces n ON n.number = c.namespace "
                "JOIN memories m ON +m.namespace = c.namespace "
                f"AND m.number = {session.dialect.change_memory} "
                f"WHERE {condition} ORDER BY {key} LIMIT {_PAGE_SIZE}",
                (*values, *after),
            ).fetchall()

    while rows := database.read(read):
        width = len(rows[0]) - _WIDTH
        after = tuple(rows[-1][:width])
        for row in rows:
            try:
                exported = memory(row[width:]) if unreadable is None else sound(row[width:])
            except StoreCorrupt as error:
                if unreadable is None:
                    raise
                unreadable(error)
            else:
                yield exported


_WIDTH: Final = SELECTED.count(",") + 1


def namespaces(session: Session, *, counted: Sequence[str] | None = None) -> Mapping[str, int]:
    """Return every namespace and how many memories it holds; 0 for all but those `counted`, if given."""
    count = "(SELECT count(*) FROM memories m WHERE m.namespace = n.number)"
    if counted is not None:
        # A count walks over an index of all memories.
        count = f"CASE WHEN n.path IN (SELECT value FROM json_each(?)) THEN {count} ELSE 0 END"
    rows = session.execute(
        f"SELECT n.path, {count} FROM namespaces n WHERE {NAMED} ORDER BY n.path",
        () if counted is None else (session.dialect.array(list(counted)),),
    ).fetchall()
    return dict(rows)


def changes(session: Session, since: int, until: int, limit: int) -> list[Change]:
    """Return the changes after `since`, up to `until`, oldest first; changes of one number stay together."""
    sql = (
        "SELECT c.change, n.path, coalesce(m.id, ''), c.kind "
        "FROM changes c JOIN namespaces n ON n.number = c.namespace "
        f"LEFT JOIN memories m ON +m.namespace = c.namespace AND m.number = {session.dialect.change_memory} "
        "WHERE c.change > ? AND c.change <= ? ORDER BY c.change LIMIT ?"
    )
    rows = session.execute(sql, (min(since, LARGEST), until, min(limit, LARGEST))).fetchall()
    if rows and len(rows) == limit:
        last = rows[-1][0]
        rows = [row for row in rows if row[0] < last]
        rows += session.execute(sql, (last - 1, last, LARGEST)).fetchall()
    return [Change(*row) for row in rows]
