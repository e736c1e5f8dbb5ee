"""Entities: what memories mention, its names, merges and relations.

Names follow aliases and merges everywhere. Whatever is asked about must be known: an entity is known once it
was declared (described, related or merged) or a memory that may be seen mentions it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import EntityNotFound, InvalidArgument
from memorata.extend.graph import (
    MENTIONS,
    OWN_TYPES,
    UNDONE_ALIAS,
    Analyser,
    Entity,
    EntityRecord,
    Hidden,
    NameMatcher,
    NamespaceIndex,
    alias_of,
    built_place,
    relation_type,
    undone_aliases,
)
from memorata.extend.model import Memory, Place, Relation, checks, folded, memory_id
from memorata_graph.lookup import Look, checked_name, counted, looked
from memorata_graph.namespace_graph import NamespaceGraph
from memorata_graph.results import KnownEntity
from memorata_graph.subjects import Concern, concern, names_of, spellings_of

if TYPE_CHECKING:
    from memorata import Engine


@frozen
class About:
    """Everything about a subject.

    - `subject`: as it was asked for.
    - `memories`: those that mention it, or that it said: forgotten, superseded and expired ones too, oldest
      first.
    - `hidden`: since when those of them that are hidden have been so.
    - `entities`: what was declared about it: itself, and what was merged into it.
    - `relations`: those with it at an end, ended ones too.
    - `in_texts`: how many more memories have one of its names as a word, and probably mean something else:
      "Will you come?". They are among `memories` where the text was asked for.
    """

    subject: str
    memories: tuple[Memory, ...]
    hidden: tuple[Hidden, ...]
    entities: tuple[EntityRecord, ...]
    relations: tuple[Relation, ...]
    in_texts: int = 0


@frozen
class SpeakerAlias:
    """A word that stands for a speaker in queries.

    - `word`: the nickname, or the misspelt name that was undone.
    - `name`: whose name it is short for or misspells; empty where no speaker has such a name any more.
    - `memories`: how many have the word.
    - `undone`: whether `undo_alias` made it stand for itself.
    """

    word: str
    name: str
    memories: int
    undone: bool = False


class Entities:
    """The entities of a memory: what memories mention, its names, merges and relations.

    The `namespace` of a verb is None for that of the memory.
    """

    def __init__(self, memory: Engine) -> None:
        self._memory = memory
        self._runtime = memory.runtime
        self._store = memory.store

    def relate(
        self,
        subject: str,
        type: str,
        object: str,
        *,
        weight: float = 1.0,
        memory: str | None = None,
        valid_from: checks.Instant | None = None,
        valid_to: checks.Instant | None = None,
        namespace: str | None = None,
    ) -> Relation:
        """Say that one entity has a relation to another.

        Said again, it gets the new weight and end. It stops holding when the memory that asserts it is
        forgotten or superseded, and is gone when that is purged.

        Parameters
        ----------
        subject, type, object
            ``"Anna", "works_at", "Bank of England"``. New names become entities.
        weight
            How strong it is, above 0.
        memory
            The id of the memory that says so; None for a declaration.
        valid_from, valid_to
            Since and until when it holds.
        """
        for argument, name in (("subject", subject), ("object", object)):
            checked_name(argument, name)
        relation_type(type)
        if memory is not None:
            memory_id("memory", memory)
        clean = self._runtime.clean_text
        start = checks.optional_instant("valid_from", valid_from)
        end = checks.optional_instant("valid_to", valid_to)
        relation = Relation(clean(subject), type, clean(object), weight, memory, start, end)
        return self._store.relations.add(self._runtime.path(namespace), [relation], self._runtime.clock())[0]

    def unrelate(self, subject: str, type: str, object: str, *, namespace: str | None = None) -> int:
        """Take back every relation of a type from one entity to another; return how many there were."""
        for argument, name in (("subject", subject), ("object", object)):
            checked_name(argument, name)
        path = self._runtime.path(namespace)
        names = self._runtime.names.of(path)
        ends = [names.spellings(names.key(name)) for name in (subject, object)]
        removed = self._store.relations.remove(path, ends[0], checks.writable("type", type), ends[1])
        if not removed:
            raise InvalidArgument("type", type, f"that of a relation from {subject!r} to {object!r}")
        return removed

    def describe(
        self,
        name: str,
        *,
        type: str | None = None,
        aliases: Sequence[str] | None = None,
        description: str | None = None,
        place: Place | Mapping[str, Any] | None = None,
        namespace: str | None = None,
    ) -> Entity:
        """Say what an entity is; None leaves a part as it is. A new name becomes an entity.

        Parameters
        ----------
        name
            The entity.
        type
            What kind of thing it is: ``"person"``, ``"company"``, … any word.
        aliases
            All its other names; none may be the name of another entity.
        description
            A few words about it.
        place
            Where it is, for one that stays in a place; an empty mapping takes its place away.
        """
        checked_name("name", name)
        for position, alias in enumerate(() if aliases is None else checks.texts("aliases", aliases)):
            checked_name(f"aliases[{position}]", alias)
        for argument, value in (("type", type), ("description", description)):
            if value is not None:
                checks.writable(argument, value)
        path = self._runtime.path(namespace)
        clean = self._runtime.clean_text
        where: Place | Literal[False] | None = None
        if isinstance(place, Mapping):
            where = built_place(place) if place else False
        elif place is not None:
            where = checks.instance("place", place, Place)
        described = self._store.entities.describe(
            path,
            clean(name),
            type=type,
            aliases=None if aliases is None else [clean(alias) for alias in aliases],
            description=None if description is None else clean(description),
            place=where,
        )
        return described.entity

    def merge(self, keep: str, other: str, *, namespace: str | None = None) -> KnownEntity:
        """Read one name as another from now on, wherever it stands; `undo_merge` takes it back."""

        def require_both(look: Look) -> None:
            for argument, name in (("keep", keep), ("other", other)):
                look.key(argument, name)

        looked(self._runtime, namespace, require_both)
        self._store.entities.merge(self._runtime.path(namespace), keep, other)
        return self.get(keep, namespace=namespace)

    def undo_merge(self, name: str, *, namespace: str | None = None) -> None:
        """Let a merged name stand for itself again."""
        checked_name("name", name)
        self._store.entities.undo_merge(self._runtime.path(namespace), name)

    def aliases(self, *, namespace: str | None = None) -> tuple[SpeakerAlias, ...]:
        """Return the nicknames of speakers, as queries are read by them, and those that were undone.

        They are learnt from what was said: "Mel" is short for the speaker Melanie where some memory says Mel
        and no other name begins so. Misspelt names are read as they come, and a recall shows how.
        """

        def answer(look: Look) -> tuple[SpeakerAlias, ...]:
            analyser, view = self._runtime.analyser, look.view
            undone = undone_aliases(self._store.saved_settings, look.path)
            aliases = _nicknames(view, analyser)
            for word in undone - set(map(folded, aliases)):
                terms = tuple(analyser.tokens(word))
                _, counts = view.document_frequencies(terms)
                aliases[word] = alias_of(word, view.speakers().names), max(counts.values(), default=0)
            return tuple(
                SpeakerAlias(word, *aliases[word], undone=folded(word) in undone) for word in sorted(aliases)
            )

        return looked(self._runtime, namespace, answer)

    def undo_alias(self, word: str, *, restore: bool = False, namespace: str | None = None) -> None:
        """Let a nickname or a misspelt name stand for itself in queries; `restore` takes that back.

        Parameters
        ----------
        word
            The word, as `aliases` or a recall shows it; whatever its case and accents.
        restore
            Whether to read it as a name again.
        """
        checked_name("word", word)
        path, settings, now = self._runtime.path(namespace), self._store.saved_settings, self._runtime.clock()
        key = folded(word.strip())
        if checks.flag("restore", restore):
            if not settings.withdraw_all(path, UNDONE_ALIAS, key, now):
                raise InvalidArgument("word", word, "one that was undone; `aliases` lists those")
        elif not settings.list(path, UNDONE_ALIAS, key):
            settings.save(path, UNDONE_ALIAS, key, {}, {}, now)

    def list(
        self, *, prefix: str = "", limit: int = 50, namespace: str | None = None
    ) -> tuple[KnownEntity, ...]:
        """Return the known entities, those that most memories mention first.

        Parameters
        ----------
        prefix
            Only those with a name that begins so, whatever its case and accents.
        limit
            How many at most.
        """
        begins = folded(checks.writable("prefix", prefix))
        checks.whole("limit", limit)

        def answer(look: Look) -> tuple[KnownEntity, ...]:
            graph = look.graph()
            matches = [
                (-count, graph.name(key), key)
                for key, count in counted(graph)
                if any(name.startswith(begins) for name in look.names.spellings(key))
            ]
            return tuple(self._known_entity(graph, key) for _, _, key in sorted(matches)[:limit])

        return looked(self._runtime, namespace, answer)

    def get(self, name: str, *, namespace: str | None = None) -> KnownEntity:
        """Return what is known about one entity, by any of its names."""
        return looked(
            self._runtime,
            namespace,
            lambda look: self._known_entity(look.graph(), look.key("name", name)),
        )

    def relations(
        self, entity: str | None = None, *, as_of: checks.Instant | None = None, namespace: str | None = None
    ) -> tuple[Relation, ...]:
        """Return the relations that hold, in the order in which they were said.

        Parameters
        ----------
        entity
            Only those of this one, at either end; None for all.
        as_of
            Those that held at that moment, as it was believed then.
        """
        then = checks.optional_instant("as_of", as_of)

        def answer(look: Look) -> tuple[Relation, ...]:
            names = look.names
            ends = None if entity is None else names.spellings(look.key("entity", entity))
            relations = self._store.relations.list(look.path, now=look.now, as_of=then, names=ends)
            return tuple(
                replace(
                    relation,
                    source=names.entity(names.key(relation.source), relation.source).name,
                    target=names.entity(names.key(relation.target), relation.target).name,
                )
                for relation in relations
            )

        return looked(self._runtime, namespace, answer)

    def about(self, subject: str, *, text: bool = False, namespace: str | None = None) -> About:
        """Return everything about a person or a thing, by any of its names.

        A memory counts if the subject said it, if it is listed as mentioned, or if one of its names stands in
        the text as a name: of one that is an ordinary word ("Will", "May", "Mark") the ordinary word does not
        count (`memorata.text.known_names`). Every memory of the namespace is looked at, hidden ones
        too.

        Parameters
        ----------
        subject
            The entity, by any name. It must be known: declared, listed by a memory, or a speaker.
        text
            Whether every memory counts that has one of the names as a word, and whether or not it is known.

        Raises
        ------
        EntityNotFound
            It is not known; the message says how many memories have it as a word.
        """
        checks.flag("text", text)
        path = self._runtime.path(namespace)
        names = self._runtime.names.of(path)
        spellings = spellings_of(subject, names)
        matcher = NameMatcher([*spellings, *names_of(subject, names)])
        memories, is_declared, in_texts = [], False, 0
        for memory in self._store.export(path):
            kind = concern(memory, spellings, matcher)
            is_declared |= kind is Concern.CERTAIN
            in_texts += kind is Concern.WORD
            if kind in (Concern.NAME, Concern.CERTAIN) or (text and kind is Concern.WORD):
                memories.append(memory)
        ids = {memory.id for memory in memories}
        entities = [
            record
            for record in self._store.entities.list(path)
            if spellings & {folded(name) for name in (record.entity.name, *record.entity.aliases)}
        ]
        relations = [
            relation
            for relation in self._store.relations.list(path)
            if spellings & {folded(relation.source), folded(relation.target)}
        ]
        is_declared = is_declared or bool(entities or relations)
        if not is_declared and not (text and memories):
            raise EntityNotFound(subject, path, in_texts=in_texts + len(memories))
        hidden = tuple(hidden for hidden in self._store.hidden(path) if hidden.memory_id in ids)
        about = About(subject, tuple(memories), hidden, tuple(entities), tuple(relations))
        return about if text else replace(about, in_texts=in_texts)

    def purge(
        self, subject: str, *, text: bool = False, dry_run: bool = False, namespace: str | None = None
    ) -> About:
        """Remove everything that `about` shows, for good, and return it. This cannot be undone.

        What repeats those goes with them, and so do summaries of them; see :meth:`Engine.purge`.
        Logged queries that name the subject, or have a word of its names that is no common one, lose their
        text; see `memorata.text.known_names`. What users of such a name saw in experiments is removed.

        Parameters
        ----------
        subject, text
            As for `about`.
        dry_run
            Whether to remove nothing, and only return what would be.
        """
        checks.flag("dry_run", dry_run)
        path = self._runtime.path(namespace)
        about = self.about(subject, text=text, namespace=path)
        if not dry_run:
            spellings = spellings_of(subject, self._runtime.names.of(path))
            ids = [memory.id for memory in about.memories]
            self._memory.purge(*ids, names=spellings, namespace=path)
        return about

    def _known_entity(self, graph: NamespaceGraph, key: str) -> KnownEntity:
        entity = graph.names.entity(key, graph.name(key))
        node = graph.entity_node(key)
        if node is None:
            return KnownEntity(entity, 0, 0, graph.names.merged(key))
        edges = graph.graph.around([node], "both")
        is_mention = edges.types == OWN_TYPES.index(MENTIONS)
        # A relation of an entity to itself is found from both of its ends.
        mentions, related = int(is_mention.sum()), np.unique(edges.numbers[~is_mention]).size
        return KnownEntity(entity, mentions, related, graph.names.merged(key))


_NAME_WORD: Final = re.compile(r"[^\W\d_]\w*")


def _nicknames(view: NamespaceIndex, analyser: Analyser) -> dict[str, tuple[str, int]]:
    """Return the nicknames that queries are read by, each with its name and the number of its memories."""
    speakers = view.speakers().names
    short = {
        part[:length]: part
        for speaker in speakers
        for part in _NAME_WORD.findall(speaker)
        for length in range(2, len(part))
        if alias_of(part[:length], speakers) == part
    }
    terms = {word: tuple(analyser.tokens(word)) for word in short}
    _, mentioned = view.document_frequencies(tuple(set().union(*terms.values())))
    return {
        word: (short[word], max(mentioned[term] for term in terms[word]))
        for word in short
        if any(mentioned[term] for term in terms[word])
    }
