"""The engine: the verbs that people and programs use, and the facets that hold the rarer ones.

One synchronous class around a store and an embedder. Clock and randomness come in as arguments, so the same
store, query, recipe and clock give the same hits in the same order.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memorata.embed.port import Embedder, Reranker
from memorata.embed.token_table import TokenTable
from memorata.engine.admin import Admin
from memorata.engine.briefing import LOOKED_AT, SECTIONS, STANDING, Briefing, Section, brief
from memorata.engine.embedding import CurrentEmbedder, EmbedderRetry
from memorata.engine.feedback import FeedbackLog
from memorata.engine.gc_pause import gc_paused
from memorata.engine.graph.lookup import Lookup
from memorata.engine.idempotency import Idempotency
from memorata.engine.leases import SECONDS, Leases
from memorata.engine.lifecycle.rules import LifecycleRules
from memorata.engine.recall.log import Logging, RecallLog
from memorata.engine.recall.query import Request, moment_of, parsed_filter
from memorata.engine.recall.recaller import Recaller
from memorata.engine.recall.result import RecallResult
from memorata.engine.recipes.recipe import Recipe
from memorata.engine.recipes.saved import Recipes
from memorata.engine.runtime import Runtime
from memorata.engine.write.drafts import DedupeMode, DedupeRules, Drafts
from memorata.engine.write.names import NameIndex
from memorata.engine.write.purge import Purge
from memorata.engine.write.terms import dated
from memorata.engine.write.writer import Writer, batches
from memorata.index.codes import Floats
from memorata.model import checks
from memorata.model.errors import InvalidArgument, NotGiven
from memorata.model.identifiers import DEFAULT_NAMESPACE, memory_id
from memorata.model.memory import UNTRUSTED, Memory
from memorata.model.period import Period
from memorata.model.place import Place
from memorata.store.entries import Page, all_pages
from memorata.store.store import Store
from memorata.text.analysers import Analyser
from memorata.text.dates import AnchorExtractor, RuleAnchors
from memorata.text.entities import EntityExtractor
from memorata.text.queries import QueryClassifier, RuleClassifier

# A facet is loaded when it is first used: a process that recalls starts sooner.
if TYPE_CHECKING:
    from memorata.engine.duplicates.duplicates import DuplicateGroups
    from memorata.engine.graph.entities import Entities
    from memorata.engine.graph.queries import GraphQueries
    from memorata.engine.lifecycle.consolidation import Writer as SummaryWriter
    from memorata.engine.lifecycle.lifecycle import Lifecycle
    from memorata.engine.namespaces import Namespaces
    from memorata.engine.transfer import Transfer
    from memorata.engine.write.memory_keys import MemoryKeys
    from memorata.learn.experiments import Experiments
    from memorata.store.filter_tree import Filter

BATCH: Final = 1_000
"""How many memories `remember_many` writes in one transaction."""

# The engine has a verb called list; inside its class the type goes by this name.
_Memories: TypeAlias = list[Memory]


class Engine:
    """Memory: remember, recall, correct, forget.

    Made by :func:`memorata.open`; close it, or use it in a ``with`` statement.

    Everyday verbs are its own; the rest are in facets: `entities`, `graph`, `duplicates`, `lifecycle`,
    `recipes`, `feedback`, `experiments`, `namespaces`, `transfer`, `admin` and `idempotency`. The clock and
    the source of randomness are arguments; the others are those of :func:`memorata.open`.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        analyser: Analyser,
        *,
        recipe: Recipe | str = "balanced",
        namespace: str = DEFAULT_NAMESPACE,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
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
        lease_seconds: float = SECONDS,
        absent: EmbedderRetry | None = None,
        tables: Sequence[TokenTable] = (),
        summaries: SummaryWriter | None = None,
    ) -> None:
        self.store = store
        self.analyser = analyser
        self.extractor = extractor
        self.reranker = reranker
        self._tables = tables
        self._summaries = summaries
        self.dedupe_mode = DedupeMode.of(duplicates)
        self._classifier = RuleClassifier() if classifier is None else classifier
        self._anchors = RuleAnchors() if anchors is None else anchors
        self.runtime = runtime = Runtime(
            store, analyser, clock, namespace, LifecycleRules.of(life), DedupeRules.of(dedupe)
        )
        self.recipes = Recipes(runtime, recipe)
        self.recipe = self.recipes.default
        self.leases = Leases(store, clock, lease_seconds)
        self._names = names = NameIndex(store, extractor)
        mentioned = None if extractor is None else names.mentioned_by_all
        drafts = Drafts(clock, random_bits, mentioned, dated if read_dates else None, redact)
        how = Logging() if logging is None else logging
        self.recall_log = RecallLog(store, how, random_bits, drafts.clean_text)
        self.feedback = FeedbackLog(runtime, self.recall_log)
        self.idempotency = Idempotency(runtime, self.recall_log)
        self._embedding = CurrentEmbedder(store, embedder, specification, absent, notes)
        self._writer = Writer(runtime, self._embedding, drafts, names)
        self._lookup = Lookup(runtime, names)
        self._purge = Purge(runtime, names, self._before_purge)
        if embedder is not None:
            store.use_embedder(embedder.name, embedder.dimension)
        self.admin = Admin(runtime, self._embedding, self.leases, self._purge)
        self._embedding.notes = (*self._embedding.notes, *self.admin.notes)

    @cached_property
    def entities(self) -> Entities:
        """Who and what memories mention: list, get, describe, merge, relate, about, purge, …."""
        from memorata.engine.graph.entities import Entities

        return Entities(self.runtime, self._lookup, self._writer.drafts, self._purge)

    @cached_property
    def graph(self) -> GraphQueries:
        """Paths, communities, and memories near a point or along a timeline."""
        from memorata.engine.graph.queries import GraphQueries

        return GraphQueries(self.runtime, self._lookup, self._summaries)

    @cached_property
    def duplicates(self) -> DuplicateGroups:
        """What was said twice, and what contradicts: find, supersede, undo, resolve, …."""
        from memorata.engine.duplicates.duplicates import DuplicateGroups

        return DuplicateGroups(self.runtime, self._embedding, self._writer, self.leases)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """What is kept, confirmed, promoted, expired and summarised: maintain, pin, mark_used, …."""
        from memorata.engine.lifecycle.consolidation import Consolidation
        from memorata.engine.lifecycle.lifecycle import Lifecycle

        consolidation = Consolidation(self.runtime, self._embedding, self._writer, self.leases)
        return Lifecycle(self.runtime, self._writer, consolidation, self.leases, self.admin)

    @cached_property
    def experiments(self) -> Experiments:
        """Variants of a recipe compared by what users do: create, assign, recall, status, stop, …."""
        # The one thing above the engine that it hands out: learning builds on the engine.
        from memorata.learn.experiments import Experiments

        return Experiments(self)

    @cached_property
    def namespaces(self) -> Namespaces:
        """Links from one namespace to another; moving and splitting them."""
        from memorata.engine.namespaces import Namespaces

        return Namespaces(self.runtime, self._purge, self._forget_names)

    @cached_property
    def transfer(self) -> Transfer:
        """Import of records, export, and copies of a whole memory."""
        from memorata.engine.imports import Imports
        from memorata.engine.transfer import Transfer

        imports = Imports(self.runtime, self._purge)
        return Transfer(self.runtime, self._embedding, self._writer, imports)

    def through(self, via: str) -> Engine:
        """Return this engine for an interface: what is written through it says so in its `source.via`.

        It shares everything with this one, and is closed with it.

        >>> import memorata
        >>> with memorata.open(":memory:", embedder=None) as memory:
        ...     memory.through("proxy").remember("Anna prefers tea.").source.via
        'proxy'
        """
        if via == self._writer.drafts.via:
            return self
        view = copy(self)
        for facet in ("entities", "duplicates", "lifecycle", "experiments", "transfer"):
            view.__dict__.pop(facet, None)
        view._writer = self._writer.through(via)
        return view

    @property
    def embedder(self) -> Embedder | None:
        """What measures meaning; None for words alone, or while it is unavailable."""
        return self._embedding.embedder

    @embedder.setter
    def embedder(self, embedder: Embedder | None) -> None:
        self._embedding.embedder = embedder

    @property
    def namespace(self) -> str:
        """The namespace of calls that name none."""
        return self.runtime.namespace

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how this was opened."""
        return self._embedding.notes

    @notes.setter
    def notes(self, notes: tuple[str, ...]) -> None:
        self._embedding.notes = notes

    def now(self) -> datetime:
        """Return the time, by the engine's clock."""
        return self.runtime.clock()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store."""
        self.recall_log.close()
        self.leases.release_all()
        self.store.close()

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
        mention (`duplicates.repeats`). A turn of a transcript is an event, and never a repeat.

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
            nothing: `duplicates.find` is there for the rest.
        """
        checks.flag("verbatim", verbatim)
        # A text is a sequence of letters, and a mapping one of names, by accident.
        if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
            raise InvalidArgument("items", items, "a list of memories, mappings with a content, or texts")
        off = verbatim or self.dedupe_mode is DedupeMode.OFF
        mode = DedupeMode.OFF if off else DedupeMode.EXACT
        if duplicates is not None:
            mode = DedupeMode.of(duplicates)
        remembered: _Memories = []
        whose = self.runtime.path(namespace)
        done = 0
        for batch in batches(items, BATCH):
            with gc_paused():
                remembered += self._writer.add_items(batch, whose, mode, verbatim=verbatim)
            done += len(batch)
            progress(done)
        return remembered

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
            checks.text("content", content)
            kept = self._writer.inherited(old, content, pinned=bool(details.get("pinned")))
            return self.remember(content, namespace=old.namespace, supersedes=(old.id,), **(kept | details))

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
        from memorata.engine.write.memory_keys import MemoryKeys

        path = self.runtime.path(namespace)

        def visible(id: str) -> Memory | None:
            return next(iter(self.list(namespace=path, filter={"id": id}, limit=1).memories), None)

        return MemoryKeys(
            path,
            lambda ids: {id_ for _, id_ in self.store.known([(path, id_) for id_ in ids])},
            visible,
            partial(self.remember, namespace=path),
            partial(self.update, namespace=path),
        )

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

        def read() -> Page:
            return self.store.page(path, condition, limit, cursor, hidden=hidden, oldest_first=oldest_first)

        checks.flag("oldest_first", oldest_first)
        return read() if checks.flag("fresh", fresh) else self.store.attempt(read, replica=True)[0]

    def briefing(self, *, budget: int = 1_000, namespace: str | None = None) -> Briefing:
        """Return what to know before anything is asked: for the start of a session, or of a prompt.

        What is pinned comes first, then standing instructions, preferences, who somebody is, important
        memories (importance of 0.8 and more), what is unfinished, and the latest of the last seven days.
        Instructions, preferences and profile facts are told by their category, which `remember` gives to
        texts that say so ("from now on …", "I prefer …", "my name is …") and that bring none.

        Parameters
        ----------
        budget
            How many tokens it may take; whole memories only.
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
        return self._briefing(budget, namespace, SECTIONS)

    def _briefing(self, budget: int, namespace: str | None, sections: tuple[Section, ...]) -> Briefing:
        def listed(conditions: Mapping[str, Any] | None) -> tuple[Memory, ...]:
            # What a tool or a page said is for who asks for it, whatever category it came with.
            trusted = {**(conditions or {}), "tags": {"none": [UNTRUSTED]}}
            return self.list(namespace=namespace, filter=trusted, limit=LOOKED_AT).memories

        return brief(listed, self.now(), budget, sections)

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
        query: str,
        *,
        limit: int = 10,
        sessions: bool = False,
        namespace: str | None = None,
        recipe: Recipe | str | None = None,
        changes: Mapping[str, Any] | None = None,
        filter: Mapping[str, Any] | None = None,
        now: checks.Instant | None = None,
        as_of: checks.Instant | None = None,
        true_at: checks.Instant | None = None,
        period: Period | None = None,
        since: checks.Instant | None = None,
        until: checks.Instant | None = None,
        near: Place | None = None,
        budget: int | None = None,
        vector: Floats | None = None,
        history: Sequence[str] = (),
        fresh: bool = False,
        variants: Sequence[str] = (),
        gate: bool = True,
        standing: int = 0,
    ) -> RecallResult:
        """Find the right few memories for a query, and say why.

        Parameters
        ----------
        query
            What to look for. Quoted phrases count extra; a word or phrase after a minus must not occur.
        limit
            How many hits at most.
        sessions
            Rank sessions instead of memories, each with up to three memories that speak for it.
        namespace
            Whose memory; None for the engine's.
        recipe
            How to search: a recipe, or the name of one; None for what the namespace uses.
        changes
            Parameters of the recipe to change for this query.
        filter
            Conditions on the memories; see :meth:`list`.
        now
            The moment of asking, whose time zone says when "yesterday" began; None for the clock's.
        as_of
            Answer with what was believed at that moment.
        true_at
            Answer with what held in the world at that moment, as far as it is known.
        period
            The time the query is about, if known; otherwise its words may name one. It restricts, with a soft
            edge; where nothing of it is found, the result says so and has what is closest in time first.
        since, until
            Only memories of what happened from then on, and before then; of one that says no time, when it
            was learnt.
        near
            Where to look around: memories from near there count more.
        budget
            How many tokens the hits may take together; whole memories only.
        history
            The turns of the conversation before the query, oldest first: whom "she" means in it, and what it
            is about. The last four are read.
        vector
            The query's vector, if it has been computed already.
        fresh
            Whether it must know all that was written before; without, a replica may answer.
        gate
            Whether to leave out what is not good enough; without, the best `limit` come however unlike.
        variants
            The same query in other words: each is asked, too, and `agreement` says how far the answers agree.
        standing
            How many tokens what holds whatever is asked may take: pinned memories, standing instructions and
            preferences come with every recall, in `standing` of the result; 0 for none.
        """
        moment = moment_of(now, self.runtime.clock)

        def answered() -> tuple[Request, RecallResult]:
            request = Request.of(
                query,
                self.runtime.path(namespace),
                self._recipe(recipe, changes, namespace),
                moment,
                id=self.recall_log.name(moment),
                limit=limit,
                sessions=sessions,
                fresh=fresh,
                gate=gate,
                filter=filter,
                as_of=as_of,
                true_at=true_at,
                since=since,
                until=until,
                period=period,
                near=near,
                budget=budget,
                vector=vector,
                history=history,
            )
            if request.recipe.vector_pool:
                self._embedding.retry()
            recaller = Recaller(
                self.runtime,
                self._embedding.meaning(),
                self._classifier,
                self.reranker,
                self._anchors,
                lambda path, now, as_of: self._lookup.graphs.at(path, now, as_of),
                self.runtime.rules,
                self._tables,
            )
            result = recaller.answer(request)
            if variants or request.recipe.samples:
                from memorata.engine.recall.agreement import agreed

                result = agreed(recaller, request, result, checks.texts("variants", variants))
            return request, result

        request, result = self.store.attempt(answered)[0]
        self.recall_log.note(request, result)
        if checks.whole("standing", standing):
            items = self._briefing(standing, namespace, STANDING).items
            result = replace(result, standing=tuple(item.memory for item in items))
        return result

    def recall_across(
        self,
        /,
        query: str,
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
            What to look for.
        namespaces
            Where: paths, or ``acme/*`` for acme and everything below it; at most a hundred in all.
        inherit
            Whether a namespace also sees what is above it (``acme/phoenix/api`` sees ``acme``) and what it,
            or one above it, is linked to (`namespaces.link`), but for memories tagged `private`.
        allows
            Told the path of each namespace that would be touched; where it says no, that one is left out, and
            the result says so. None for all.
        limit, budget
            How many hits, and how many tokens, in all.
        **options
            Any other argument of `recall`, but `namespace` and `sessions`.

        Examples
        --------
        >>> import memorata
        >>> with memorata.open(":memory:", embedder="lexical") as memory:
        ...     _ = memory.remember("The team deploys on Fridays.", namespace="acme")
        ...     _ = memory.remember("The api is written in Go.", namespace="acme/api")
        ...     hit = memory.recall_across("when do we deploy?", ["acme/api"], inherit=True).hits[0]
        ...     hit.memory.namespace
        'acme'
        """
        from memorata.engine.recall.across import expanded, recall_across

        if wrong := options.keys() & {"namespace", "sessions"}:
            raise InvalidArgument(
                "options", sorted(wrong)[0], "arguments of recall but namespace and sessions"
            )
        paths = expanded(
            namespaces,
            self.admin.namespaces,
            inherit=checks.flag("inherit", inherit),
            links=lambda path: self.namespaces.links(namespace=path),
        )
        seen = {path: seen for path, seen in paths.items() if allows is None or allows(path)}
        result = recall_across(self.recall, query, seen, limit=limit, budget=budget, options=options)
        left_out = len(paths) - len(seen)
        note = f"{left_out} of {len(paths)} namespaces are left out, for they may not be read"
        return replace(result, degraded=(*result.degraded, note)) if left_out else result

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
        path, now = self.runtime.path(namespace), self.runtime.clock()
        wanted = _selected(ids, filter)
        if checks.flag("dry_run", dry_run):
            return tuple(self._preview(path, wanted))
        return tuple(self.runtime.run([path], lambda: self.store.forget(path, wanted, now)))

    def restore(self, *ids: str, namespace: str | None = None) -> None:
        """Show forgotten memories again."""
        path, wanted = self.runtime.path(namespace), _ids(ids)
        self.runtime.run([path], lambda: self.store.restore(path, wanted))

    def purge(
        self,
        *ids: str,
        filter: Mapping[str, Any] | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> tuple[str, ...]:
        """Remove memories for good: content, vectors, words. This cannot be undone.

        By id, or all that pass a filter, hidden ones too.

        What only repeats them goes with them: what was superseded as a repeat, and summaries and merged
        memories made from them. What they corrected is current again. Then the store is written anew, once
        for all given memories, so that not even its bytes hold a trace; if other processes kept it from that,
        `PurgeUnfinished` is raised and ``memorata vacuum`` finishes it. Returns the ids of all that went, or
        with `dry_run` would go.
        """
        checks.flag("dry_run", dry_run)
        path, wanted = self.runtime.path(namespace), _selected(ids, filter)
        if dry_run or not isinstance(wanted, Sequence):
            wanted = self._preview(path, wanted, hidden=True)
        return tuple(self._purge.memories(path, wanted, dry_run=dry_run))

    def _preview(self, path: str, wanted: Sequence[str] | Filter, *, hidden: bool = False) -> Sequence[str]:
        """Return the ids that are meant; who is not there is told of now, and not when it matters."""
        if not isinstance(wanted, Sequence):
            pages = partial(self.store.page, path, wanted, BATCH, hidden=hidden)
            return [memory.id for memory in all_pages(lambda cursor: pages(cursor=cursor))]
        self.store.get(path, wanted)
        return wanted

    def _forget_names(self) -> None:
        self._names.clear()
        self.recipes.forget()

    def _before_purge(self) -> None:
        self.recall_log.flush()
        self.recipes.forget()

    def _recipe(
        self, given: Recipe | str | None, changes: Mapping[str, Any] | None, namespace: str | None
    ) -> Recipe:
        chosen = self.recipes.get(given, namespace=namespace)
        return chosen if changes is None or changes == {} else chosen.changed(changes)


def _ids(ids: Iterable[str]) -> list[str]:
    return [memory_id("id", id_) for id_ in ids]


def _selected(ids: Sequence[str], filter: Mapping[str, Any] | None) -> Sequence[str] | Filter:
    """Return what is to be removed: some ids, or what passes a filter; not both, and not all by mistake."""
    if filter is None:
        return _ids(ids)
    if ids:
        raise InvalidArgument("filter", filter, "left out where ids are given")
    if filter == {}:
        raise InvalidArgument("filter", filter, 'at least one condition; {"id": {"exists": true}} is all')
    condition = parsed_filter(filter)
    assert condition is not None  # only no filter gives none
    return condition
