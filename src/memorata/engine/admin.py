"""The work of operators: checks, statistics, vectors, backups, API keys, and the facets of rarer subjects.

A memory whose embedder failed is stored and waits; one that another embedder measured waits as well, for
vectors of two models are never compared. Both are embedded here in batches, one transaction each, so that a
process that is killed loses one batch at most and the next one goes on. Searches go on meanwhile: by the
vectors that are there, and by words for the rest, which they say. A change of embedders is complete when
nothing waits any more but what cannot be embedded. Then the new one becomes the one that the store is opened
with, and the vectors of the old one are removed. One worker at a time does this, under a lease.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from memorata._frozen import frozen
from memorata.embed.port import (
    OWN,
    checked_prompts,
    prompted_specification,
    split_specification,
    with_prompts,
)
from memorata.engine.embedding import DIMENSION, CurrentEmbedder, Service, address, cached_vectors
from memorata.engine.runtime import Runtime
from memorata.engine.write.purge import Purge, checked_ids
from memorata.engine.write.terms import embedded_text, note_words_read, outdated_words
from memorata.model import checks
from memorata.model.errors import EmbedderError, MissingExtra, ServiceUnreachable
from memorata.model.memory import Memory
from memorata.store.entries import Change
from memorata.store.memory.embedding import Embedded

if TYPE_CHECKING:
    from memorata.engine.access import ApiKeys, Idempotency
    from memorata.engine.duplicates import DuplicateGroups
    from memorata.engine.feedback import FeedbackLog
    from memorata.engine.lifecycle import Lifecycle
    from memorata.engine.namespaces import Namespaces
    from memorata.engine.recall.log import RecallLog
    from memorata.engine.recall.result import RecallResult
    from memorata.engine.saved_recipes import Recipes
    from memorata.engine.transfer import Transfer
    from memorata.engine.write.writer import Writer

BATCH: Final = 256
"""How many memories are embedded and written in one transaction."""
WORK: Final = "reembed"
"""The kind of work that this is: one worker at a time does it."""
"""The kind of work that making indexes is."""
SETTING: Final = "embedder"
"""The setting of a store that says which embedder it is opened with."""

_PROBE: Final = "Is all well?"
_SAMPLE_TEXTS: Final = 16
_MAX_FAILURES_IN_A_ROW: Final = 8
"""After this many failures in a row the embedder is at fault, and not the texts."""
_TEXT_DEPENDENT_STATUSES: Final = frozenset({500, 502})
"""HTTP statuses of a failure that may be caused by one of the texts."""
_VECTORS_PER_DROP: Final = 10_000


@frozen
class NotEmbedded:
    """A memory that could not be embedded, and why; it goes on waiting."""

    namespace: str
    memory_id: str
    reason: str


@frozen
class Reembedding:
    """The report of a re-embedding, or of its dry run.

    - `embedder`: the embedder whose vectors these are.
    - `waiting`: how many memories had no vector of it.
    - `others`: how many memories had vectors of each other embedder.
    - `embedded`: how many got theirs.
    - `failed`: those that could not be embedded.
    - `dropped`: how many vectors of other embedders were removed.
    - `seconds`: how long it took; for a dry run, how long it would, going by a sample.
    - `dry_run`: whether nothing was written.
    """

    embedder: str
    waiting: int
    others: Mapping[str, int] = field(default_factory=dict)
    embedded: int = 0
    failed: tuple[NotEmbedded, ...] = ()
    dropped: int = 0
    seconds: float = 0.0
    dry_run: bool = False


class Admin:
    """The work of operators: what is rarer than the verbs of :class:`~memorata.Engine`.

    Its own methods check, copy and tend the store. `recipes`, `feedback`, `lifecycle`, `duplicates`,
    `namespaces`, `transfer` and `idempotency` hold the methods of a subject each.
    """

    def __init__(
        self,
        runtime: Runtime,
        embedding: CurrentEmbedder,
        writer: Writer,
        purge: Purge,
        recipes: Recipes,
        recall_log: RecallLog,
        recall: Callable[..., RecallResult],
        forget: Callable[[], None],
    ) -> None:
        self.recipes = recipes
        self._runtime = runtime
        self._store = runtime.store
        self._embedding = embedding
        self._writer = writer
        self._purge = purge
        self._recall_log = recall_log
        self._recall = recall
        self._forget = forget

    # Each is loaded when it is first used: a process that recalls starts sooner.

    @cached_property
    def duplicates(self) -> DuplicateGroups:
        """Duplicates and contradictions: find, supersede, undo, resolve, …."""
        from memorata.engine.duplicates import DuplicateGroups

        return DuplicateGroups(self._runtime, self._embedding, self._writer)

    @cached_property
    def feedback(self) -> FeedbackLog:
        """Feedback on hits, and the log of recalls: record, recalls, list."""
        from memorata.engine.feedback import FeedbackLog

        return FeedbackLog(self._runtime, self._recall_log)

    @cached_property
    def idempotency(self) -> Idempotency:
        """Requests that are carried out once, however often they are sent: `once`."""
        from memorata.engine.access import Idempotency

        return Idempotency(self._runtime, self._recall_log)

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """The life of memories: maintain, consolidate, mark_used, confirm, …."""
        from memorata.engine.consolidation import Consolidation
        from memorata.engine.lifecycle import Lifecycle

        consolidation = Consolidation(self._runtime, self._embedding, self._writer)
        return Lifecycle(self._runtime, self._writer, consolidation)

    @cached_property
    def namespaces(self) -> Namespaces:
        """Several namespaces: list, recall from them at once, link, move, split, purge."""
        from memorata.engine.namespaces import Namespaces

        return Namespaces(self._runtime, self._purge, self._forget, self._recall)

    @cached_property
    def transfer(self) -> Transfer:
        """Import of records, export, and copies of a whole memory."""
        from memorata.engine.transfer import Transfer

        return Transfer(self._runtime, self._embedding, self._writer, self._purge)

    def check(self, *, repair: bool = False) -> list[str]:
        """Return what is wrong with the store, in words; with `repair`, rebuild what is derived."""
        checks.flag("repair", repair)
        outdated = outdated_words(self._store)
        problems = self._store.check(self._runtime.terms_of, repair=repair)
        if outdated and repair:
            note_words_read(self._store)
        return [outdated, *problems] if outdated else problems

    def set_trust(self, *ids: str, trusted: bool = True, namespace: str | None = None) -> None:
        """Trust memories whose source says nothing for them, or take the trust away; all or none.

        What a tool, a page or an unknown speaker said is untrusted from the start, and nothing else changes
        that. A memory that is trusted keeps its category until `update` gives it another one.

        Parameters
        ----------
        *ids
            Which memories.
        trusted
            Whether their words count like the user's from now on.
        namespace
            Whose memories; None for the engine's.
        """
        path, checked = self._runtime.path(namespace), checked_ids(ids)
        checks.flag("trusted", trusted)

        def change() -> None:
            with self._store.together():
                for memory in self._store.get(path, checked):
                    changed = replace(memory, untrusted=False) if trusted else memory.distrusted()
                    if changed != memory:
                        self._store.update(changed, memory.version, self._runtime.terms_of)

        self._runtime.run([path], change)

    def stats(self) -> Mapping[str, Any]:
        """Return how much is in the store and how large it is."""
        return self._store.statistics()

    def changes(self, since: int = 0, limit: int = 1_000) -> Sequence[Change]:
        """Return entries of the change feed after number `since`, oldest first, `limit` at most."""
        return self._store.changes(checks.whole("since", since), checks.whole("limit", limit))

    def backup(self, target: str | Path) -> None:
        """Copy the whole database to another file, while others go on using it."""
        self._store.backup(target)

    def vacuum(self) -> None:
        """Write the store anew: give back space, and erase every trace of what was purged."""
        self._store.vacuum()

    @cached_property
    def keys(self) -> ApiKeys:
        """The API keys of the store: `create`, `keys`, `revoke`."""
        from memorata.engine.access import ApiKeys

        return ApiKeys(self._store, clock=self._runtime.clock)

    def embed_pending(
        self,
        *,
        limit: int | None = None,
        batch: int = BATCH,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Reembedding:
        """Embed the memories that have no vector of the embedder yet, in every namespace.

        What cannot be embedded goes on waiting and is reported, unless nothing can be: then that is raised.

        Parameters
        ----------
        limit
            How many memories at most; None for all.
        batch
            How many in one transaction.
        progress
            Called after every transaction with how many are done and how many there are.

        Raises
        ------
        EmbedderError
            There is no embedder, or it fails whatever it is given. What was done before stays done.
        WorkUnderWay, LeaseLost
            Another is doing it, or has taken it over. What was done before stays done.
        """
        if limit is not None:
            checks.whole("limit", limit)
        checks.whole("batch", batch, 1)
        checks.function("progress", progress)
        name = self._embedding.required().name
        began = perf_counter()
        with self._runtime.leases.hold(WORK) as lease:
            waiting = self._store.count_waiting()
            total = waiting if limit is None else min(limit, waiting)
            tries = _BatchEmbedding(self._write)
            for memories in self._waiting(batch, total):
                # Without a write there would be no sign of life where nothing can be embedded.
                lease.renew()
                tries.embed(memories)
                progress(min(total, tries.embedded + len(tries.failed)), total)
            tries.end()
            while self._store.renew_codes():
                lease.renew()
        failed, seconds = tuple(tries.failed), perf_counter() - began
        return Reembedding(name, waiting, embedded=tries.embedded, failed=failed, seconds=seconds)

    def reembed(
        self,
        *,
        dry_run: bool = False,
        keep_old: bool = False,
        batch: int = BATCH,
        progress: Callable[[int, int], None] = lambda report, total: None,
    ) -> Reembedding:
        """Make the embedder of this engine the store's: embed everything, then drop the old vectors.

        It can be interrupted at any moment and run again. Searches go on meanwhile.

        Parameters
        ----------
        dry_run
            Whether to write nothing and say how many memories there are and how long it would take.
        keep_old
            Whether the vectors of other embedders stay, so that one could go back to them.
        batch
            How many memories in one transaction.
        progress
            Called after every transaction with how many are done and how many there are.

        Raises
        ------
        EmbedderError
            There is no embedder, or it fails whatever it is given. What was done before stays done.
        WorkUnderWay, LeaseLost
            Another is doing it, or has taken it over. What was done before stays done.
        """
        checks.flag("keep_old", keep_old)
        checks.function("progress", progress)
        if checks.flag("dry_run", dry_run):
            return self._estimate()
        embedder = self._embedding.required()
        # One that does not give what it promised would leave nothing waiting, and all as it was.
        self._embedding.meaning().computed([_PROBE])
        began = perf_counter()
        with self._runtime.leases.hold(WORK):
            others = self._store.other_vectors()
            report = self.embed_pending(batch=batch, progress=progress)
            specification = self._embedding.specification
            if specification is not None:
                if self._store.setting(SETTING) != specification:
                    self._store.remember_setting(SETTING, specification)
                if isinstance(embedder, Service):
                    self._store.remember_setting(DIMENSION, str(embedder.dimension))
            dropped = 0
            while not keep_old and (gone := self._store.drop_vectors(_VECTORS_PER_DROP)):
                dropped += gone
        return replace(report, others=others, dropped=dropped, seconds=perf_counter() - began)

    def _estimate(self) -> Reembedding:
        """Return what there is to do, and how long it would take, going by a sample of it."""
        name = self._embedding.required().name
        waiting = self._store.count_waiting()
        texts = [embedded_text(memory) for memory in self._store.waiting(_SAMPLE_TEXTS).memories]
        seconds = 0.0
        if texts:
            meaning = self._embedding.meaning()
            # The first text may have to wait until a model is loaded; a query does not wait for long where
            # a service is away.
            self._embedding.required().embed_query(_PROBE)
            began = perf_counter()
            meaning.computed(texts)
            seconds = (perf_counter() - began) * waiting / len(texts)
        return Reembedding(name, waiting, self._store.other_vectors(), seconds=seconds, dry_run=True)

    @property
    def notes(self) -> list[str]:
        """Notes for the user if memories here were embedded by another model."""
        if self._embedding.embedder is None or not (others := self._store.other_vectors()):
            return []
        waiting = self._store.count_waiting()
        if not waiting:
            return []
        lacking = "1 memory has" if waiting == 1 else f"{waiting:,} memories have"
        before = ", ".join(f"{count:,} of {name}" for name, count in others.items())
        try:
            time = f"in about {duration(self._estimate().seconds)}"
        except (EmbedderError, MissingExtra) as error:
            time = f"(how long it takes could not be measured: {error})"
        if (prompts := self._changed_prompts()) is not None:
            amount = "1 memory" if waiting == 1 else f"{waiting:,} memories"
            return [
                f"prompts changed {prompts}: {amount} will be embedded again by "
                f"`memorata admin reembed`, {time}; until then they are found by words only"
            ]
        return [
            f"{lacking} no vector of {self._embedding.embedder.name} and can be found by words only until "
            f"`memorata admin reembed` is done, {time}; there are vectors of another embedder: {before}"
        ]

    def _changed_prompts(self) -> str | None:
        """Return from which prompts to which the embedder changed, where nothing else of it did."""
        now, before = self._embedding.specification, self._store.setting(SETTING)
        if now is None or before is None or now == before:
            return None
        (model, prompts), (old_model, old_prompts) = split_specification(now), split_specification(before)
        return f"from {old_prompts or OWN} to {prompts or OWN}" if model == old_model else None

    def use_prompts(self, name: str) -> tuple[str, ...]:
        """Let the embedder write other prompts before texts from now on; return what will have to be done.

        `reembed` then gives memories their vectors and records the change in the store.

        - raises `EmbedderError`: there is no embedder, or it has no prompts.
        """
        embedder, specification = self._embedding.required(), self._embedding.specification
        if specification is None:
            raise EmbedderError("an embedder that was opened by a program has the prompts it was given")
        if checked_prompts(name) == OWN:
            raise EmbedderError("the model's own prompts are used again when it is opened with prompts='own'")
        changed = with_prompts(embedder, name)
        self._store.use_embedder(changed.name, changed.dimension)
        self._embedding.specification = prompted_specification(specification, name)
        # Last: another thread that sees it finds the rest in place.
        self._embedding.embedder = changed
        return tuple(self.notes)

    def _waiting(self, batch: int, total: int) -> Iterator[tuple[Memory, ...]]:
        """Yield what waits, a batch at a time, each memory once whether or not it gets its vector."""
        cursor: str | None = None
        while total > 0:
            page = self._store.waiting(min(batch, total), cursor)
            if page.memories:
                yield page.memories
            total, cursor = total - len(page.memories), page.cursor
            if cursor is None:
                return

    def _write(self, memories: tuple[Memory, ...]) -> int:
        texts = [embedded_text(memory) for memory in memories]
        keys = [(memory.namespace, address(text)) for memory, text in zip(memories, texts, strict=True)]
        cached = cached_vectors(self._store, keys)
        new = {key[1]: text for key, text in zip(keys, texts, strict=True) if key not in cached}
        fresh = dict(zip(new, self._embedding.meaning().computed(list(new.values())), strict=True))
        embedded = [
            Embedded(memory.namespace, memory.id, cached[key] if key in cached else fresh[key[1]], key[1])
            for memory, key in zip(memories, keys, strict=True)
        ]
        paths = sorted({memory.namespace for memory in memories})
        return self._runtime.run(paths, lambda: self._store.put_vectors(embedded))


class _BatchEmbedding:
    """Embeds batches; where one fails as a whole, its memories one by one."""

    def __init__(self, write: Callable[[tuple[Memory, ...]], int]) -> None:
        self._write = write
        self._in_a_row = 0
        self._last: EmbedderError | None = None
        self.embedded = 0
        self.failed: list[NotEmbedded] = []

    def embed(self, memories: tuple[Memory, ...]) -> None:
        """Embed a batch, and raise if it is not the texts that make it fail."""
        try:
            self.embedded += self._write(memories)
            self._in_a_row = 0
        except EmbedderError as error:
            if _is_unavailable(error):
                raise
            for memory in memories:
                self._embed_one(memory)

    def end(self) -> None:
        """Raise if nothing at all could be embedded."""
        if self._last is not None and not self.embedded:
            raise self._last

    def _embed_one(self, memory: Memory) -> None:
        try:
            self.embedded += self._write((memory,))
            self._in_a_row = 0
        except EmbedderError as error:
            self.failed.append(NotEmbedded(memory.namespace, memory.id, str(error)))
            self._in_a_row, self._last = self._in_a_row + 1, error
            if self._in_a_row == _MAX_FAILURES_IN_A_ROW or _is_unavailable(error):
                raise


def _is_unavailable(error: EmbedderError) -> bool:
    """Return whether an error is of the service and not of a text: each text would wait for it again."""
    return isinstance(error, ServiceUnreachable) and error.status not in _TEXT_DEPENDENT_STATUSES


def duration(seconds: float) -> str:
    """Return a duration in words."""
    for unit, name in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return "a second" if seconds < 1.5 else f"{seconds:.0f} seconds"
