"""The names of a namespace: which entity a name means, and which names a text mentions.

What was declared is small beside what was remembered, so a process keeps it, and asks the store before every
use whether it has changed since: one number is compared.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Final

from memorata.model.entity import Entity, Relation
from memorata.model.memory import MAX_NAME, Memory
from memorata.store.entities import EntityRecord
from memorata.store.store import Store
from memorata.text.entities import EntityExtractor, Extraction
from memorata.text.known_names import Gazetteer, Redirects, is_only_word
from memorata.text.tokens import folded

_CHANGES: Final = frozenset({"describe", "rename", "merge", "unmerge"})
"""What can happen to names beside that there are more of them."""
_LOG: Final = logging.getLogger(__name__)
_MAX_TEXTS_WITH_RELATIONS: Final = 4_096
"""Of how many texts the relations are kept between reading and writing; batches are smaller."""
_MAX_NAMESPACES: Final = 256
"""How many namespaces' names are kept; those read longest ago go first."""


class Names:
    """The declared entities of a namespace, each by its key: the folded name of what a name finally means."""

    def __init__(self, records: Sequence[EntityRecord] = ()) -> None:
        self._records = list(records)
        self._keys: dict[str, str] = {}
        self._entities = {folded(record.entity.name): record.entity for record in records}
        self._spellings: dict[str, list[str]] = {}
        self._gazetteer: Gazetteer | None = None
        merged = {r.entity.name: r.merged_into for r in records if r.merged_into is not None}
        self._redirects = Redirects(merged)
        for record in records:
            key = folded(self._redirects.follow(record.entity.name))
            for name in (record.entity.name, *record.entity.aliases):
                self._keys[folded(name)] = key
        for spelling, key in self._keys.items():
            spellings = self._spellings.setdefault(key, [key])
            if spelling != key:
                spellings.append(spelling)

    @property
    def gazetteer(self) -> Gazetteer | None:
        """The names that a text is searched for; None where nothing is declared."""
        if self._gazetteer is None and self._records:
            self._gazetteer = Gazetteer([record.entity for record in self._records])
        return self._gazetteer

    def __len__(self) -> int:
        return len(self._records)

    def added(self, records: Sequence[EntityRecord]) -> Names:
        """Return these names and those of entities that have a name and nothing else, at little cost."""
        more = copy(self)
        more._records = [*self._records, *records]
        more._keys, more._entities = dict(self._keys), dict(self._entities)
        more._spellings = dict(self._spellings)
        for record in records:
            key = folded(record.entity.name)
            more._keys[key], more._entities[key], more._spellings[key] = key, record.entity, [key]
        if self._gazetteer is not None:
            more._gazetteer = self._gazetteer.added([record.entity for record in records])
        return more

    def key(self, name: str) -> str:
        """Return the key of the entity that a name means."""
        key = folded(name)
        return self._keys.get(key, key)

    def is_declared(self, key: str) -> bool:
        """Return whether an entity was declared, beside memories that mention it."""
        return key in self._entities

    def entity(self, key: str, otherwise: str) -> Entity:
        """Return an entity; an undeclared one is called `otherwise`."""
        record = self._entities.get(key)
        return Entity(otherwise) if record is None else record

    def type(self, key: str) -> str:
        """Return the type that an entity was declared with; empty for none."""
        record = self._entities.get(key)
        return "" if record is None else record.type

    def spellings(self, key: str) -> tuple[str, ...]:
        """Return every folded name that means an entity, its own first."""
        return tuple(self._spellings.get(key, [key]))

    def merged(self, key: str) -> tuple[str, ...]:
        """Return the names that were merged into an entity."""
        record = self._entities.get(key)
        return () if record is None else self._redirects.merged_into(record.name)

    def declared(self) -> tuple[str, ...]:
        """Return the keys of all declared entities that were not merged into others."""
        return tuple(dict.fromkeys(self._keys.values()))


