"""The facet `duplicates`: duplicates and contradictions among stored memories.

`remember` looks for duplicates itself (:mod:`memorata.engine.write.deduplication`). These verbs are for what
was written before it did, or without it: they show the groups first, supersede them in a run that is written
down, go on with a run that was interrupted, and can take one back.

`remember` also notes what a new memory may contradict; a correction supersedes what it surely contradicts.
The rest waits for a decision of a user, a program or a language model. A decision is stored with its author
and its reason; only then does the newer memory supersede the older one. All can be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memorata.engine.embedding import CurrentEmbedder, address
from memorata.engine.runtime import Runtime
from memorata.engine.write.purge import MERGED_FROM
from memorata.engine.write.terms import embedded_text
from memorata.engine.write.writer import Writer
from memorata.model import checks
from memorata.model.checks import memory_id
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory

if TYPE_CHECKING:
    from memorata.engine.duplicate_search import DuplicateGroup, FoundDuplicates, Progress
    from memorata.store.memory.repeats import Contradiction, Repeat, Run, Undone

Judge = Callable[[Sequence[tuple[Memory, Memory]]], Sequence[tuple[bool | None, str]]]
"""Decides which of some pairs, the older memory first, contradict each other, and says why."""

_GROUPS_PER_TRANSACTION: Final = 100
"""How many groups one transaction supersedes; a run that is killed loses those of one."""
_MERGED: Final = "merge"
_CONTRADICTS: Final = "contradicts"
_COMPATIBLE: Final = "compatible"


class DuplicateGroups:
    """The facet `duplicates` of an engine."""

    def __init__(self, runtime: Runtime, embedding: CurrentEmbedder, writer: Writer) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._embedding = embedding
        self._writer = writer

    def repeats(self, id: str, *, namespace: str | None = None) -> tuple[Repeat, ...]:
        """Return the repeats of a memory: a note for each memory that was superseded as one.

        Raises
        ------
        MemoryNotFound
            If no memory has that id.
        """
        path = self._runtime.path(namespace)
        self._store.get(path, [memory_id("id", id)])
        return tuple(self._store.duplicates.repeats(path, of=[id]))

    def find(
        self,
        *,
        strategy: str = "keep_highest_confidence",
        paraphrases: bool = False,
        namespace: str | None = None,
        progress: Progress = lambda what, done, total: None,
    ) -> FoundDuplicates:
        """Return the groups of current memories that say the same, and what would become of each.

        Nothing is written. Turns of transcripts are events of their own and are left out.

        Parameters
        ----------
        strategy
            What stays: ``"keep_highest_confidence"``, ``"keep_most_recent"``, ``"merge"`` or ``"keep_both"``.
        paraphrases
            Whether other words for the same count, as far as the vectors can tell. Look before you apply.
        namespace
            Whose memories; None for the engine's.
        progress
            Called with the step, how much of it is done, and how much there is.
        """
        from memorata.dedupe.decisions import STRATEGIES
        from memorata.dedupe.verification import is_turn
        from memorata.engine.duplicate_search import DuplicateSearch

        checks.one_of("strategy", strategy, list(STRATEGIES))
        path, now = self._runtime.path(namespace), self._runtime.clock()
        search = DuplicateSearch(
            self._duplicate_threshold(), strategy, checks.flag("paraphrases", paraphrases)
        )
        checks.function("progress", progress)
        hidden = {mark.memory_id for mark in self._store.hidden(path)}
        current = [
            memory
            for memory in self._store.export(path)
            if memory.id not in hidden and (memory.expires_at is None or memory.expires_at > now)
        ]
        memories = [memory for memory in current if not is_turn(memory)]
        progress("reading memories", len(memories), len(memories))
        digests = [address(embedded_text(memory)) for memory in memories]
        vectors = self._store.cached_vectors(path, digests) if self._embedding.embedder is not None else {}
        groups = search.run(memories, [vectors.get(digest) for digest in digests], progress)
        return replace(groups, turns=len(current) - len(memories))

    def supersede(
        self,
        groups: Sequence[DuplicateGroup],
        *,
        strategy: str = "keep_highest_confidence",
        namespace: str | None = None,
        progress: Progress = lambda what, done, total: None,
    ) -> Run:
        """Supersede the duplicates that `find` returned, and return the run, which can be undone.

        A hundred groups make a transaction. What has been superseded, forgotten or purged since is left out,
        and so is a group to be merged in which there is such a one.
        A run that was interrupted is gone on with, so that undoing it undoes all of it. One worker at a time
        does this to a namespace; for another it raises `WorkUnderWay`.

        Parameters
        ----------
        groups
            The groups, or those of them that are wanted.
        strategy
            The strategy they were found with.
        namespace
            Whose memories; None for the engine's.
        progress
            Called with how many groups are done.
        """
        from memorata.dedupe.decisions import STRATEGIES
        from memorata.engine.duplicate_search import DuplicateGroup

        checks.one_of("strategy", strategy, list(STRATEGIES))
        checks.function("progress", progress)
        if not isinstance(groups, Sequence) or not all(isinstance(group, DuplicateGroup) for group in groups):
            raise InvalidArgument("groups", groups, "groups that duplicates.find found")
        path = self._runtime.path(namespace)
        with self._runtime.leases.hold("duplicates", path):
            run = self._store.duplicates.start_run(path, strategy, self._runtime.clock())
            for start in range(0, len(groups), _GROUPS_PER_TRANSACTION):
                batch = groups[start : start + _GROUPS_PER_TRANSACTION]

                def supersede(batch: Sequence[DuplicateGroup] = batch) -> None:
                    with self._store.together():
                        hidden = {mark.memory_id for mark in self._store.hidden(path)}
                        for group in batch:
                            self._supersede(path, group, run.number, hidden)

                joined = [
                    self._writer.drafts.draft(
                        group.content, path, _merged_fields([group.keep, *group.repeats])
                    )
                    for group in batch
                    if group.content != group.keep.content
                ]
                with self._embedding.before(joined):
                    self._runtime.run([path], supersede)
                progress("superseding", min(start + _GROUPS_PER_TRANSACTION, len(groups)), len(groups))
            self._store.duplicates.finish_run(path, run.number, self._runtime.clock())
        return next(saved for saved in self._store.duplicates.runs(path) if saved.number == run.number)

    def runs(self, *, namespace: str | None = None) -> tuple[Run, ...]:
        """Return the runs that superseded duplicates, the latest first."""
        return tuple(self._store.duplicates.runs(self._runtime.path(namespace)))

    def undo(self, run: int | None = None, *, namespace: str | None = None) -> Undone:
        """Take a run back: what it superseded is current again, and what it merged is forgotten.

        Parameters
        ----------
        run
            The number of the run; None for the latest that was not undone.
        namespace
            Whose memories; None for the engine's.
        """
        path = self._runtime.path(namespace)
        if run is None:
            undoable = [past.number for past in self._store.duplicates.runs(path) if past.undone_at is None]
            if not undoable:
                expected = "the number of a run to undo, and none is left: see duplicates.runs"
                raise InvalidArgument("run", run, expected)
            run = undoable[0]
        number = checks.whole("run", run)

        def undo() -> Undone:
            now = self._runtime.clock()
            with self._store.together():
                merged = {
                    note.of
                    for note in self._store.duplicates.repeats(path, run=number)
                    if note.kind == _MERGED
                }
                undone = self._store.duplicates.undo_run(path, number, now, self._runtime.terms_of)
                # What was corrected since was believed until then, and is in the place of its sources.
                merged -= {str(superseded.superseded_by) for superseded in undone.left}
                self._store.forget(path, sorted(merged), now)
            return undone

        return self._runtime.run([path], undo)

    def reinstate(self, id: str, *, namespace: str | None = None) -> Memory:
        """Take back that a memory was superseded: it is current again, beside what took its place.

        For a correction that was none, a decision that was wrong, or a repeat that is something else.

        Parameters
        ----------
        id
            The superseded memory; what superseded it must be current.
        namespace
            Whose memories; None for the engine's.
        """
        path = self._runtime.path(namespace)
        superseded = memory_id("id", id)
        return self._runtime.run(
            [path], lambda: self._store.duplicates.reinstate(path, superseded, self._runtime.terms_of)
        )

    def contradictions(
        self, id: str | None = None, *, resolved: bool = False, namespace: str | None = None
    ) -> tuple[Contradiction, ...]:
        """Return which memories may contradict each other, in the order in which it was noticed.

        Parameters
        ----------
        id
            Only those of this memory; None for all.
        resolved
            Also what was decided, and what is between memories that are hidden by now.
        namespace
            Whose memories; None for the engine's.
        """
        path = self._runtime.path(namespace)
        if id is not None:
            self._store.get(path, [memory_id("id", id)])
        return tuple(self._store.contradictions.list(path, id=id, settled=checks.flag("resolved", resolved)))

    def resolve_contradiction(
        self,
        newer: str,
        older: str,
        *,
        contradicts: bool,
        because: str,
        by: str = "",
        namespace: str | None = None,
    ) -> Contradiction:
        """Decide about a noted contradiction, and return it with the decision.

        Parameters
        ----------
        newer, older
            The ids of the two memories.
        contradicts
            Whether they do; then the newer one supersedes the older one, which held until that began.
        because
            Why; it is kept.
        by
            The author of the decision.
        namespace
            Whose memories; None for the engine's.
        """
        checks.flag("contradicts", contradicts)
        if not checks.writable("because", because).strip():
            raise InvalidArgument("because", because, "a reason in words")
        checks.writable("by", by)
        path = self._runtime.path(namespace)
        pair = (memory_id("newer", newer), memory_id("older", older))

        def decide() -> Contradiction:
            with self._store.together():
                open_ = {
                    (noted.newer, noted.older): noted for noted in self._store.contradictions.list(path)
                }.get(pair)
                if open_ is None:
                    raise InvalidArgument(
                        "newer, older", pair, "a pair that is noted and open, as contradictions lists them"
                    )
                decided = replace(
                    open_,
                    verdict=_CONTRADICTS if contradicts else _COMPATIBLE,
                    decided_by=self._runtime.clean_text(by),
                    decided_because=self._runtime.clean_text(because),
                    decided_at=self._runtime.clock(),
                )
                self._store.contradictions.settle(path, decided)
            return decided

        return self._runtime.run([path], decide)

    def resolve_contradictions(
        self, judge: Judge, *, by: str, limit: int = 100, namespace: str | None = None
    ) -> tuple[Contradiction, ...]:
        """Let a function decide about open contradictions, and return its decisions.

        A verdict of None leaves a pair open. So does a decision that was made meanwhile, and one that would
        supersede a pinned memory.

        Parameters
        ----------
        judge
            A function of a list of pairs (the older memory, the newer one). It returns for each whether they
            contradict each other, or None, and a reason.
        by
            The author of the decisions, such as the name of a model.
        limit
            The largest number of pairs.
        namespace
            Whose memories; None for the engine's.
        """
        path = self._runtime.path(namespace)
        if not callable(judge):
            raise InvalidArgument("judge", judge, "a function of pairs of memories")
        open_ = self._store.contradictions.list(path)[: checks.whole("limit", limit)]
        pairs = [
            (self._store.get(path, [noted.older])[0], self._store.get(path, [noted.newer])[0])
            for noted in open_
        ]
        decided = []
        for noted, (older, _), (contradicts, reason) in zip(open_, pairs, judge(pairs), strict=True):
            if contradicts is None or (contradicts and older.pinned):
                continue
            if noted in self._store.contradictions.list(path, id=noted.newer):
                decided.append(
                    self.resolve_contradiction(
                        noted.newer,
                        noted.older,
                        contradicts=contradicts,
                        because=reason,
                        by=by,
                        namespace=path,
                    )
                )
        return tuple(decided)

    def _duplicate_threshold(self) -> float:
        embedder = self._embedding.embedder
        return self._runtime.dedupe.cosine(0.0 if embedder is None else embedder.similarity_threshold)

    def _supersede(self, path: str, group: DuplicateGroup, run: int, hidden: set[str]) -> None:
        """Supersede the repeats of a group that still are what they were."""
        ids = [group.keep.id, *(memory.id for memory in group.repeats)]
        existing = self._store.known([(path, id_) for id_ in ids])
        current = {
            memory.id: memory
            for memory in self._store.get(path, [id_ for id_ in ids if (path, id_) in existing])
            if memory.id not in hidden
        }
        keep = current.get(group.keep.id)
        repeats = [
            current[memory.id]
            for memory in group.repeats
            if memory.id in current and not current[memory.id].pinned
        ]
        if keep is None or not repeats:
            return
        now, kind, losers = self._runtime.clock(), group.kind, repeats
        if group.content != keep.content:
            if len(repeats) < len(group.repeats) or keep.pinned:
                # What was joined holds the words of one that is gone, hidden or pinned by now.
                return
            kind, losers = _MERGED, [keep, *repeats]
            keep = self._writer.drafts.draft(group.content, path, _merged_fields(losers))
            self._store.add(self._writer.entries([keep]))
        notes = _notes(keep, losers, kind, group, now, run)
        self._store.duplicates.repeat(path, notes, self._runtime.terms_of)
        hidden.update(memory.id for memory in losers)


def _notes(
    keep: Memory, losers: Sequence[Memory], kind: str, group: DuplicateGroup, now: datetime, run: int
) -> list[Repeat]:
    """Return the notes of a group, oldest first: each repeat supports what stays, at most once a day."""
    from memorata.rank.decay import SUPPORT_INTERVAL, corroborated
    from memorata.store.memory.repeats import Repeat

    reasons = {repeat.id: reason for repeat, reason in zip(group.repeats, group.reasons, strict=True)}
    correction, merged = kind == "correction", kind == _MERGED
    confidence = (
        keep.confidence if correction else max(keep.confidence, *(repeat.confidence for repeat in losers))
    )
    repeats = sorted(losers, key=lambda memory: memory.created_at)
    latest = min(keep.created_at, repeats[0].created_at)
    notes = []
    for repeat in repeats:
        support = None
        # What a correction sets right does not speak for it.
        if not correction and repeat.created_at - latest >= SUPPORT_INTERVAL:
            confidence, latest = corroborated(confidence, latest, repeat.created_at), repeat.created_at
            support = latest
        reason = reasons.get(repeat.id, "It was merged with what says the same.")
        # What was merged has the mentions of all of them from the start.
        mentions = 0 if correction or merged else repeat.mentions
        notes.append(Repeat(repeat.id, keep.id, kind, reason, now, mentions, confidence, support, run))
    return notes


def _merged_fields(sources: Sequence[Memory]) -> dict[str, object]:
    """Return what a merged memory has from those it joins, the surest first, and which those are."""
    keep = sources[0]
    names = (
        "category", "tier", "confidence", "importance", "untrusted", "source", "valid_from", "valid_to",
    )  # fmt: skip
    ends = [source.expires_at for source in sources if source.expires_at is not None]
    return {name: getattr(keep, name) for name in names} | {
        "tags": tuple(dict.fromkeys(tag for source in sources for tag in source.tags)),
        "entities": tuple(dict.fromkeys(name for source in sources for name in source.entities)),
        "place": next((source.place for source in sources if source.place is not None), None),
        "mentions": sum(source.mentions for source in sources),
        # It lasts as long as any of them would have.
        "expires_at": max(ends) if len(ends) == len(sources) else None,
        "metadata": {**keep.metadata, MERGED_FROM: [source.id for source in sources]},
    }
