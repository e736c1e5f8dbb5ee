"""The facet `namespaces`: links from one to another, and moving and splitting them.

A namespace sees what is in it. With `inherit`, a recall there also sees what is above it (``acme`` for
``acme/api``) and what it, or one above it, is linked to: one step, never the links of what is linked. What is
tagged `private` stays in its own namespace, and a link may have a filter of its own. A link grants
no access by itself: over HTTP a key must allow every namespace that is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from memorata._frozen import frozen
from memorata.engine.recall.federation import expanded, recall_across
from memorata.engine.recall.result import RecallResult
from memorata.engine.runtime import Runtime
from memorata.engine.transfer import declare
from memorata.engine.write.purge import Purge, all_memories
from memorata.engine.write.writer import stored_entries
from memorata.model import checks
from memorata.model.checks import namespace as checked_namespace
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.model.query import Query
from memorata.store.filters import parse

LINK: Final = "link"
"""The kind of saved setting that a link is; its name is the path of the linked namespace."""


# The facet has a verb called list; inside its class the type goes by this name.
_Memories: TypeAlias = list[Memory]


@frozen
class Link:
    """A namespace whose memories another sees, those that pass `filter` (None for all), and since when."""

    namespace: str
    filter: Mapping[str, Any] | None
    linked_at: datetime


class Namespaces:
    """The facet `namespaces` of an engine; `forget` lets go of what was derived from one that moved."""

    def __init__(
        self,
        runtime: Runtime,
        purge: Purge,
        forget: Callable[[], None],
        recall: Callable[..., RecallResult],
    ) -> None:
        self._runtime = runtime
        self._recall = recall
        self._store = runtime.store
        self._purge = purge
        self._forget = forget

    def list(self) -> Mapping[str, int]:
        """Return every namespace and how many memories it has."""
        return self._store.namespaces()

    def purge(self, namespace: str) -> int:
        """Remove a namespace for good: its memories, names, relations, logs, and its own name.

        Those below it (``acme/alice`` below ``acme``) stay. Returns how many memories it had. As after
        :meth:`Engine.purge` the file is written anew, which takes time in proportion to its size.
        """
        return self._purge.namespace(namespace)

    def recall(
        self,
        /,
        query: str | Query,
        namespaces: Sequence[str],
        *,
        inherit: bool = False,
        allows: Callable[[str], bool] | None = None,
        limit: int = 10,
        budget: int | None = None,
        **options: Any,  # noqa: ANN401 - those of recall
    ) -> RecallResult:
        """Recall from several namespaces at once, and merge the hits by how likely they answer.

        Parameters
        ----------
        query
            What to look for; it does not rank sessions.
        namespaces
            Where: paths, or ``acme/*`` for acme and everything below it; at most a hundred in all.
        inherit
            Whether a namespace also sees what is above it (``acme/phoenix/api`` sees ``acme``) and what it,
            or one above it, is linked to (:meth:`link`), but for memories tagged `private`.
        allows
            Whether a path may be read; one that may not is left out, and the result says so. None for all.
        limit, budget
            How many hits, and how many tokens, in all.
        **options
            Any other argument of :meth:`Engine.recall`, but `namespace`.

        Examples
        --------
        >>> import memorata
        >>> with memorata.open(":memory:", embedder="lexical") as memory:
        ...     _ = memory.remember("The team deploys on Fridays.", namespace="acme")
        ...     _ = memory.remember("The api is written in Go.", namespace="acme/api")
        ...     result = memory.admin.namespaces.recall("when do we deploy?", ["acme/api"], inherit=True)
        ...     result.hits[0].memory.namespace
        'acme'
        """
        if "namespace" in options:
            raise InvalidArgument("namespace", options["namespace"], "left out: `namespaces` are searched")
        if isinstance(query, Query) and query.sessions:
            raise InvalidArgument("sessions", True, "False where several namespaces are searched")
        paths = expanded(
            namespaces,
            self._store.namespaces,
            inherit=checks.flag("inherit", inherit),
            links=lambda path: self.links(namespace=path),
        )
        return recall_across(self._recall, query, paths, allows, limit=limit, budget=budget, options=options)

    def link(self, to: str, *, filter: Mapping[str, Any] | None = None, namespace: str | None = None) -> Link:
        """Let a namespace inherit from another: `recall` with `inherit` sees it from there.

        Parameters
        ----------
        to
            The other namespace; it need not be there yet.
        filter
            Which of its memories are seen; None for all but those tagged `private`, which never are.
        namespace
            The namespace that gets the link; None for the engine's. Linked again, it gets the new filter.

        Examples
        --------
        >>> import memorata
        >>> with memorata.open(":memory:", embedder="lexical") as memory:
        ...     _ = memory.remember("Indent with four spaces.", namespace="style")
        ...     _ = memory.admin.namespaces.link("style", namespace="acme/api")
        ...     result = memory.admin.namespaces.recall("how to indent?", ["acme/api"], inherit=True)
        ...     [(hit.memory.namespace, hit.memory.content) for hit in result]
        [('style', 'Indent with four spaces.')]
        """
        path, target = self._runtime.path(namespace), checked_namespace("to", to)
        if path == target:
            raise InvalidArgument("to", to, "another namespace")
        if filter is not None:
            parse(filter)
        now = self._runtime.clock()
        self._store.saved_settings.save(path, LINK, target, {"filter": filter}, {}, now)
        return Link(target, filter, now)

    def unlink(self, to: str, *, namespace: str | None = None) -> None:
        """Take a link back; raise if there is none."""
        path, target = self._runtime.path(namespace), checked_namespace("to", to)
        if not self._store.saved_settings.withdraw_all(path, LINK, target, self._runtime.clock()):
            raise InvalidArgument("to", to, f"a namespace that {path} is linked to")

    def links(self, *, namespace: str | None = None) -> tuple[Link, ...]:
        """Return what a namespace is linked to, by path."""
        newest: dict[str, Link] = {}
        for saved in self._store.saved_settings.list(self._runtime.path(namespace), LINK):
            newest.setdefault(saved.name, Link(saved.name, saved.data["filter"], saved.at))
        return tuple(newest[name] for name in sorted(newest))

    def move(self, namespace: str, to: str, *, below: bool = True) -> dict[str, str]:
        """Give a namespace another path, with everything in it: memories, names, logs, settings, links.

        All or nothing, in one transaction. Links of others to it lead to its new path. API keys are for
        patterns of paths, and stay as they are.

        Parameters
        ----------
        namespace, to
            From where to where; nothing may have been written there.
        below
            Whether what is below it moves along: ``acme/api`` with ``acme``.

        Returns
        -------
        dict
            By old path, the new one.
        """
        old, new = checked_namespace("namespace", namespace), checked_namespace("to", to)
        if new == old or (checks.flag("below", below) and new.startswith(f"{old}/")):
            raise InvalidArgument("to", to, "neither the namespace itself nor below it")
        existing = self._store.namespaces()
        moved = {
            path: new + path.removeprefix(old)
            for path in existing
            if path == old or (below and path.startswith(f"{old}/"))
        }
        if not moved:
            raise InvalidArgument("namespace", namespace, "one that there is")
        with self._store.together():
            for path, target in moved.items():
                for holder in self._store.saved_settings.namespaces(LINK, path):
                    (link,) = (
                        candidate for candidate in self.links(namespace=holder) if candidate.namespace == path
                    )
                    self.unlink(path, namespace=holder)
                    if moved.get(holder, holder) != target:
                        self.link(target, filter=link.filter, namespace=holder)
            self._store.rename_namespaces(moved)
        self._forget()
        return moved

    def split(
        self,
        filter: Mapping[str, Any],
        to: str,
        *,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> tuple[str, ...]:
        """Move the memories that pass a filter into another namespace, which may be there already.

        All or nothing, in one transaction. With a memory goes what it superseded and what superseded it, what
        repeats it, the summaries made of it and the relations that it asserts; entities are declared in both.
        Its vectors go along, and so do the feedback on it and the logged recalls all of whose hits go; others
        stay, without it.

        Parameters
        ----------
        filter
            Which memories, hidden ones too.
        to
            Where to; no memory there may have an id of theirs.
        namespace
            From where; None for the engine's.
        dry_run
            Only return which would go.

        Returns
        -------
        tuple
            The ids of all that went, or would go.
        """
        condition = parse(filter)
        path, target = self._runtime.path(namespace), checked_namespace("to", to)
        if path == target:
            raise InvalidArgument("to", to, "another namespace")
        if checks.flag("dry_run", dry_run):
            return tuple(memory.id for memory in self._chosen(path, filter, condition))

        def work() -> tuple[str, ...]:
            with self._store.together():
                chosen = self._chosen(path, filter, condition)
                self._transplant(path, target, chosen)
                return tuple(memory.id for memory in chosen)

        self._purge.before()
        moved = self._runtime.run([path, target], work)
        self._forget()
        return moved

    def _chosen(self, path: str, filter: Mapping[str, Any], condition: Any) -> _Memories:  # noqa: ANN401
        """Return what passes a filter, and what cannot be without it, in the order of adding."""
        if not filter:
            raise InvalidArgument("filter", filter, "at least one condition; move moves a whole namespace")
        whole = all_memories(self._store, path, None, hidden=True, oldest_first=True)
        memories = {memory.id: memory for memory in whole}
        neighbours: dict[str, set[str]] = {}
        for memory in memories.values():
            for neighbour in (*memory.supersedes, memory.superseded_by):
                if neighbour is not None:
                    neighbours.setdefault(memory.id, set()).add(neighbour)
                    neighbours.setdefault(neighbour, set()).add(memory.id)
        chosen = {memory.id for memory in all_memories(self._store, path, condition, hidden=True)}
        waiting = list(chosen)
        while waiting:
            along = {neighbour for id_ in waiting for neighbour in neighbours.get(id_, ())}
            along |= set(self._purge.memories(path, waiting, dry_run=True))
            waiting = [id_ for id_ in along if id_ in memories and id_ not in chosen]
            chosen.update(waiting)
        return [memory for id_, memory in memories.items() if id_ in chosen]

    def _transplant(self, path: str, target: str, memories: _Memories) -> None:
        """Write memories of one namespace into another, and remove them where they were."""
        if not memories:
            return
        store, ids = self._store, {memory.id for memory in memories}
        if existing := store.known([(target, id_) for id_ in ids]):
            raise InvalidArgument("to", target, f"one without a memory {min(existing)[1]}, which moves there")
        moved = stored_entries(self._runtime, memories, target)
        relations = [relation for relation in store.relations.list(path) if relation.asserted_by in ids]
        entities = store.entities.list(path)
        hidden = [mark for mark in store.hidden(path) if mark.memory_id in ids]
        feedback = [entry for entry in store.feedback.list(path) if entry.feedback.memory_id in ids]
        recalls = [
            recall
            for recall in reversed(store.recalls.list(path))
            if recall.shown and ids.issuperset(recall.ids[at] for at in recall.shown)
        ]
        store.purge(path, [memory.id for memory in memories], erase=False)
        store.add(moved)
        store.hide(target, hidden)
        store.recalls.move(path, target, recalls)
        store.feedback.put(target, feedback)
        declared = {record.entity.name for record in store.entities.list(target)}
        mentioned = {name for memory in memories for name in memory.entities}
        mentioned |= {name for relation in relations for name in (relation.source, relation.target)}
        for record in entities:
            if record.merged_into is None and record.entity.name in mentioned - declared:
                declare(store, target, record.entity)
        if relations:
            store.relations.add(target, relations, self._runtime.clock())