class NameIndex:
    """The names of every namespace of a store, as they are now."""

    def __init__(self, store: Store, extractor: EntityExtractor | None) -> None:
        self._store = store
        self._extractor = extractor
        self._cache: OrderedDict[str, tuple[int, Names]] = OrderedDict()
        self._rollbacks = store.rollbacks
        self._read_relations: OrderedDict[tuple[str, str], tuple[Relation, ...]] = OrderedDict()

    @property
    def has_relations(self) -> bool:
        """Whether relations were read that may still have to be written down."""
        return bool(self._read_relations)

    def clear(self) -> None:
        """Clear the cache; names are read again when they are needed."""
        self._cache.clear()

    def of(self, namespace: str) -> Names:
        """Return the names of a namespace."""
        if self._store.rollbacks != self._rollbacks:
            # Names that were never declared may have been read, under numbers that others have now.
            self._rollbacks = self._store.rollbacks
            self.clear()
        change = self._store.naming_change(namespace)
        cached = self._cache.get(namespace)
        if cached is not None and cached[0] == change:
            return cached[1]
        names = self._reloaded(namespace, *(cached or (0, Names())))
        self._cache[namespace] = change, names
        while len(self._cache) > _MAX_NAMESPACES:
            self._cache.popitem(last=False)
        return names

    def is_person(self, namespace: str, name: str) -> bool:
        """Return whether a name is that of an entity that was declared to be a person."""
        if not name:
            return False
        names = self.of(namespace)
        return names.type(names.key(name)).casefold() == "person"

    def relations_in(self, memory: Memory) -> list[Relation]:
        """Return the relations that an extractor read in a memory's text, asserted by that memory."""
        relations = self._read_relations.get((memory.namespace, memory.content), ())
        return [replace(relation, asserted_by=memory.id, created_at=None) for relation in relations]

    def _reloaded(self, namespace: str, change: int, names: Names) -> Names:
        """Return the names as they are now, given those of a change: often there are just more of them."""
        if change and not self._store.graph.delta(namespace, change).kinds & _CHANGES:
            return names.added(self._store.entities.list(namespace, len(names)))
        return Names(self._store.entities.list(namespace))

    def mentioned(self, text: str, namespace: str, names: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the given names and those that a text mentions, each once, as declared or as spelt there."""
        return self.mentioned_by_all([(text, namespace, names)])[0]

    def mentioned_by_all(self, items: Sequence[tuple[str, str, tuple[str, ...]]]) -> list[tuple[str, ...]]:
        """Return what `mentioned` does of each text, namespace and given names; all are read in one go."""
        if self._extractor is None:
            return [names for _, _, names in items]
        texts: dict[str, dict[str, None]] = {}
        for text, namespace, _ in items:
            texts.setdefault(namespace, {})[text] = None
        gazetteers = {namespace: self.of(namespace).gazetteer for namespace in texts}
        extractions = {
            namespace: dict(
                zip(distinct, self._extractor.extract(list(distinct), gazetteers[namespace]), strict=True)
            )
            for namespace, distinct in texts.items()
        }
        return [
            self._merged_names(extractions[namespace][text], text, namespace, gazetteers[namespace], names)
            for text, namespace, names in items
        ]

    def _merged_names(
        self,
        extraction: Extraction,
        text: str,
        namespace: str,
        gazetteer: Gazetteer | None,
        explicit: tuple[str, ...],
    ) -> tuple[str, ...]:
        """Return the given names and those that were read; relations are kept until they can be written."""
        if extraction.failure:
            _LOG.warning("a text in %s was not read for names: %s", namespace, extraction.failure)
        if extraction.relations:
            self._read_relations[namespace, text] = extraction.relations
            while len(self._read_relations) > _MAX_TEXTS_WITH_RELATIONS:
                self._read_relations.popitem(last=False)
        if not extraction.mentions:
            return explicit
        names = {folded(name): name for name in reversed(explicit)}
        for mention in extraction.mentions:
            key = folded(mention.text)
            if key and key not in names and len(mention.text) <= MAX_NAME:
                owner = None if gazetteer is None else gazetteer.owner(mention.text)
                if owner is not None and is_only_word(mention.text, text):
                    continue
                declared = () if owner is None else (owner.name, *owner.aliases)
                names[key] = next((name for name in declared if folded(name) == key), mention.text)
        explicit_keys = {folded(name) for name in explicit}
        return (*explicit, *(name for key, name in names.items() if key not in explicit_keys))
