"""The verbs for people who ask what is known about them, and that it be no more: about and the large purges.

`about` shows everything before anything is removed; `purge_subject` removes exactly that. A namespace is
removed as a whole, with its name. The right to a copy and the right to be forgotten are articles 15 and 17 of
the General Data Protection Regulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memorata._frozen import frozen
from memorata.engine.entity_verbs import EntityVerbs
from memorata.model.entity import Relation
from memorata.model.errors import EntityNotFound
from memorata.model.memory import Memory
from memorata.store.naming import EntityRecord
from memorata.store.port import Hidden
from memorata.text.folding import contains_any, folded

SUMMARY_OF: Final = "summary_of"
"""The key of the metadata in which a summary names the memories that it was made from."""
MERGED_FROM: Final = "merged_from"
"""The same, of a memory that joins what several said."""

_REPEATED: Final = frozenset({"exact", "near"})
_JOINED: Final = _REPEATED | {"merge"}
"""The kinds of notes about memories that say no more than what superseded them."""
_AT_ONCE: Final = 500


@frozen
class About:
    """Everything about a subject.

    Attributes
    ----------
    subject
        As it was asked for.
    memories
        Those that mention it, or that it said: forgotten, superseded and expired ones too, oldest first.
    hidden
        Since when those of them that are hidden have been so.
    entities
        What was declared about it: itself, and what was merged into it.
    relations
        Those with it at an end, ended ones too.
    """

    subject: str
    memories: tuple[Memory, ...]
    hidden: tuple[Hidden, ...]
    entities: tuple[EntityRecord, ...]
    relations: tuple[Relation, ...]


class SubjectVerbs(EntityVerbs):
    """The part of the engine that shows and removes all there is about somebody."""

    def about(self, subject: str, *, namespace: str | None = None) -> About:
        """Return everything about a person or a thing, by any of its names.

        A memory counts if the subject said it, if it is listed as mentioned, or if one of its names stands in
        the text as a word. Every memory of the namespace is looked at, hidden ones too.
        """
        path = self._namespace(namespace)
        spellings = self._spellings(subject, path)
        memories = tuple(memory for memory in self.store.export(path) if _concerns(memory, spellings))
        ids = {memory.id for memory in memories}
        entities = [
            record
            for record in self.store.entities(path)
            if spellings & {folded(name) for name in (record.entity.name, *record.entity.aliases)}
        ]
        relations = [
            relation
            for relation in self.store.relations(path)
            if spellings & {folded(relation.source), folded(relation.target)}
        ]
        if not memories and not entities:
            raise EntityNotFound(subject, path)
        hidden = tuple(each for each in self.store.hidden(path) if each.memory_id in ids)
        return About(subject, memories, hidden, tuple(entities), tuple(relations))

    def purge_subject(self, subject: str, *, namespace: str | None = None) -> About:
        """Remove everything that `about` shows, for good, and return it. This cannot be undone.

        What repeats those goes with them, and so do summaries of them; see :meth:`Engine.purge`.
        Logged questions that name the subject, or have a word of its names that is no common one, lose their
        text; see :mod:`memorata.text.gazetteer`. What users of such a name saw in experiments is removed.
        """
        path = self._namespace(namespace)
        found = self.about(subject, namespace=path)
        ids = self._with_copies(path, [memory.id for memory in found.memories])
        names = sorted(self._spellings(subject, path))
        self._before_purge()
        self._repairing.run([path], lambda: self.store.purge(path, ids, names, self._repairing.words_of))
        return found

    def purge_namespace(self, namespace: str) -> int:
        """Remove a namespace for good: its memories, names, relations, logs, and its own name.

        Those below it (``acme/alice`` below ``acme``) stay. Returns how many memories it had. As after
        :meth:`Engine.purge` the file is written anew, which takes time in proportion to its size.
        """
        path = self._namespace(namespace)
        self._before_purge()
        removed = self._repairing.run([path], lambda: self.store.purge_namespace(path))
        self._names.clear()
        return removed

    def _before_purge(self) -> None:
        """Write down what waits to be: after the purge it would be written down all the same."""

    def _spellings(self, subject: str, path: str) -> set[str]:
        names = self._names.of(path)
        return set(names.spellings(names.key(subject))) | {folded(subject)}

    def _with_copies(self, path: str, ids: Sequence[str]) -> list[str]:
        """Return ids, and after them those of what says the same as these memories.

        That is what was made from them, and what was superseded by one of them because it only repeats it.
        """
        found = dict.fromkeys(ids)
        while more := [id_ for id_ in self._said_again(path, list(found), _JOINED) if id_ not in found]:
            found |= dict.fromkeys(more)
        made = [
            (each.id, _named(each, key))
            for key in (SUMMARY_OF, MERGED_FROM)
            for each in self._made_from_others(path, key)
        ]
        fresh = list(found)
        while fresh:
            more = [id_ for id_, sources in made if not sources.isdisjoint(fresh)]
            # Of what else was joined there nobody has spoken: it is current again.
            more += self._said_again(path, fresh, _REPEATED)
            fresh = [id_ for id_ in dict.fromkeys(more) if id_ not in found]
            found |= dict.fromkeys(fresh)
        return list(found)

    def _said_again(self, path: str, ids: Sequence[str], kinds: frozenset[str]) -> list[str]:
        """Return the ids of memories that were superseded because they only repeat one of these."""
        again: list[str] = []
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            again += [note.memory_id for note in self.store.repeats(path, of=some) if note.kind in kinds]
            # What came from another store has brought no notes.
            replaced = self.store.replaced(path, some)
            words = {each.id: each.fingerprint for each in self.store.get(path, _superseders(replaced))}
            again += [each.id for each in replaced if words[str(each.superseded_by)] == each.fingerprint]
        return again

    def _every_summary(self, path: str) -> Iterator[Memory]:
        return self._made_from_others(path, SUMMARY_OF)

    def _made_from_others(self, path: str, key: str) -> Iterator[Memory]:
        from memorata.store.filters import parse

        made_from_others = parse({f"metadata.{key}": {"exists": True}})
        cursor: str | None = None
        while True:
            page = self.store.page(path, made_from_others, _AT_ONCE, cursor, hidden=True)
            yield from page.memories
            cursor = page.cursor
            if cursor is None:
                return


def sources_of(summary: Memory) -> frozenset[str]:
    """Return the ids of the memories that a summary was made from; none for any other memory."""
    return _named(summary, SUMMARY_OF)


def _named(memory: Memory, key: str) -> frozenset[str]:
    named = memory.metadata.get(key)
    return (
        frozenset(each for each in named if isinstance(each, str)) if isinstance(named, list) else frozenset()
    )


def _superseders(replaced: Sequence[Memory]) -> list[str]:
    return sorted({each.superseded_by for each in replaced if each.superseded_by is not None})


def _concerns(memory: Memory, spellings: set[str]) -> bool:
    if any(folded(name) in spellings for name in (memory.source.speaker, *memory.entities) if name):
        return True
    return contains_any(memory.content, spellings)
