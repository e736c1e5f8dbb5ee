"""Declared entities on a server: their names, aliases and redirects.

Every function that writes runs inside a transaction that its caller opened, in a namespace that is locked; a
raised error undoes all of it. What each means is what its namesake for files means
(:mod:`memorata.store.sqlite.entities`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from memorata.model.entity import Entity
from memorata.model.errors import InvalidArgument
from memorata.store.naming import EntityRecord, name_key
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.namespaces import NOBODY, Namespace
from memorata.store.postgres.texts import checked_name
from memorata.text.folding import folded

_UNTYPED: Final = "thing"
_RECORD: Final = (
    "SELECT e.number, e.type, e.description, k.name, "
    "ARRAY(SELECT n.name FROM names n WHERE n.namespace = e.namespace AND n.entity = e.number "
    "ORDER BY n.position) FROM entities e LEFT JOIN names k ON k.namespace = e.namespace "
    "AND k.entity = e.merged_into AND k.position = 0 WHERE e.namespace = %s"
)


def all_of(connection: Server, number: int, first: int = 0) -> list[EntityRecord]:
    """Return the declared entities of a namespace in the order of their declaration, from one on."""
    rows = connection.execute(f"{_RECORD} ORDER BY e.number OFFSET %s", (number, first))
    return [_record(row) for row in rows]


def one(connection: Server, number: int, entity: int) -> EntityRecord:
    """Return a declared entity."""
    row = connection.execute(f"{_RECORD} AND e.number = %s", (number, entity)).fetchone()
    assert row is not None  # callers have just seen it
    return _record(row)


def declared(connection: Server, number: int, argument: str, name: str) -> tuple[int, bool]:
    """Return the number of the entity that has a name, and whether it had to be declared first."""
    key = name_key(argument, name)
    found = connection.execute(
        "SELECT entity FROM names WHERE namespace = %s AND folded = %s", (number, key)
    ).fetchone()
    if found is not None:
        return int(found[0]), False
    made = connection.execute(
        "INSERT INTO entities (namespace, type, description) VALUES (%s, %s, '') RETURNING number",
        (number, _UNTYPED),
    ).fetchone()
    assert made is not None  # an INSERT … RETURNING always gives a row
    _put_name(connection, number, key, made[0], 0, name)
    return int(made[0]), True


def describe(
    connection: Server,
    namespace: Namespace,
    name: str,
    type: str | None,
    aliases: Sequence[str] | None,
    description: str | None,
) -> EntityRecord:
    """Say what is known about an entity, and return it; None leaves a part as it is.

    A merged name stands for what it was merged into.
    """
    number = namespace.number
    entity, new = declared(connection, number, "name", name)
    entity = _followed(connection, number, entity)[-1]
    changed = connection.execute(
        "UPDATE entities SET type = coalesce(%(type)s, type), description = coalesce(%(text)s, description) "
        "WHERE namespace = %(whose)s AND number = %(entity)s "
        "AND (type <> coalesce(%(type)s, type) OR description <> coalesce(%(text)s, description))",
        {"type": type, "text": description, "whose": number, "entity": entity},
    ).rowcount
    renamed = aliases is not None and _set_aliases(connection, number, entity, aliases)
    if new or renamed or changed:
        kind = "rename" if renamed else "declare" if new else "describe"
        log(connection, namespace, kind, naming=True)
    return one(connection, number, entity)


def merge(connection: Server, namespace: Namespace, keep: str, other: str) -> None:
    """Read `other` as `keep` from now on."""
    number = namespace.number
    kept, _ = declared(connection, number, "keep", keep)
    given_up, _ = declared(connection, number, "other", other)
    if given_up == kept:
        raise InvalidArgument("other", other, f"another entity than {keep!r}")
    ahead = _followed(connection, number, given_up)
    if len(ahead) > 1:
        part_of = name_of(connection, number, ahead[-1])
        raise InvalidArgument("other", other, f"a name not merged yet (it is part of {part_of!r})")
    if given_up in _followed(connection, number, kept):
        raise InvalidArgument("keep", keep, f"a name that does not lead back to {other!r}")
    connection.execute(
        "UPDATE entities SET merged_into = %s WHERE namespace = %s AND number = %s", (kept, number, given_up)
    )
    log(connection, namespace, "merge", naming=True)


def undo_merge(connection: Server, namespace: Namespace, name: str) -> None:
    """Let `name` stand for itself again; what was merged into it stays with it."""
    found = connection.execute(
        "UPDATE entities e SET merged_into = NULL FROM names n WHERE n.namespace = %s AND n.folded = %s "
        "AND e.namespace = n.namespace AND e.number = n.entity AND e.merged_into IS NOT NULL",
        (namespace.number, name_key("name", name)),
    )
    if not found.rowcount:
        raise InvalidArgument("name", name, "a name that was merged")
    log(connection, namespace, "unmerge", naming=True)


def having(connection: Server, number: int, keys: Iterable[str]) -> set[int]:
    """Return the entities that have any of these folded names."""
    rows = connection.execute(
        "SELECT entity FROM names WHERE namespace = %s AND folded = ANY (%s::text[])",
        (number, sorted(set(keys))),
    )
    return {entity for (entity,) in rows}


def is_bare(connection: Server, number: int, entity: int) -> bool:
    """Return whether nothing was said about an entity itself: it has a name, and no part in a merge."""
    row = connection.execute(
        "SELECT e.type <> %s OR e.description <> '' OR e.merged_into IS NOT NULL "
        "OR EXISTS (SELECT 1 FROM names n WHERE n.namespace = e.namespace AND n.entity = e.number "
        "AND n.position > 0) OR EXISTS (SELECT 1 FROM entities o WHERE o.namespace = e.namespace "
        "AND o.merged_into = e.number) FROM entities e WHERE e.namespace = %s AND e.number = %s",
        (_UNTYPED, number, entity),
    ).fetchone()
    return row is not None and not row[0]


def log(connection: Server, namespace: Namespace, kind: str, *, naming: bool) -> int:
    """Write a change that is about no memory into the feed, and return its number."""
    return namespaces.log(connection, namespace, [NOBODY], kind, naming=naming)[-1]


def name_of(connection: Server, number: int, entity: int) -> str:
    """Return the name of an entity."""
    row = connection.execute(
        "SELECT name FROM names WHERE namespace = %s AND entity = %s AND position = 0", (number, entity)
    ).fetchone()
    assert row is not None  # every entity has one
    return str(row[0])


def referred_to(connection: Server, number: int, ids: Sequence[str]) -> set[int]:
    """Return the entities that some memories mention, or relate."""
    rows = connection.execute(
        "SELECT slot, entities FROM memories WHERE namespace = %s AND id = ANY (%s::text[])",
        (number, list(ids)),
    ).fetchall()
    found = having(connection, number, {folded(name) for _, names in rows for name in names})
    for ends in connection.execute(
        "SELECT subject, object FROM relations WHERE namespace = %s AND memory = ANY (%s::int[])",
        (number, [slot for slot, _ in rows]),
    ):
        found.update(ends)
    return found


def remove_unreferred(connection: Server, namespace: Namespace, entities: set[int]) -> None:
    """Remove those of the entities that no memory mentions and no relation has, by any name merged into them.

    The names that were merged into them, or they into, go as well when nothing refers to those.
    """
    number = namespace.number
    if not entities:
        return
    rows = connection.execute(
        "SELECT DISTINCT unnest(entities) FROM memories WHERE namespace = %s AND cardinality(entities) > 0",
        (number,),
    )
    mentioned = {folded(name) for (name,) in rows}
    left, removed = _with_merged(connection, number, entities), 0
    while gone := [entity for entity in left if not _is_referred(connection, number, entity, mentioned)]:
        rows = connection.execute(
            # Their names go with them.
            "DELETE FROM entities WHERE namespace = %s AND number = ANY (%s::bigint[]) RETURNING merged_into",
            (number, gone),
        )
        left |= {into for (into,) in rows if into is not None}
        left.difference_update(gone)
        removed += len(gone)
    if removed:
        log(connection, namespace, "rename", naming=True)


def remove_named(connection: Server, namespace: Namespace, keys: Iterable[str]) -> None:
    """Remove the entities with any of these folded names, what was merged into them, and their relations.

    An entity at the other end of such a relation stays, if anything else was said about it.
    """
    number = namespace.number
    gone = sorted(_with_merged(connection, number, having(connection, number, keys)))
    if not gone:
        return
    ends = connection.execute(
        "DELETE FROM relations WHERE namespace = %(whose)s "
        "AND (subject = ANY (%(gone)s::bigint[]) OR object = ANY (%(gone)s::bigint[])) "
        "RETURNING subject, object",
        {"whose": number, "gone": gone},
    ).fetchall()
    connection.execute(
        "UPDATE entities SET merged_into = NULL WHERE namespace = %s AND merged_into = ANY (%s::bigint[])",
        (number, gone),
    )
    connection.execute(
        "DELETE FROM entities WHERE namespace = %s AND number = ANY (%s::bigint[])", (number, gone)
    )
    log(connection, namespace, "rename", naming=True)
    log(connection, namespace, "unrelate", naming=False)
    others = {entity for pair in ends for entity in pair}.difference(gone)
    remove_unreferred(
        connection, namespace, {other for other in others if is_bare(connection, number, other)}
    )


def _set_aliases(connection: Server, number: int, entity: int, aliases: Sequence[str]) -> bool:
    """Give an entity these aliases and no others; return whether that changed anything."""
    wanted: dict[str, str] = {}
    own = name_key("name", name_of(connection, number, entity))
    for index, alias in enumerate(aliases):
        key = name_key(f"aliases[{index}]", alias)
        # A name that folds to the entity's own is that name already.
        if key != own:
            wanted.setdefault(key, alias)
    before = connection.execute(
        "SELECT name FROM names WHERE namespace = %s AND entity = %s AND position > 0 ORDER BY position",
        (number, entity),
    ).fetchall()
    if [name for (name,) in before] == list(wanted.values()):
        return False
    connection.execute(
        "DELETE FROM names WHERE namespace = %s AND entity = %s AND position > 0", (number, entity)
    )
    for position, (key, alias) in enumerate(wanted.items(), 1):
        taken = connection.execute(
            "SELECT entity FROM names WHERE namespace = %s AND folded = %s", (number, key)
        ).fetchone()
        if taken is not None:
            owner = name_of(connection, number, taken[0])
            raise InvalidArgument(
                "aliases", alias, f"names of nobody else ({owner!r} has it; merge the two if they are one)"
            )
        _put_name(connection, number, key, entity, position, alias)
    return True


def _followed(connection: Server, number: int, entity: int) -> list[int]:
    """Return an entity, what it was merged into, what that was merged into, and so on."""
    rows = connection.execute(
        "WITH RECURSIVE way (at, step) AS (SELECT %(entity)s::bigint, 0 UNION ALL "
        "SELECT e.merged_into, way.step + 1 FROM way JOIN entities e ON e.namespace = %(whose)s "
        "AND e.number = way.at WHERE e.merged_into IS NOT NULL) CYCLE at SET again USING path "
        "SELECT at FROM way WHERE NOT again ORDER BY step",
        {"entity": entity, "whose": number},
    )
    return [at for (at,) in rows]


def _with_merged(connection: Server, number: int, entities: set[int]) -> set[int]:
    """Return entities and whatever was merged into them."""
    rows = connection.execute(
        "WITH RECURSIVE part (at) AS (SELECT unnest(%(given)s::bigint[]) UNION "
        "SELECT e.number FROM part JOIN entities e ON e.namespace = %(whose)s AND e.merged_into = part.at) "
        "SELECT at FROM part",
        {"given": sorted(entities), "whose": number},
    )
    return {at for (at,) in rows}


def _is_referred(connection: Server, number: int, entity: int, mentioned: set[str]) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM relations WHERE namespace = %(whose)s AND subject = %(entity)s) "
        "OR EXISTS (SELECT 1 FROM relations WHERE namespace = %(whose)s AND object = %(entity)s) "
        "OR EXISTS (SELECT 1 FROM entities WHERE namespace = %(whose)s AND merged_into = %(entity)s), "
        "ARRAY(SELECT folded FROM names WHERE namespace = %(whose)s AND entity = %(entity)s)",
        {"whose": number, "entity": entity},
    ).fetchone()
    assert row is not None  # a SELECT without a table always gives a row
    return bool(row[0]) or any(key in mentioned for key in row[1])


def _record(row: tuple[Any, ...]) -> EntityRecord:
    _, type_, description, merged_into, names = row
    return EntityRecord(Entity(names[0], type_, tuple(names[1:]), description), merged_into)


def _put_name(connection: Server, number: int, key: str, entity: int, position: int, name: str) -> None:
    connection.execute(
        "INSERT INTO names (namespace, folded, entity, position, name) VALUES (%s, %s, %s, %s, %s)",
        (number, checked_name("name", key), entity, position, name),
    )
