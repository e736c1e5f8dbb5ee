"""Declared entities: their names, aliases, types, descriptions and places, and merges of them.

Names are compared folded (:mod:`memorata.text.tokens`). A merged name keeps its row and a redirect, as
:class:`memorata.text.known_names.Redirects` describes; nothing that points to it is rewritten. A change of
names is a change like any other: it has a number in the feed, and no memory. Functions that write run inside
a transaction that holds the namespace; a raised error undoes all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from memorata._frozen import frozen
from memorata.model.entity import Entity, Place
from memorata.model.errors import InvalidArgument, StoreCorrupt
from memorata.store.database import Session
from memorata.store.facets import Facet, reads_namespace, writes_namespace
from memorata.store.rows import SLOTS, Namespace, log_change, made_namespace
from memorata.text.tokens import folded

_UNTYPED: Final = "thing"
_COLUMNS: Final = "number, type, description, lat, lon, place, merged_into"


@frozen
class EntityRecord:
    """A declared entity, and the name to read instead if it was merged."""

    entity: Entity
    merged_into: str | None = None


class EntityStore(Facet):
    """The declared entities of a database."""

    @reads_namespace(list)
    def list(self, session: Session, namespace: Namespace, first: int = 0) -> list[EntityRecord]:
        """Return the entities of a namespace in the order of their declaration, from one on."""
        rows = session.execute(
            f"SELECT {_COLUMNS} FROM entities WHERE namespace = ? ORDER BY number LIMIT ? OFFSET ?",
            (namespace.number, SLOTS, first),
        ).fetchall()
        return _records(session, namespace.number, rows)

    @writes_namespace
    def describe(
        self,
        session: Session,
        namespace: str,
        name: str,
        *,
        type: str | None = None,
        aliases: Sequence[str] | None = None,
        description: str | None = None,
        place: Place | Literal[False] | None = None,
    ) -> EntityRecord:
        """Describe an entity, new or not; None leaves a part as it is, False takes its place away.

        A merged name stands for the other.
        """
        # The constructor checks its arguments.
        checked = Entity(name, type or "", () if aliases is None else tuple(aliases), description or "")
        number = made_namespace(session, namespace).number
        entity, new = declared(session, number, "name", name)
        entity = _redirects(session, number, entity)[-1]
        before = _one(session, number, entity).entity
        after = replace(
            before,
            type=before.type if type is None else type,
            description=before.description if description is None else description,
            place=before.place if place is None else place or None,
        )
        changed = after != before
        if changed:
            at = after.place
            where = (None, None, None) if at is None else (at.lat, at.lon, at.name)
            session.execute(
                "UPDATE entities SET type = ?, description = ?, lat = ?, lon = ?, place = ? "
                "WHERE +namespace = ? AND number = ?",
                (after.type, after.description, *where, number, entity),
            )
        renamed = aliases is not None and _set_aliases(session, number, entity, checked.aliases)
        if new or renamed or changed:
            kind = "rename" if renamed else "declare" if new else "describe"
            log_change(session, number, kind, naming=True)
        return _one(session, number, entity)

    @writes_namespace
    def merge(self, session: Session, namespace: str, keep: str, other: str) -> None:
        """Read `other` as `keep` from now on; `undo_merge` takes it back."""
        number = made_namespace(session, namespace).number
        kept, _ = declared(session, number, "keep", keep)
        merged, _ = declared(session, number, "other", other)
        if merged == kept:
            raise InvalidArgument("other", other, f"another entity than {keep!r}")
        ahead = _redirects(session, number, merged)
        if len(ahead) > 1:
            part_of = _name_of(session, number, ahead[-1])
            raise InvalidArgument("other", other, f"a name not merged yet (it is part of {part_of!r})")
        if merged in _redirects(session, number, kept):
            raise InvalidArgument("keep", keep, f"a name that does not lead back to {other!r}")
        _redirect(session, number, merged, kept, "merge")

    @writes_namespace
    def undo_merge(self, session: Session, namespace: str, name: str) -> None:
        """Let a merged name stand for itself again; what was merged into it stays with it."""
        number = made_namespace(session, namespace).number
        row = session.execute(
            "SELECT e.number FROM names n JOIN entities e ON e.namespace = n.namespace "
            "AND e.number = n.entity "
            "WHERE n.namespace = ? AND n.folded = ? AND e.merged_into IS NOT NULL",
            (number, name_key("name", name)),
        ).fetchone()
        if row is None:
            raise InvalidArgument("name", name, "a name that was merged")
        _redirect(session, number, row[0], None, "unmerge")


def name_key(argument: str, name: str) -> str:
    """Return the key of a name, which is its folded form; raise for a blank one."""
    key = folded(name)
    if not key:
        raise InvalidArgument(argument, name, "a name that is not blank")
    return key


def declared(session: Session, number: int, argument: str, name: str) -> tuple[int, bool]:
    """Return the number of the entity that has a name, and whether it had to be declared first."""
    key = name_key(argument, name)
    row = session.execute(
        "SELECT entity FROM names WHERE namespace = ? AND folded = ?", (number, key)
    ).fetchone()
    if row is not None:
        return int(row[0]), False
    entity = session.insert("entities", "namespace, type, description", (number, _UNTYPED, ""))
    _put_name(session, number, key, entity, 0, name)
    return entity, True


def having(session: Session, number: int, keys: Iterable[str]) -> set[int]:
    """Return the entities that have any of these folded names."""
    rows = session.execute(
        "SELECT entity FROM names WHERE namespace = ? AND folded IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array(sorted(set(keys)))),
    )
    return {entity for (entity,) in rows}


def is_bare(session: Session, number: int, entity: int) -> bool:
    """Return whether an entity has nothing but a name, and no part in a merge."""
    row = session.execute(
        "SELECT 1 FROM entities e WHERE +e.namespace = ?1 AND e.number = ?2 AND (e.type <> ?3 "
        "OR e.description <> '' OR e.lat IS NOT NULL OR e.merged_into IS NOT NULL "
        "OR EXISTS (SELECT 1 FROM names n WHERE +n.namespace = ?1 AND n.entity = ?2 AND n.position > 0) "
        "OR EXISTS (SELECT 1 FROM entities o WHERE +o.namespace = ?1 AND o.merged_into = ?2))",
        (number, entity, _UNTYPED),
    ).fetchone()
    return row is None


def referred_to(session: Session, number: int, ids: Sequence[str]) -> set[int]:
    """Return the entities that some memories mention, or relate."""
    rows = session.execute(
        "SELECT number, entities FROM memories WHERE namespace = ? "
        "AND id IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array(ids)),
    ).fetchall()
    entities = having(session, number, {folded(name) for _, names in rows for name in json.loads(names)})
    for ends in session.execute(
        "SELECT subject, object FROM relations WHERE +namespace = ? "
        "AND memory IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array([memory for memory, _ in rows])),
    ):
        entities.update(ends)
    return entities


def remove_unreferred(session: Session, number: int, entities: set[int]) -> None:
    """Remove the entities that no memory mentions and no relation has, by any name merged into them.

    The names that were merged into them, or they into, go as well when nothing refers to them.
    """
    if not entities:
        return
    mentioned: set[str] = set()
    for (names,) in session.execute(
        "SELECT entities FROM memories WHERE +namespace = ? AND number >= ? AND number < ? "
        "AND entities <> '[]'",
        (number, session.dialect.number(number, 0), session.dialect.number(number, SLOTS)),
    ):
        mentioned.update(folded(name) for name in json.loads(names))
    left, removed = _with_merged(session, number, entities), 0
    while gone := [entity for entity in left if not _is_referred(session, number, entity, mentioned)]:
        into = session.execute(
            "SELECT merged_into FROM entities WHERE +namespace = ? AND merged_into IS NOT NULL "
            "AND number IN (SELECT value FROM json_each(?))",
            (number, session.dialect.array(gone)),
        ).fetchall()
        _remove(session, number, gone)
        left |= {entity for (entity,) in into}
        left.difference_update(gone)
        removed += len(gone)
    if removed:
        log_change(session, number, "rename", naming=True)


def remove_named(session: Session, number: int, keys: Iterable[str]) -> None:
    """Remove the entities with any of these folded names, what was merged into them, and their relations.

    An entity at the other end of such a relation stays, if it has anything but a name.
    """
    gone = _with_merged(session, number, having(session, number, keys))
    if not gone:
        return
    others: set[int] = set()
    for entity in gone:
        for end in ("subject", "object"):
            ends = session.execute(
                f"DELETE FROM relations WHERE +namespace = ? AND {end} = ? RETURNING subject, object",
                (number, entity),
            )
            others.update(other for pair in ends.fetchall() for other in pair)
    session.execute(
        "UPDATE entities SET merged_into = NULL WHERE +namespace = ? "
        "AND merged_into IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array(sorted(gone))),
    )
    _remove(session, number, sorted(gone))
    log_change(session, number, "rename", naming=True)
    log_change(session, number, "unrelate")
    remove_unreferred(session, number, {other for other in others - gone if is_bare(session, number, other)})


def problems(session: Session, number: int) -> Iterator[str]:
    """Yield messages of the problems with the names and relations of a namespace."""
    names = session.execute("SELECT folded, name FROM names WHERE namespace = ?", (number,)).fetchall()
    wrong = sum(key != folded(name) for key, name in names)
    if wrong:
        yield f"{wrong} names of entities are not found under their folded form"
    redirects = dict(
        session.execute("SELECT number, merged_into FROM entities WHERE namespace = ?", (number,)).fetchall()
    )
    counts = {
        "names belong to entities of another namespace": (
            "SELECT count(*) FROM names n WHERE n.namespace = ?1 AND NOT EXISTS "
            "(SELECT 1 FROM entities e WHERE e.namespace = ?1 AND e.number = n.entity)"
        ),
        "entities have no name": (
            "SELECT count(*) FROM entities e WHERE e.namespace = ?1 AND NOT EXISTS "
            "(SELECT 1 FROM names n WHERE n.namespace = ?1 AND n.entity = e.number AND n.position = 0)"
        ),
        "relations are between entities, or from a memory, of another namespace": (
            "SELECT count(*) FROM relations r WHERE r.namespace = ?1 AND (NOT EXISTS "
            "(SELECT 1 FROM entities s WHERE s.namespace = ?1 AND s.number = r.subject) OR NOT EXISTS "
            "(SELECT 1 FROM entities o WHERE o.namespace = ?1 AND o.number = r.object) "
            "OR (r.memory IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM memories m WHERE m.namespace = ?1 AND m.number = r.memory)))"
        ),
    }
    problems = {text: session.execute(sql, (number,)).fetchone()[0] for text, sql in counts.items()}
    problems["entities were merged in a circle or into another namespace"] = sum(
        _is_astray(redirects, entity) for entity in redirects
    )
    yield from (f"{count} {text}" for text, count in problems.items() if count)


def refold(session: Session, number: int) -> None:
    """Write the folded form of every name of a namespace anew."""
    rows = session.execute(
        "SELECT entity, position, name FROM names WHERE namespace = ? ORDER BY entity, position", (number,)
    ).fetchall()
    session.execute("DELETE FROM names WHERE namespace = ?", (number,))
    for entity, position, name in rows:
        _put_name(session, number, folded(name), entity, position, name)


def _one(session: Session, number: int, entity: int) -> EntityRecord:
    find = f"SELECT {_COLUMNS} FROM entities WHERE +namespace = ? AND number = ?"
    return _records(session, number, session.execute(find, (number, entity)).fetchall())[0]


def _records(session: Session, number: int, rows: Sequence[tuple[Any, ...]]) -> list[EntityRecord]:
    """Return the entities of rows of `_COLUMNS` in the order of their numbers."""
    if not rows:
        return []
    names: dict[int, list[str]] = {}
    for entity, name in session.execute(
        "SELECT entity, name FROM names WHERE +namespace = ? AND entity >= ? AND entity <= ? "
        "ORDER BY entity, position",
        (number, rows[0][0], rows[-1][0]),
    ):
        names.setdefault(entity, []).append(name)
    records = []
    for entity, type_, description, lat, lon, place, into in rows:
        if entity not in names:
            raise StoreCorrupt(
                f"entity {entity} has no name; run `memorata admin check`, or restore a backup"
            )
        own, *aliases = names[entity]
        other = None if into is None else names[into][0] if into in names else _name_of(session, number, into)
        where = None if lat is None else Place(lat, lon, place)
        records.append(EntityRecord(Entity(own, type_, tuple(aliases), description, where), other))
    return records


def _redirect(session: Session, number: int, entity: int, into: int | None, kind: str) -> None:
    session.execute(
        "UPDATE entities SET merged_into = ? WHERE +namespace = ? AND number = ?", (into, number, entity)
    )
    log_change(session, number, kind, naming=True)


def _set_aliases(session: Session, number: int, entity: int, aliases: Sequence[str]) -> bool:
    """Give an entity these aliases and no others; return whether that changed anything."""
    wanted: dict[str, str] = {}
    own = name_key("name", _name_of(session, number, entity))
    for index, alias in enumerate(aliases):
        key = name_key(f"aliases[{index}]", alias)
        # A name that folds to the entity's own is that name already.
        if key != own:
            wanted.setdefault(key, alias)
    before = session.execute(
        "SELECT name FROM names WHERE +namespace = ? AND entity = ? AND position > 0 ORDER BY position",
        (number, entity),
    ).fetchall()
    if [name for (name,) in before] == list(wanted.values()):
        return False
    session.execute(
        "DELETE FROM names WHERE +namespace = ? AND entity = ? AND position > 0", (number, entity)
    )
    for position, (key, alias) in enumerate(wanted.items(), 1):
        taken = session.execute(
            "SELECT entity FROM names WHERE namespace = ? AND folded = ?", (number, key)
        ).fetchone()
        if taken is not None:
            owner = _name_of(session, number, taken[0])
            raise InvalidArgument(
                "aliases",
                alias,
                f"names of no other entity ({owner!r} has it; merge the two if they are one)",
            )
        _put_name(session, number, key, entity, position, alias)
    return True


def _redirects(session: Session, number: int, entity: int) -> list[int]:
    """Return an entity, what it was merged into, what that was merged into, and so on."""
    chain = [entity]
    while True:
        (into,) = session.execute(
            "SELECT merged_into FROM entities WHERE +namespace = ? AND number = ?", (number, chain[-1])
        ).fetchone()
        if into is None or into in chain:
            return chain
        chain.append(into)


def _with_merged(session: Session, number: int, entities: set[int]) -> set[int]:
    """Return entities and all that were merged into them."""
    complete, added = set(entities), entities
    while added:
        rows = session.execute(
            "SELECT number FROM entities WHERE +namespace = ? "
            "AND merged_into IN (SELECT value FROM json_each(?))",
            (number, session.dialect.array(sorted(added))),
        )
        added = {merged for (merged,) in rows} - complete
        complete |= added
    return complete


def _is_referred(session: Session, number: int, entity: int, mentioned: set[str]) -> bool:
    row = session.execute(
        "SELECT 1 FROM relations WHERE +namespace = ?1 AND (subject = ?2 OR object = ?2) UNION ALL "
        "SELECT 1 FROM entities WHERE +namespace = ?1 AND merged_into = ?2 LIMIT 1",
        (number, entity),
    ).fetchone()
    if row is not None:
        return True
    names = session.execute("SELECT folded FROM names WHERE +namespace = ? AND entity = ?", (number, entity))
    return any(key in mentioned for (key,) in names.fetchall())


def _remove(session: Session, number: int, entities: Sequence[int]) -> None:
    """Remove entities and their names."""
    gone = (number, session.dialect.array(entities))
    session.execute(
        "DELETE FROM names WHERE +namespace = ? AND entity IN (SELECT value FROM json_each(?))", gone
    )
    session.execute(
        "DELETE FROM entities WHERE +namespace = ? AND number IN (SELECT value FROM json_each(?))", gone
    )


def _is_astray(redirects: dict[int, int | None], entity: int) -> bool:
    """Return whether an entity is part of a circle of merges, or was merged into another namespace's."""
    at = redirects[entity]
    if at is not None and at not in redirects:
        return True
    for _ in redirects:
        if at is None or at == entity:
            break
        at = redirects.get(at)
    return at == entity


def _name_of(session: Session, number: int, entity: int) -> str:
    row = session.execute(
        "SELECT name FROM names WHERE +namespace = ? AND entity = ? AND position = 0", (number, entity)
    ).fetchone()
    return str(row[0])


def _put_name(session: Session, number: int, key: str, entity: int, position: int, name: str) -> None:
    session.execute(
        "INSERT INTO names (namespace, folded, entity, position, name) VALUES (?, ?, ?, ?, ?)",
        (number, session.dialect.checked_name("name", key), entity, position, name),
    )
