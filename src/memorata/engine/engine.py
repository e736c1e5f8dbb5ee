"""The engine: the everyday verbs, and the facets that hold the rarer ones.

One synchronous class around a store and an embedder. Clock and randomness come in as arguments, so the same
store, query, recipe and clock give the same hits in the same order.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from memorata.embed.port import Embedder, Reranker
from memorata.engine.admin import Admin
from memorata.engine.briefing import SECTIONS, Briefing, Section, brief
from memorata.engine.embedding import CurrentEmbedder, EmbedderRetry
from memorata.engine.recall.log import Logging, RecallLog
from memorata.engine.recall.query import Request, parsed_filter
from memorata.engine.recall.recaller import Recalls
from memorata.engine.recall.result import RecallResult
from memorata.engine.recipes import Recipe
from memorata.engine.rules import DedupeMode, DedupeRules, LifecycleRules
from memorata.engine.runtime import LEASE_SECONDS, Runtime, utc_now
from memorata.engine.saved_recipes import Recipes
from memorata.engine.write.drafts import Drafts
from memorata.engine.write.names import NameIndex
from memorata.engine.write.purge import Purge, checked_ids, matching, selected
from memorata.engine.write.terms import dated
from memorata.engine.write.writer import MemoryKeys, Writer
from memorata.model import checks
from memorata.model.checks import DEFAULT_NAMESPACE, memory_id
from memorata.model.errors import NotGiven
from memorata.model.memory import Memory
from memorata.model.query import PRESENT, Query, When
from memorata.store.entries import Page
from memorata.store.store import Store
from memorata.text.analysers import Analyser
from memorata.text.dates import AnchorExtractor, RuleAnchors
from memorata.text.entities import EntityExtractor
from memorata.text.queries import QueryClassifier, RuleClassifier
from memorata.text.tokens import folded

if TYPE_CHECKING:
    pass

if TYPE_CHECKING:
    from memorata.embed.token_table import TokenTable
    from memorata.engine.consolidation import Writer as SummaryWriter

# The engine has a verb called list; inside its class the type goes by this name.
_Memories: TypeAlias = list[Memory]


class Engine:
    """Memory: remember, recall, correct, forget.

    Made by :func:`memorata.open`; close it, or use it in a ``with`` statement.

    Everyday verbs are its own; the work of operators is in `admin`. The clock and the source of randomness
    are arguments; the others are those of :func:`memorata.open`.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        analyser: Analyser,
        *,
        recipe: Recipe | str = "balanced",
        namespace: str = DEFAULT_NAMESPACE,
        clock: Callable[[], datetime] = utc_now,
        random_bits: Callable[[int], int] = secrets.randbits,
        classifier: QueryClassifier | None = None,
        anchors: AnchorExtractor | None = None,
        reranker: Reranker | None = None,
        extractor: EntityExtractor | None = None,
        read_dates: bool = True,
        redact: bool = False,
        life: LifecycleRules | Mapping[str, Any] | None = None,
        duplicates: str = "near",
        dedupe: DedupeRules | Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
        logging: Logging | None = None,
        specification: str | None = None,
        lease_seconds: float = LEASE_SECONDS,
        absent: EmbedderRetry | None = None,
        tables: Sequence[TokenTable] = (),
        summaries: SummaryWriter | None = None,
    ) -> None:
        self.store = store
        self.analyser = analyser
        self.extractor = extractor
        self.summaries = summaries
        self.dedupe_mode = DedupeMode.of(duplicates)
        rules = LifecycleRules.of(life), DedupeRules.of(dedupe)
        names = NameIndex(store, extractor)
        self.runtime = runtime = Runtime(
            store, analyser, clock, namespace, *rules, lease_seconds, names, redact
        )
        self.leases = runtime.leases
        self._recipes = Recipes(runtime, recipe)
        self.recipe = self._recipes.default
        mentioned = None if extractor is None else names.mentioned_by_all
        drafts = Drafts(
            clock, random_bits, mentioned, dated if read_dates else None, redact, is_person=names.is_person
        )
        log_settings = Logging() if logging is None else logging
        self.recall_log = RecallLog(store, log_settings, random_bits, runtime.clean_text)
        self._embedding = CurrentEmbedder(store, embedder, specification, absent, notes)
        self._writer = Writer(runtime, self._embedding, drafts, names)
        self._recalls = Recalls(
            runtime,
            self._embedding,
            RuleClassifier() if classifier is None else classifier,
            reranker,
            RuleAnchors() if anchors is None else anchors,
            tables,
        )
        self._purge = Purge(runtime, self._before_purge)
        if embedder is not None:
            store.use_embedder(embedder.name, embedder.dimension)
        self._embedding.notes = (*self._embedding.notes, *self.admin.notes)

    @cached_property
    def admin(self) -> Admin:
        """What operators do: check, back up, re-embed, and facets of rarer subjects."""
        return Admin(
            self.runtime,
            self._embedding,
            self._writer,
            self._purge,
            self._recipes,
            self.recall_log,
            self.recall,
            self._forget_names,
        )

    def scope(self, namespace: str | None = None, *, via: str | None = None, logged: bool = True) -> Self:
        """Return this memory bound to a namespace.

        It shares everything with this one, and is closed with it.

        Parameters
        ----------
        namespace
            The namespace of calls that name none; None for the one of this memory.
        via
            The interface that `source.via` of new memories names; None for the one of this memory.
        logged
            Whether recalls are logged as those of this memory are; otherwise they leave no trace.

        Examples
        --------
        >>> import memorata
        >>> with memorata.open(":memory:", embedder=None) as memory:
        ...     anna = memory.scope("acme/anna", via="proxy")
        ...     tea = anna.remember("Anna prefers tea.")
        ...     tea.namespace, tea.source.via, memory.namespace
        ('acme/anna', 'proxy', 'default')
        """
        path, drafts = self.runtime.path(namespace), self._writer.drafts
        interface = drafts.via if via is None else checks.writable("via", via)
        if checks.flag("logged", logged) and (path, interface) == (self.namespace, drafts.via):
            return self
        view = copy(self)
        if not logged:
            view.recall_log = self.recall_log.captured()
        view.__dict__.pop("admin", None)
        view.runtime = self.runtime.scope(path)
        view._recipes = self._recipes.scope(view.runtime)
        view._writer = self._writer.with_source_via(interface)
        return view

    def remember(
        self,
        /,
        content: str,
        *,
        namespace: str | None = None,
        duplicates: str | None = None,
        vector: checks.Numbers | None = None,
        **details: Any,  # noqa: ANN401 - the memory checks them
    ) -> Memory:
        """Remember one thing, verbatim; when this returns, it is on the disk.

        A repeat is written too, but superseded by the earlier memory, which is returned instead with one more
        mention (`admin.duplicates.repeats`). A turn of a transcript is an event, and never a repeat.

        Parameters
        ----------
        content
            What was said.
        namespace
            Whose memory; None for the engine's.
        duplicates
            What to do about repeats: ``"near"``, ``"exact"`` or ``"off"``; None for the engine's setting.
        vector
            Its vector, of length 1, if it has been computed already by the embedder in use; with `embedder`,
            the name of the one that computed it, it is refused if that is another.
        **details
            Any other field of :class:`~memorata.model.Memory`: category, tags, confidence, source, … Times
            may be ISO 8601 texts with a zone.
        """
        mode = self.dedupe_mode if duplicates is None else DedupeMode.of(duplicates)
        return self._writer.remember(content, self.runtime.path(namespace), details, mode, vector)

    def remember_many(
        self,
        items: Iterable[Memory | Mapping[str, Any] | str],
        *,
        namespace: str | None = None,
        progress: Callable[[int], None] = lambda count: None,
        verbatim: bool = False,
        duplicates: str | None = None,
    ) -> _Memories:
        """Remember many things, a thousand per transaction.

        Each thousand is written whole or not at all. An item whose `id` is known is left as it is, so an
        interrupted import can simply be run again.

        Parameters
        ----------
        items
            Memories, mappings of a memory's fields (and its `vector`, as in `remember`), or plain texts.
        namespace
            Whose memories, for items that do not say; None for the engine's.
        progress
            Called after every transaction with the number of items done so far.
        verbatim
            Whether to take memories as they are: no names, days or duplicates are looked for.
        duplicates
            As in `remember`; None for ``"exact"`` (unless the engine's is ``"off"``), which costs next to
            nothing: `admin.duplicates.find` is there for the rest.
        """
        checks.function("progress", progress)
        off = checks.flag("verbatim", verbatim) or self.dedupe_mode is DedupeMode.OFF
        mode = DedupeMode.OFF if off else DedupeMode.EXACT
        if duplicates is not None:
            mode = DedupeMode.of(duplicates)
        return self._writer.add_batches(
            items, self.runtime.path(namespace), mode, verbatim=verbatim, progress=progress
        )

    def draft(self, /, content: str, *, namespace: str | None = None, **details: Any) -> Memory:  # noqa: ANN401
        """Return the memory that `remember` would write, without writing it."""
        return self._writer.drafts.draft(content, self.runtime.path(namespace), details)

    def correct(self, /, id: str, content: str, *, namespace: str | None = None, **details: Any) -> Memory:  # noqa: ANN401
        """Say something new in place of a memory; the old one stays readable in `history` and `as_of`.

        Fields not in `details` are taken over from the old memory, but for names that its text mentions and a
        place that the old text names and the new one does not.
        """

        def write() -> Memory:
            old = self.get(id, namespace=namespace)
            checks.writable("content", content)
            fields = self._writer.inherited(old, content, details)
            return self.remember(content, namespace=old.namespace, supersedes=(old.id,), **(fields | details))

        return self.store.attempt(write)[0]

    def update(
        self,
        /,
        id: str,
        *,
        expected_version: int | None = None,
        namespace: str | None = None,
        **fields: Any,  # noqa: ANN401 - the memory checks them
    ) -> Memory:
        """Change what is known about a memory, and return it as it is then; its content stays as it is.

        What is searched (tags, entities, the time it happened) is found by its new words at once.

        Parameters
        ----------
        id
            Which memory.
        expected_version
            The version it was read at; :class:`VersionConflict` if it is another by now. None for any.
        namespace
            Whose memory; None for the engine's.
        **fields
            Any of category, tier, confidence, importance, pinned, tags, metadata, entities, place,
            valid_from, valid_to and expires_at. A given value replaces the old one as a whole.
        """
        path = self.runtime.path(namespace)
        return self._writer.update(path, memory_id("id", id), fields, expected_version)

    def get(self, id: str | None = None, *, key: str | None = None, namespace: str | None = None) -> Memory:
        """Return one memory by its id, hidden ones too; or the current version under a key of `put`."""
        if (id is None) == (key is None):
            raise NotGiven("id or key", "(one of the two, not both)")
        if key is not None:
            return self._keyed(namespace).get(key)
        return self.store.get(self.runtime.path(namespace), [memory_id("id", id)])[0]

    def put(self, key: str, /, content: str, *, namespace: str | None = None, **details: Any) -> Memory:  # noqa: ANN401
        """Remember under a key of the caller's; what stood there before is superseded, and in `history`.

        The same content again changes the given details and makes no version. Deduplication leaves it alone.
        `metadata` holds the `key`, and in later versions as `key_created_at` when the first was written; the
        `created_at` of a version is its own, so that `as_of` tells the truth.

        Parameters
        ----------
        key
            Any text of up to 1,000 characters; free again after `delete` or `forget`.
        content
            What is to stand under it.
        namespace
            Whose memory; None for the engine's.
        **details
            Any other field of :class:`~memorata.model.Memory`, as in `remember`.

        Examples
        --------
        >>> import memorata
        >>> with memorata.open(":memory:", embedder="lexical") as memory:
        ...     _ = memory.put("anna/drink", "Anna drinks tea.")
        ...     now = memory.put("anna/drink", "Anna drinks coffee.")
        ...     memory.get(key="anna/drink").content, len(memory.history(now.id))
        ('Anna drinks coffee.', 2)
        """
        return self._keyed(namespace).put(key, content, details)

    def delete(self, *, key: str, namespace: str | None = None) -> Memory:
        """Forget the current version under a key, and return it; the key is free then."""
        memory = self._keyed(namespace).get(key)
        self.forget(memory.id, namespace=namespace)
        return memory

    def _keyed(self, namespace: str | None) -> MemoryKeys:
        path = self.runtime.path(namespace)
        remember, update = partial(self.remember, namespace=path), partial(self.update, namespace=path)
        return MemoryKeys(self.store, path, remember, update)

    def list(
        self,
        *,
        namespace: str | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int = 50,
        cursor: str | None = None,
        hidden: bool = False,
        oldest_first: bool = False,
        fresh: bool = True,
    ) -> Page:
        """Return memories newest first, a page at a time.

        Parameters
        ----------
        namespace
            Whose memories; None for the engine's.
        filter
            Conditions as plain data: ``{"category": "preference", "confidence": {">=": 0.5}}``.
        limit
            How many at most.
        cursor
            The `cursor` of the page before.
        hidden
            Whether forgotten and superseded memories are shown too.
        oldest_first
            Whether the first written comes first.
        fresh
            Whether the page must know all that was written before; without it, it may be read from a replica.
        """
        condition = parsed_filter(filter)
        checks.whole("limit", limit)
        if cursor is not None:
            checks.text("cursor", cursor)
        path = self.runtime.path(namespace)
        order = {
            "hidden": checks.flag("hidden", hidden),
            "oldest_first": checks.flag("oldest_first", oldest_first),
        }
        read = partial(self.store.page, path, condition, limit, cursor, **order)
        return read() if checks.flag("fresh", fresh) else self.store.attempt(read, replica=True)[0]

    def briefing(
        self, *, budget: int = 1_000, sections: Sequence[Section] = SECTIONS, namespace: str | None = None
    ) -> Briefing:
        """Return what to know before anything is asked: for the start of a session, or of a prompt.

        What is pinned comes first, then standing instructions, preferences, profile facts, important
        memories (importance of 0.8 and more), what is unfinished, and the latest of the last seven days.
        Instructions, preferences and profile facts are found by their category, which `remember` gives to
        texts that say so ("from now on …", "I prefer …", "my name is …") and that bring none.

        Parameters
        ----------
        budget
            How many tokens it may take; whole memories only.
        sections
            Which of them; ``("pinned", "instruction", "preference")`` hold whatever is asked.
        namespace
            Whose memory; None for the engine's.

        Examples
        --------
        >>> import memorata
        >>> with memorata.open(":memory:", embedder="lexical") as memory:
        ...     _ = memory.remember("From now on, answer in German.")
        ...     [(item.section, item.memory.content) for item in memory.briefing().items]
        [('instruction', 'From now on, answer in German.')]
        """
        return brief(partial(self.list, namespace=namespace), self.now(), budget, sections)

    def history(self, id: str, *, namespace: str | None = None) -> tuple[Memory, ...]:
        """Return the whole chain a memory is part of: what was replaced before what replaced it."""
        path = self.runtime.path(namespace)
        current = self.get(id, namespace=path)
        while current.superseded_by is not None:
            current = self.get(current.superseded_by, namespace=path)
        newest_first = [current]
        for version in newest_first:
            newest_first += reversed(self.store.duplicates.replaced(path, [version.id]))
        return tuple(reversed(newest_first))

    def recall(
        self,
        query: str | Query,
        *,
        limit: int = 10,
        budget: int | None = None,
        filter: Mapping[str, Any] | None = None,
        when: When = PRESENT,
        recipe: Recipe | str | Mapping[str, Any] | None = None,
        history: Sequence[str] = (),
        min_confidence: float | None = None,
        namespace: str | None = None,
    ) -> RecallResult:
        """Find the right few memories for a query, and say why.

        Parameters
        ----------
        query
            What to look for. Quoted phrases count extra; a word or phrase after a minus must not occur. A
            :class:`~memorata.Query` also has a place, other wordings, its vector, or ranks sessions.
        limit
            How many hits at most.
        budget
            How many tokens the hits may take together; whole memories only.
        filter
            Conditions on the memories; see :meth:`list`.
        when
            The times of the recall: :class:`~memorata.When` has its present, the state of belief it searches
            (`as_of`), and the time it is about.
        recipe
            How to search: a recipe, or the name of one, or parameters to change of the one in use or of
            `base`: ``{"base": "elastic", "vector_weight": 0.7}``. None for the one in use.
        history
            The turns of the conversation before the query, oldest first: whom "she" means in it, and what it
            is about. The last four are read.
        min_confidence
            The least confidence of the result (how likely the query is about what is stored), from 0 to 1:
            below it all hits are in `refused` of the result, marked, instead of in `hits`. It replaces what
            the recipe requires, which None keeps; with 0 nothing is refused.
        namespace
            Whose memory; None for the engine's.
        """
        asked = query if isinstance(query, Query) else Query(query)
        checks.instance("when", when, When)
        now = self.now() if when.now is None else checks.zoned_instant("now", when.now)

        def run() -> tuple[Request, RecallResult]:
            chosen = self._recipes.get(recipe, namespace=namespace)
            if min_confidence is not None:
                checks.probability("min_confidence", min_confidence)
                chosen = replace(chosen.ungated(), min_confidence=min_confidence)
            request = Request.of(
                asked,
                self.runtime.path(namespace),
                chosen,
                now,
                when,
                id=self.recall_log.name(now),
                limit=limit,
                filter=filter,
                budget=budget,
                history=history,
            )
            return request, self._recalls.answer(request, asked.variants)

        request, result = self.store.attempt(run)[0]
        self.recall_log.note(request, result)
        return result

    def forget(
        self,
        *ids: str,
        filter: Mapping[str, Any] | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> tuple[str, ...]:
        """Hide memories from every recall, by id or all that pass a filter; `restore` brings them back.

        Returns the ids of those that are, or with `dry_run` would be, forgotten. By a filter, in one
        transaction with the search for them.

        Examples
        --------
        >>> import memorata
        >>> with memorata.open(":memory:", embedder="lexical") as memory:
        ...     _ = memory.remember_many([{"content": "Rain.", "category": "weather"}, "Anna likes tea."])
        ...     len(memory.forget(filter={"category": "weather"})), len(memory.list().memories)
        (1, 1)
        """
        path, now, selection = self.runtime.path(namespace), self.now(), selected(ids, filter)
        if checks.flag("dry_run", dry_run):
            return tuple(matching(self.store, path, selection))
        return tuple(self.runtime.run([path], lambda: self.store.forget(path, selection, now)))

    def restore(self, *ids: str, namespace: str | None = None) -> None:
        """Show forgotten memories again."""
        path, checked = self.runtime.path(namespace), checked_ids(ids)
        self.runtime.run([path], lambda: self.store.restore(path, checked))

    def purge(
        self,
        *ids: str,
        filter: Mapping[str, Any] | None = None,
        names: Iterable[str] = (),
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> tuple[str, ...]:
        """Remove memories for good: content, vectors, words. This cannot be undone.

        By id, or all that pass a filter, hidden ones too. What only repeats them goes with them: what was
        superseded as a repeat, and summaries and merged memories made from them. What they corrected is
        current again. Then the store is written anew, once for all given memories, so that not even its bytes
        hold a trace; if other processes kept it from that, `PurgeUnfinished` is raised and ``memorata
        vacuum`` finishes it. Returns the ids of all that went, or with `dry_run` would go.

        Logged queries that have one of these `names`, or a word of one that is no common one, lose their
        text, and what users of such a name saw in experiments is removed.
        """
        checks.flag("dry_run", dry_run)
        path, selection = self.runtime.path(namespace), selected(ids, filter)
        if dry_run or not isinstance(selection, Sequence):
            selection = matching(self.store, path, selection, hidden=True)
        erased = map(folded, checks.writable_texts("names", names))
        return tuple(self._purge.memories(path, selection, erased, dry_run=dry_run))

    @property
    def embedder(self) -> Embedder | None:
        """What measures meaning; None for words alone, or while it is unavailable."""
        return self._embedding.embedder

    @embedder.setter
    def embedder(self, embedder: Embedder | None) -> None:
        self._embedding.embedder = embedder

    @property
    def reranker(self) -> Reranker | None:
        """What reorders the best hits of recipes that ask for it, or None."""
        return self._recalls.reranker

    @reranker.setter
    def reranker(self, reranker: Reranker | None) -> None:
        self._recalls = replace(self._recalls, reranker=reranker)

    @property
    def namespace(self) -> str:
        """The namespace of calls that name none."""
        return self.runtime.namespace

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user about how this was opened."""
        return self._embedding.notes

    @notes.setter
    def notes(self, notes: tuple[str, ...]) -> None:
        self._embedding.notes = notes

    def now(self) -> datetime:
        """Return the time, by the engine's clock."""
        return self.runtime.clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store."""
        self.recall_log.close()
        self.leases.release_all()
        self.store.close()

    def _forget_names(self) -> None:
        self.runtime.names.clear()
        self._recipes.forget()

    def _before_purge(self) -> None:
        self.recall_log.flush()
        self._recipes.forget()
