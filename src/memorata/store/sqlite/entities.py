"""Declared entities: their names, aliases and redirects, in one transaction with what they belong to.

Every function that writes runs inside a transaction that its caller opened; a raised error undoes all of it.
A change of names is a change like any other: it has a number in the feed, and no memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from memorata.model.entity import Entity
from memorata.model.errors import InvalidArgument, StoreCorrupt
from memorata.store.limits import SLOTS
from memorata.store.naming import EntityRecord, name_key
from memorata.store.sqlite.places import place
from memorata.store.sqlite.rows import marks
from memorata.store.sqlite.segments import Namespace
from memorata.text.folding import folded

NOBODY: Final = SLOTS - 1
"""The slot of a change that is about no memory; no memory ever gets it."""
_UNTYPED: Final = "thing"
_AT_ONCE: Final = 500


def all_of(connection: sqlite3.Connection, number: int, first: int = 0) -> list[EntityRecord]:
    """Return the declared entities of a namespace in the order of their declaration, from one on."""
    rows = connection.execute(
        "SELECT number, type, description, merged_into FROM entities WHERE namespace = ? "
        "ORDER BY number LIMIT -1 OFFSET ?",
        (number, first),
    ).fetchall()
    if not rows:
        return []
    names: dict[int, list[str]] = {}
    for entity, name in connection.execute(
        "SELECT entity, name FROM names WHERE entity >= ? AND namespace = ? ORDER BY entity, position",
        (rows[0][0], number),
    ):
        names.setdefault(entity, []).append(name)
    return [_record(connection, row, names.get(row[0], [])) for row in rows]


def one(connection: sqlite3.Connection, entity: int) -> EntityRecord:
    """Return a declared entity."""
    row = connection.execute(
        "SELECT number, type, description, merged_into FROM entities WHERE number = ?", (entity,)
    ).fetchone()
    names = connection.execute("SELECT name FROM names WHERE entity = ? ORDER BY position", (entity,))
    return _record(connection, row, [name for (name,) in names])


def declared(connection: sqlite3.Connection, number: int, argument: str, name: str) -> tuple[int, bool]:
    """Return the number of the entity that has a name, and whether it had to be declared first."""
    key = name_key(argument, name)
    found = connection.execute(
        "SELECT entity FROM names WHERE namespace = ? AND folded = ?", (number, key)
    ).fetchone()
    if found is not None:
        return int(found[0]), False
    entity = connection.execute(
        "INSERT INTO entities (namespace, type, description) VALUES (?, ?, '')", (number, _UNTYPED)
    ).lastrowid
    assert entity is not None  # an INSERT always has one
    _put_name(connection, number, key, entity, 0, name)
    return entity, True


def describe(
    connection: sqlite3.Connection,
    namespace: Namespace,
    name: str,
    type: str | None,
    aliases: Sequence[str] | None,
    description: str | None,
) -> EntityRecord:
    """Say what is known about an entity, and return it; None leaves a part as it is.

    A merged name stands for what it was merged into.
    """
    entity, new = declared(connection, namespace.number, "name", name)
    entity = _followed(connection, entity)[-1]
    before = _row(connection, entity)
    connection.execute(
        "UPDATE entities SET type = coalesce(?, type), description = coalesce(?, description) "
        "WHERE number = ?",
        (type, description, entity),
    )
    renamed = aliases is not None and _set_aliases(connection, namespace.number, entity, aliases)
    if new or renamed or before != _row(connection, entity):
        kind = "rename" if renamed else "declare" if new else "describe"
        log(connection, namespace.number, kind, naming=True)
    return one(connection, entity)


def merge(connection: sqlite3.Connection, namespace: Namespace, keep: str, other: str) -> None:
    """Read `other` as `keep` from now on."""
    kept, _ = declared(connection, namespace.number, "keep", keep)
    given_up, _ = declared(connection, namespace.number, "other", other)
    if given_up == kept:
        raise InvalidArgument("other", other, f"another entity than {keep!r}")
    ahead = _followed(connection, given_up)
    if len(ahead) > 1:
        part_of = name_of(connection, ahead[-1])
        raise InvalidArgument("other", other, f"a name not merged yet (it is part of {part_of!r})")
    if given_up in _followed(connection, kept):
        raise InvalidArgument("keep", keep, f"a name that does not lead back to {other!r}")
    connection.execute("UPDATE entities SET merged_into = ? WHERE number = ?", (kept, given_up))
    log(connection, namespace.number, "merge", naming=True)


def undo_merge(connection: sqlite3.Connection, namespace: Namespace, name: str) -> None:
    """Let `name` stand for itself again; what was merged into it stays with it."""
    found = connection.execute(
        "SELECT e.number FROM names n JOIN entities e ON e.number = n.entity "
        "WHERE n.namespace = ? AND n.folded = ? AND e.merged_into IS NOT NULL",
        (namespace.number, name_key("name", name)),
    ).fetchone()
    if found is None:
        raise InvalidArgument("name", name, "a name that was merged")
    connection.execute("UPDATE entities SET merged_into = NULL WHERE number = ?", found)
    log(connection, namespace.number, "unmerge", naming=True)


def having(connection: sqlite3.Connection, number: int, keys: Iterable[str]) -> set[int]:
    """Return the entities that have any of these folded names."""
    wanted = sorted(set(keys))
    found: set[int] = set()
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        query = f"SELECT entity FROM names WHERE namespace = ? AND folded IN ({marks(some)})"
        found.update(entity for (entity,) in connection.execute(query, (number, *some)))
    return found


def is_bare(connection: sqlite3.Connection, entity: int) -> bool:
    """Return whether nothing was said about an entity itself: it has a name, and no part in a merge."""
    (said,) = connection.execute(
        "SELECT type <> ?2 OR description <> '' OR merged_into IS NOT NULL "
        "OR EXISTS (SELECT 1 FROM names WHERE entity = ?1 AND position > 0) "
        "OR EXISTS (SELECT 1 FROM entities WHERE merged_into = ?1) FROM entities WHERE number = ?1",
        (entity, _UNTYPED),
    ).fetchone()
    return not said


def log(connection: sqlite3.Connection, number: int, kind: str, *, naming: bool) -> int:
    """Write a change that is about no memory into the feed, and return its number."""
    change = connection.execute(
        "INSERT INTO changes (namespace, slot, kind) VALUES (?, ?, ?)", (number, NOBODY, kind)
    ).lastrowid
    assert change is not None  # an INSERT always has one
    names = ", naming = ?1" if naming else ""
    connection.execute(f"UPDATE namespaces SET change = ?1{names} WHERE number = ?2", (change, number))
    return change


def name_of(connection: sqlite3.Connection, entity: int) -> str:
    """Return the name of an entity."""
    row = connection.execute("SELECT name FROM names WHERE entity = ? AND position = 0", (entity,)).fetchone()
    return str(row[0])


def referred_to(connection: sqlite3.Connection, number: int, ids: Sequence[str]) -> set[int]:
    """Return the entities that some memories mention, or relate."""
    found: set[int] = set()
    for id_ in ids:
        row = connection.execute(
            "SELECT number, entities FROM memories WHERE namespace = ? AND id = ?", (number, id_)
        ).fetchone()
        if row is not None:
            for pair in connection.execute("SELECT subject, object FROM relations WHERE memory = ?", row[:1]):
                found.update(pair)
            found |= having(connection, number, {folded(name) for name in json.loads(row[1])})
    return found


def remove_unreferred(connection: sqlite3.Connection, number: int, entities: set[int]) -> None:
    """Remove those of the entities that no memory mentions and no relation has, by any name merged into them.

    The names that were merged into them, or they into, go as well when nothing refers to those.
    """
    if not entities:
        return
    mentioned: set[str] = set()
    for (names,) in connection.execute(
        "SELECT entities FROM memories WHERE number >= ? AND number < ? AND entities <> '[]'",
        (place(number, 0), place(number + 1, 0)),
    ):
        mentioned.update(folded(name) for name in json.loads(names))
    left, removed = _with_merged(connection, entities), 0
    while gone := [entity for entity in left if not _is_referred(connection, entity, mentioned)]:
        for entity in gone:
            into = connection.execute(
                "SELECT merged_into FROM entities WHERE number = ?", (entity,)
            ).fetchone()
            left |= {each for each in into if each is not None}
            # Its names go with it.
            connection.execute("DELETE FROM entities WHERE number = ?", (entity,))
        left.difference_update(gone)
        removed += len(gone)
    if removed:
        log(connection, number, "rename", naming=True)


def remove_named(connection: sqlite3.Connection, number: int, keys: Iterable[str]) -> None:
    """Remove the entities with any of these folded names, what was merged into them, and their relations.

    An entity at the other end of such a relation stays, if anything else was said about it.
    """
    gone = _with_merged(connection, having(connection, number, keys))
    if not gone:
        return
    others: set[int] = set()
    for entity in gone:
        for ends in connection.execute(
            "DELETE FROM relations WHERE subject = ?1 OR object = ?1 RETURNING subject, object", (entity,)
        ).fetchall():
            others.update(ends)
        connection.execute("UPDATE entities SET merged_into = NULL WHERE merged_into = ?", (entity,))
    connection.executemany("DELETE FROM entities WHERE number = ?", [(entity,) for entity in sorted(gone)])
    log(connection, number, "rename", naming=True)
    log(connection, number, "unrelate", naming=False)
    bare = {other for other in others - gone if is_bare(connection, other)}
    remove_unreferred(connection, number, bare)


def problems(connection: sqlite3.Connection, number: int) -> Iterator[str]:
    """Yield what is wrong with the names and relations of a namespace, in words."""
    names = connection.execute(
        "SELECT n.folded, n.name, e.namespace FROM names n JOIN entities e ON e.number = n.entity "
        "WHERE n.namespace = ? ORDER BY n.folded",
        (number,),
    ).fetchall()
    wrong = sum(key != folded(name) for key, name, _ in names)
    if wrong:
        yield f"{wrong} names of entities are not found under their folded form"
    queries = {
        "names belong to entities of another namespace": (
            "SELECT count(*) FROM names n JOIN entities e ON e.number = n.entity "
            "WHERE n.namespace = ?1 AND e.namespace <> ?1"
        ),
        "entities have no name": (
            "SELECT count(*) FROM entities e WHERE e.namespace = ?1 "
            "AND NOT EXISTS (SELECT 1 FROM names n WHERE n.entity = e.number AND n.position = 0)"
        ),
        "entities were merged in a circle or into another namespace": (
            "SELECT count(*) FROM entities e WHERE e.namespace = ?1 AND e.merged_into IS NOT NULL AND ("
            "(SELECT k.namespace FROM entities k WHERE k.number = e.merged_into) <> ?1 OR e.number IN ("
            "WITH RECURSIVE way (at) AS (SELECT e.merged_into UNION "
            "SELECT k.merged_into FROM way JOIN entities k ON k.number = way.at "
            "WHERE k.merged_into IS NOT NULL) SELECT at FROM way))"
        ),
        "relations are between entities, or from a memory, of another namespace": (
            "SELECT count(*) FROM relations r JOIN entities s ON s.number = r.subject "
            "JOIN entities o ON o.number = r.object LEFT JOIN memories m ON m.number = r.memory "
            "WHERE r.namespace = ?1 "
            "AND (s.namespace <> ?1 OR o.namespace <> ?1 OR coalesce(m.namespace, ?1) <> ?1)"
        ),
    }
    for text, query in queries.items():
        (count,) = connection.execute(query, (number,)).fetchone()
        if count:
            yield f"{count} {text}"


def refold(connection: sqlite3.Connection, number: int) -> None:
    """Write the folded form of every name of a namespace anew."""
    rows = connection.execute(
        "SELECT entity, position, name FROM names WHERE namespace = ? ORDER BY entity, position", (number,)
    ).fetchall()
    connection.execute("DELETE FROM names WHERE namespace = ?", (number,))
    for entity, position, name in rows:
        _put_name(connection, number, folded(name), entity, position, name)


def _set_aliases(connection: sqlite3.Connection, number: int, entity: int, aliases: Sequence[str]) -> bool:
    """Give an entity these aliases and no others; return whether that changed anything."""
    wanted: dict[str, str] = {}
    own = name_key("name", name_of(connection, entity))
    for index, alias in enumerate(aliases):
        key = name_key(f"aliases[{index}]", alias)
        # A name that folds to the entity's own is that name already.
        if key != own:
            wanted.setdefault(key, alias)
    before = connection.execute(
        "SELECT name FROM names WHERE entity = ? AND position > 0 ORDER BY position", (entity,)
    ).fetchall()
    if [name for (name,) in before] == list(wanted.values()):
        return False
    connection.execute("DELETE FROM names WHERE entity = ? AND position > 0", (entity,))
    for position, (key, alias) in enumerate(wanted.items(), 1):
        taken = connection.execute(
            "SELECT entity FROM names WHERE namespace = ? AND folded = ?", (number, key)
        ).fetchone()
        if taken is not None:
            owner = name_of(connection, taken[0])
            raise InvalidArgument(
                "aliases", alias, f"names of nobody else ({owner!r} has it; merge the two if they are one)"
            )
        _put_name(connection, number, key, entity, position, alias)
    return True


def _followed(connection: sqlite3.Connection, entity: int) -> list[int]:
    """Return an entity, what it was merged into, what that was merged into, and so on."""
    way = [entity]
    while True:
        (into,) = connection.execute("SELECT merged_into FROM entities WHERE number = ?", way[-1:]).fetchone()
        if into is None or into in way:
            return way
        way.append(into)


def _with_merged(connection: sqlite3.Connection, entities: set[int]) -> set[int]:
    """Return entities and whatever was merged into them."""
    found, fresh = set(entities), list(entities)
    for entity in fresh:
        for (merged,) in connection.execute("SELECT number FROM entities WHERE merged_into = ?", (entity,)):
            if merged not in found:
                found.add(merged)
                fresh.append(merged)
    return found


def _is_referred(connection: sqlite3.Connection, entity: int, mentioned: set[str]) -> bool:
    for query in (
        "SELECT 1 FROM relations WHERE subject = ?1 OR object = ?1 LIMIT 1",
        "SELECT 1 FROM entities WHERE merged_into = ?1 LIMIT 1",
    ):
        if connection.execute(query, (entity,)).fetchone() is not None:
            return True
    names = connection.execute("SELECT folded FROM names WHERE entity = ?", (entity,)).fetchall()
    return any(key in mentioned for (key,) in names)


def _record(connection: sqlite3.Connection, row: tuple[Any, ...], names: list[str]) -> EntityRecord:
    number, type_, description, into = row
    if not names:
        raise StoreCorrupt(f"entity {number} has no name; run `memorata check`, or restore a backup")
    merged_into = None if into is None else name_of(connection, into)
    return EntityRecord(Entity(names[0], type_, tuple(names[1:]), description), merged_into)


def _row(connection: sqlite3.Connection, entity: int) -> tuple[object, ...]:
    row: tuple[object, ...] = connection.execute(
        "SELECT type, description FROM entities WHERE number = ?", (entity,)
    ).fetchone()
    return row


def _put_name(
    connection: sqlite3.Connection, number: int, key: str, entity: int, position: int, name: str
) -> None:
    connection.execute(
        "INSERT INTO names (namespace, folded, entity, position, name) VALUES (?, ?, ?, ?, ?)",
        (number, key, entity, position, name),
    )
