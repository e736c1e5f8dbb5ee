"""The verbs about who and what memories speak of: relations, entities, names and merges.

Names follow aliases and merges everywhere. Whatever is asked about must be known: an entity is known once it
was declared (described, related or merged) or a memory that may be seen mentions it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from memorata._frozen import frozen
from memorata.engine.drafts import Drafts
from memorata.engine.edge_types import MENTIONS, NEXT, SUPERSEDES
from memorata.engine.naming import NameBook, Names
from memorata.engine.repairing import Repairing
from memorata.index.record import Records, visible
from memorata.model import checks
from memorata.model.checks import BoolArray
from memorata.model.entity import Entity, Relation
from memorata.model.errors import EntityNotFound, InvalidArgument
from memorata.model.identity import memory_id
from memorata.model.memory import Memory
from memorata.store.port import Store, View
from memorata.text.folding import folded

if TYPE_CHECKING:
    from memorata.engine.graph_answers import KnownEntity
    from memorata.engine.kept_graphs import Graphs
    from memorata.engine.namespace_graph import NamespaceGraph

_OWN_TYPES: Final = (MENTIONS, NEXT, SUPERSEDES)
_NEAREST: Final = 3
_Answer = TypeVar("_Answer")


@frozen(eq=False)
class Look:
    """One consistent look at a namespace: as it is, or as it was believed to be at `as_of`."""

    path: str
    now: datetime
    view: View
    names: Names
    as_of: datetime | None = None

    def shows(self, records: Records) -> BoolArray:
        """Return which memories may be seen in it."""
        then = None if self.as_of is None else self.as_of.timestamp()
        return visible(records, self.now.timestamp(), as_of=then)


class EntityVerbs(ABC):
    """The part of the engine that knows entities and relations."""

    store: Store
    _clock: Callable[[], datetime]
    _drafts: Drafts
    _names: NameBook
    _repairing: Repairing

    @abstractmethod
    def _namespace(self, given: str | None) -> str:
        """Return the namespace that a call means."""

    # --- say ------------------------------------------------------------------------------------------

    def relate(
        self,
        subject: str,
        type: str,
        object: str,
        *,
        weight: float = 1.0,
        memory: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        namespace: str | None = None,
    ) -> Relation:
        """Say that one entity has a relation to another.

        Said again, it gets the new weight and end. It stops holding when the memory that asserts it is
        forgotten or superseded, and is gone when that is purged.

        Parameters
        ----------
        subject, type, object
            ``"Anna", "works_at", "Bank of England"``. Names nobody has yet become entities.
        weight
            How strong it is, above 0.
        memory
            The id of the memory that says so; None if a person does.
        valid_from, valid_to
            Since and until when it holds.
        namespace
            Whose; None for the engine's.
        """
        for argument, name in (("subject", subject), ("object", object)):
            _checked_name(argument, name)
        relation_type(type)
        if memory is not None:
            memory_id("memory", memory)
        clean = self._drafts.clean_text
        said = Relation(clean(subject), type, clean(object), weight, memory, valid_from, valid_to)
        return self.store.relate(self._namespace(namespace), [said], self._clock())[0]

    def unrelate(self, subject: str, type: str, object: str, *, namespace: str | None = None) -> int:
        """Take back every relation of a type from one entity to another; return how many there were."""
        for argument, name in (("subject", subject), ("object", object)):
            _checked_name(argument, name)
        path = self._namespace(namespace)
        names = self._names.of(path)
        ends = [names.spellings(names.key(name)) for name in (subject, object)]
        removed = self.store.unrelate(path, ends[0], checks.writable("type", type), ends[1])
        if not removed:
            raise InvalidArgument("type", type, f"that of a relation from {subject!r} to {object!r}")
        return removed

    def describe_entity(
        self,
        name: str,
        *,
        type: str | None = None,
        aliases: Sequence[str] | None = None,
        description: str | None = None,
        namespace: str | None = None,
    ) -> Entity:
        """Say what an entity is; None leaves a part as it is. A name nobody has yet becomes an entity.

        Parameters
        ----------
        name
            The entity.
        type
            What kind of thing it is: ``"person"``, ``"company"``, … any word.
        aliases
            All its other names; each may be the name of nobody else.
        description
            A few words about it.
        namespace
            Whose; None for the engine's.
        """
        _checked_name("name", name)
        for position, alias in enumerate(() if aliases is None else checks.texts("aliases", aliases)):
            _checked_name(f"aliases[{position}]", alias)
        for argument, said in (("type", type), ("description", description)):
            if said is not None:
                checks.writable(argument, said)
        path = self._namespace(namespace)
        clean = self._drafts.clean_text
        described = self.store.describe_entity(
            path,
            clean(name),
            type=type,
            aliases=None if aliases is None else [clean(alias) for alias in aliases],
            description=None if description is None else clean(description),
        )
        return described.entity

    def merge_entities(self, keep: str, other: str, *, namespace: str | None = None) -> KnownEntity:
        """Read one name as another from now on, wherever it stands; `undo_merge` takes it back."""

        def known(look: Look) -> None:
            for argument, name in (("keep", keep), ("other", other)):
                self._key(look, argument, name)

        self._look(namespace, known)
        self.store.merge_entities(self._namespace(namespace), keep, other)
        return self.entity(keep, namespace=namespace)

    def undo_merge(self, name: str, *, namespace: str | None = None) -> None:
        """Let a merged name stand for itself again."""
        _checked_name("name", name)
        self.store.undo_merge(self._namespace(namespace), name)

    # --- ask ------------------------------------------------------------------------------------------

    def entities(
        self, *, prefix: str = "", limit: int = 50, namespace: str | None = None
    ) -> tuple[KnownEntity, ...]:
        """Return who and what is known, those that most memories mention first.

        Parameters
        ----------
        prefix
            Only those with a name that begins so, whatever its case and accents.
        limit
            How many at most.
        namespace
            Whose; None for the engine's.
        """
        begins = folded(checks.writable("prefix", prefix))
        checks.whole("limit", limit)

        def answer(look: Look) -> tuple[KnownEntity, ...]:
            known = self._graph(look)
            wanted = [
                (-count, known.name(key), key)
                for key, count in self._counted(known)
                if any(name.startswith(begins) for name in look.names.spellings(key))
            ]
            return tuple(self._known(known, key) for _, _, key in sorted(wanted)[:limit])

        return self._look(namespace, answer)

    def entity(self, name: str, *, namespace: str | None = None) -> KnownEntity:
        """Return what is known about one entity, by any of its names."""
        return self._look(
            namespace, lambda look: self._known(self._graph(look), self._key(look, "name", name))
        )

    def relations(
        self, entity: str | None = None, *, as_of: datetime | None = None, namespace: str | None = None
    ) -> tuple[Relation, ...]:
        """Return the relations that hold, in the order in which they were said.

        Parameters
        ----------
        entity
            Only those of this one, at either end; None for all.
        as_of
            Those that held at that moment, as it was believed then.
        namespace
            Whose; None for the engine's.
        """
        then = checks.optional_instant("as_of", as_of)

        def answer(look: Look) -> tuple[Relation, ...]:
            names = look.names
            ends = None if entity is None else names.spellings(self._key(look, "entity", entity))
            found = self.store.relations(look.path, now=look.now, as_of=then, names=ends)
            return tuple(
                replace(
                    relation,
                    source=names.entity(names.key(relation.source), relation.source).name,
                    target=names.entity(names.key(relation.target), relation.target).name,
                )
                for relation in found
            )

        return self._look(namespace, answer)

    # --- inside ---------------------------------------------------------------------------------------

    @cached_property
    def _graphs(self) -> Graphs:
        # Most processes never ask for the graph, and should not load what builds it.
        from memorata.engine.kept_graphs import Graphs

        return Graphs(self.store, self._names)

    def _relate_what_was_read(self, memories: Sequence[Memory]) -> None:
        """Write down the relations that an extractor read in what was just remembered."""
        found: dict[str, list[Relation]] = {}
        for memory in memories:
            for relation in self._names.relations_in(memory):
                # What a model calls by a word of the graph's own, or by nothing, is no relation.
                if relation.type not in _OWN_TYPES and folded(relation.source) and folded(relation.target):
                    found.setdefault(memory.namespace, []).append(relation)
        for path, relations in found.items():
            self.store.relate(path, relations, self._clock())

    def _look(
        self, namespace: str | None, look: Callable[[Look], _Answer], as_of: datetime | None = None
    ) -> _Answer:
        path, now = self._namespace(namespace), self._clock()

        def action() -> _Answer:
            with self.store.view(path, now, as_of=as_of) as view:
                return look(Look(path, now, view, self._names.of(path), as_of))

        return self._repairing.run([path], action)

    def _graph(self, look: Look) -> NamespaceGraph:
        return self._graphs.at(look.path, look.now, look.as_of)

    def _key(self, look: Look, argument: str, name: str) -> str:
        """Return the key of a known entity, or raise with the names that are most like it."""
        _checked_name(argument, name)
        key = look.names.key(name)
        if look.names.is_declared(key):
            return key
        _, mentioned = look.view.document_frequencies(look.names.spellings(key), field="names")
        if any(mentioned.values()):
            return key
        known = self._graph(look)
        from difflib import get_close_matches

        alike = get_close_matches(key, [each for each, _ in self._counted(known)], _NEAREST)
        raise EntityNotFound(name, look.path, tuple(map(known.name, alike)))

    def _counted(self, known: NamespaceGraph) -> list[tuple[str, int]]:
        """Return the keys of all known entities and how many memories mention each."""
        counts = known.mention_counts()
        found = dict.fromkeys(known.names.declared(), 0)
        for key, node in zip(known.entity_keys, known.entity_nodes().tolist(), strict=True):
            if counts[node] or key in found:
                found[key] = int(counts[node])
        return sorted(found.items())

    def _known(self, known: NamespaceGraph, key: str) -> KnownEntity:
        from memorata.engine.graph_answers import KnownEntity

        entity = known.names.entity(key, known.name(key))
        node = known.entity_node(key)
        if node is None:
            return KnownEntity(entity, 0, 0, known.names.merged(key))
        edges = known.graph.around([node], "both")
        types = np.array(known.graph.type_names)[edges.types]
        mentions = int(np.count_nonzero(types == MENTIONS))
        # A relation of an entity to itself is found from both of its ends.
        related = np.unique(edges.numbers).size - mentions
        return KnownEntity(entity, mentions, related, known.names.merged(key))


def relation_type(type: str) -> str:
    """Return a type that a relation may have: a word that is not one of the graph's own.

    Examples
    --------
    >>> relation_type("works_at")
    'works_at'
    """
    if checks.writable("type", type).strip() in ("", *_OWN_TYPES):
        own = ", ".join(_OWN_TYPES)
        raise InvalidArgument("type", type, f"a word of your own (the graph itself uses {own})")
    return type


def _checked_name(argument: str, name: str) -> None:
    if not folded(checks.writable(argument, name)):
        raise InvalidArgument(argument, name, "a name that is not blank")
