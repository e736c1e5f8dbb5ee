"""Takes entities and relations into a memory; what is there already is left as it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from memorata.engine import Engine
from memorata.engine.graph.entities import relation_type
from memorata.model.entity import Entity, Relation
from memorata.model.errors import MemoryNotFound
from memorata.model.identifiers import namespace as checked_namespace
from memorata.store.entities import EntityRecord
from memorata.text.folding import folded

_Same = tuple[str, str, str, str | None, datetime | None]


class DeclarationWriter:
    """Takes what was declared elsewhere into a memory.

    What the memory declares is read once for every namespace, so that thousands of lines cost one look.

    Parameters
    ----------
    engine
        The memory.
    namespace
        Where everything goes; None for where each thing says.
    has_memory
        Tells whether a memory, given by id and namespace, is there or on its way in.
    dry_run
        Whether to write nothing.
    """

    def __init__(
        self,
        engine: Engine,
        namespace: str | None,
        has_memory: Callable[[str, str], bool],
        *,
        dry_run: bool = False,
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._has_memory = has_memory
        self._dry_run = dry_run
        self._names: dict[str, dict[str, EntityRecord]] = {}
        self._relations: dict[str, set[_Same]] = {}

    def write(self, said: EntityRecord | Relation, namespace: str = "") -> bool:
        """Take in one entity or relation, and return whether it was new; raise if it cannot be.

        `namespace` is where it was declared, if it says so.
        """
        whose = checked_namespace("namespace", self._namespace or namespace or self._engine.namespace)
        if isinstance(said, EntityRecord):
            return self._take_entity(said, whose)
        return self._take_relation(said, whose)

    def _take_entity(self, record: EntityRecord, whose: str) -> bool:
        entity, names = record.entity, self._names_of(whose)
        known = names.get(folded(entity.name))
        # One that somebody only referred to so far has nothing that could be lost.
        if known is not None and (not _is_bare(known) or _is_bare(record)):
            return False
        if not self._dry_run:
            # Both or neither: one that is there is not looked at again.
            with self._engine.store.together():
                self._engine.entities.describe(
                    entity.name,
                    type=entity.type,
                    aliases=entity.aliases,
                    description=entity.description,
                    namespace=whose,
                )
                if record.merged_into is not None:
                    self._engine.store.entities.merge(whose, record.merged_into, entity.name)
        self._remember(names, record)
        return True

    def _take_relation(self, relation: Relation, whose: str) -> bool:
        relation_type(relation.type)
        if relation.asserted_by is not None and not self._has_memory(relation.asserted_by, whose):
            raise MemoryNotFound(relation.asserted_by, whose)
        if whose not in self._relations:
            self._relations[whose] = {
                self._same(each, whose) for each in self._engine.store.relations.list(whose)
            }
        # One that is there may have ended since, or weigh more by now.
        same = self._same(relation, whose)
        if same in self._relations[whose]:
            return False
        if not self._dry_run:
            self._relate(relation, whose)
        self._relations[whose].add(same)
        for name in (relation.source, relation.target):
            self._remember(self._names_of(whose), EntityRecord(Entity(name)))
        return True

    def _same(self, relation: Relation, whose: str) -> _Same:
        """Return what a relation has in common with others that say the same, by whichever names."""
        names = self._names_of(whose)
        ends = [
            folded(names[key].entity.name if (key := folded(name)) in names else name)
            for name in (relation.source, relation.target)
        ]
        return ends[0], relation.type, ends[1], relation.asserted_by, relation.valid_from

    def _relate(self, relation: Relation, whose: str) -> None:
        if relation.created_at is not None:
            self._engine.store.relations.add(whose, [relation], relation.created_at)
            return
        self._engine.entities.relate(
            relation.source,
            relation.type,
            relation.target,
            weight=relation.weight,
            memory=relation.asserted_by,
            valid_from=relation.valid_from,
            valid_to=relation.valid_to,
            namespace=whose,
        )

    def _names_of(self, whose: str) -> dict[str, EntityRecord]:
        """Return what each folded name of a namespace means."""
        if whose not in self._names:
            names = self._names[whose] = {}
            for record in self._engine.store.entities.list(whose):
                self._remember(names, record)
        return self._names[whose]

    def _remember(self, names: dict[str, EntityRecord], record: EntityRecord) -> None:
        entity = record.entity
        if not _is_bare(record) or folded(entity.name) not in names:
            names.update(dict.fromkeys(map(folded, (entity.name, *entity.aliases)), record))
        if record.merged_into is not None:
            self._remember(names, EntityRecord(Entity(record.merged_into)))


def _is_bare(record: EntityRecord) -> bool:
    """Return whether nothing was said about an entity but its name."""
    return record.entity == Entity(record.entity.name) and record.merged_into is None
