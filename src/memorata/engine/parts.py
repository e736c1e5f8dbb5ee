"""The parts of an engine, put together: what the verbs share, and the facets that hold the rarer ones."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

from memorata.embed.port import Embedder, Reranker
from memorata.engine.admin import Admin
from memorata.engine.embedding import CurrentEmbedder, EmbedderRetry
from memorata.engine.feedback import FeedbackLog
from memorata.engine.recall.log import Logging, RecallLog
from memorata.engine.recall.recaller import Recalls
from memorata.engine.recipes import Recipe
from memorata.engine.rules import DedupeMode, DedupeRules, LifecycleRules
from memorata.engine.runtime import LEASE_SECONDS, Runtime, utc_now
from memorata.engine.saved_recipes import Recipes
from memorata.engine.write.drafts import Drafts
from memorata.engine.write.names import NameIndex
from memorata.engine.write.purge import Purge
from memorata.engine.write.terms import dated
from memorata.engine.write.writer import Writer
from memorata.model import checks
from memorata.model.checks import DEFAULT_NAMESPACE
from memorata.store.store import Store
from memorata.text.analysers import Analyser
from memorata.text.dates import AnchorExtractor, RuleAnchors
from memorata.text.entities import EntityExtractor
from memorata.text.queries import QueryClassifier, RuleClassifier

# A facet is loaded when it is first used: a process that recalls starts sooner.
if TYPE_CHECKING:
    from memorata.embed.token_table import TokenTable
    from memorata.engine.access import Idempotency
    from memorata.engine.consolidation import Writer as SummaryWriter
    from memorata.engine.duplicates import DuplicateGroups
    from memorata.engine.lifecycle import Lifecycle
    from memorata.engine.transfer import Transfer


_FACETS: Final = (
    "admin", "duplicates", "feedback", "idempotency", "lifecycle", "namespaces", "transfer",
)  # fmt: skip
"""The facets that are made when they are first used, of the runtime and so of its namespace."""


class Parts:
    """What an engine is made of."""

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
        self.recipes = Recipes(runtime, recipe)
        self.recipe = self.recipes.default
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
        """Check, back up, compact and count; vectors, namespaces and keys."""
        return Admin(self.runtime, self._embedding, self._purge)

    @cached_property
    def feedback(self) -> FeedbackLog:
        """Feedback on hits, and the log of recalls: record, recalls, list."""
        return FeedbackLog(self.runtime, self.recall_log)

    @cached_property
    def duplicates(self) -> DuplicateGroups:
        """Duplicates and contradictions: find, supersede, undo, resolve, …."""
        from memorata.engine.duplicates import DuplicateGroups

        return DuplicateGroups(self.runtime, self._embedding, self._writer)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """What is kept, confirmed, promoted, expired and summarised: maintain, pin, mark_used, …."""
        from memorata.engine.consolidation import Consolidation
        from memorata.engine.lifecycle import Lifecycle

        consolidation = Consolidation(self.runtime, self._embedding, self._writer)
        return Lifecycle(self.runtime, self._writer, consolidation)

    @cached_property
    def idempotency(self) -> Idempotency:
        """Requests that are carried out once, however often they are sent: `once`."""
        from memorata.engine.access import Idempotency

        return Idempotency(self.runtime, self.recall_log)

    @cached_property
    def transfer(self) -> Transfer:
        """Import of records, export, and copies of a whole memory."""
        from memorata.engine.transfer import Transfer

        return Transfer(self.runtime, self._embedding, self._writer, self._purge)

    def scope(self, namespace: str | None = None, *, via: str | None = None) -> Self:
        """Return this memory bound to a namespace.

        It shares everything with this one, and is closed with it.

        Parameters
        ----------
        namespace
            The namespace of calls that name none; None for the one of this memory.
        via
            The interface that `source.via` of new memories names; None for the one of this memory.

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
        if (path, interface) == (self.namespace, drafts.via):
            return self
        view = copy(self)
        for facet in _FACETS:
            view.__dict__.pop(facet, None)
        view.runtime = self.runtime.scope(path)
        view.recipes = self.recipes.scope(view.runtime)
        view._writer = self._writer.with_source_via(interface)
        return view

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
        self.recipes.forget()

    def _before_purge(self) -> None:
        self.recall_log.flush()
        self.recipes.forget()
