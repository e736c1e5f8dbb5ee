"""The verbs about what was said twice: repeats, find_duplicates, supersede_duplicates, undo_duplicates.

`remember` looks for duplicates itself (:mod:`memorata.engine.hearing`). These verbs are for what was written
before it did, or without it: they show the groups first, supersede them in a run that is written down, go on
with a run that was interrupted, and can take one back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memorata.embed.port import Embedder
from memorata.engine.ahead import ahead_of
from memorata.engine.drafts import Drafts
from memorata.engine.duplicate_modes import Duplicates
from memorata.engine.leasing import Leasing
from memorata.engine.meaning import Meaning, address
from memorata.engine.repairing import Repairing
from memorata.engine.subject_verbs import MERGED_FROM
from memorata.engine.words import embedded_text
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.identity import memory_id
from memorata.model.memory import Memory
from memorata.store.port import Entry, Store

# What finds and judges duplicates is loaded by the verbs that ask: a process that recalls starts sooner.
if TYPE_CHECKING:
    from memorata.engine.duplicate_search import DuplicateGroup, FoundDuplicates
    from memorata.engine.hearing import Heard
    from memorata.engine.likeness import Progress
    from memorata.store.repeats import Repeat, Run, Undone

_GROUPS_AT_ONCE: Final = 100
"""How many groups one transaction supersedes; a run that is killed loses those of one."""
_MERGED: Final = "merge"


class DuplicateVerbs(ABC):
    """The part of the engine that knows duplicates."""

    store: Store
    embedder: Embedder | None
    duplicates: Duplicates
    leasing: Leasing
    _clock: Callable[[], datetime]
    _drafts: Drafts
    _repairing: Repairing

    @abstractmethod
    def _meaning(self) -> Meaning:
        """Return what embeds."""

    @abstractmethod
    def _namespace(self, given: str | None) -> str:
        """Return the namespace that a call means."""

    @abstractmethod
    def _entries(self, drafts: Sequence[Memory]) -> list[Entry]:
        """Return drafts with everything that is derived from them."""

    def repeats(self, id: str, *, namespace: str | None = None) -> tuple[Repeat, ...]:
        """Return how often a memory was said again: a note for each memory that was superseded for that.

        Raises
        ------
        MemoryNotFound
            If no memory has that id.
        """
        path = self._namespace(namespace)
        self.store.get(path, [memory_id("id", id)])
        return tuple(self.store.repeats(path, of=[id]))

    def find_duplicates(
        self,
        *,
        strategy: str = "keep_highest_confidence",
        method: str | None = None,
        paraphrases: bool = False,
        namespace: str | None = None,
        progress: Progress = lambda what, done, total: None,
    ) -> FoundDuplicates:
        """Return the groups of current memories that say the same, and what would become of each.

        Nothing is written. Turns of transcripts are events of their own and are left out.

        Parameters
        ----------
        strategy
            Who stays: ``"keep_highest_confidence"``, ``"keep_most_recent"``, ``"merge"`` or ``"keep_both"``.
        method
            With `paraphrases`, ``"matrix"`` to compare all with all, ``"lsh"`` to compare candidates; None to
            choose by the number, and by how many are alike. What has the same words is looked up.
        paraphrases
            Whether other words for the same count, as far as the vectors can tell. Look before you apply.
        namespace
            Whose memories; None for the engine's.
        progress
            Told what is being done, how much of it is done, and how much there is.
        """
        from memorata.dedupe.near import is_turn
        from memorata.dedupe.strategies import STRATEGIES
        from memorata.engine.duplicate_search import DuplicateSearch
        from memorata.engine.rensa_signer import usual_signer

        checks.one_of("strategy", strategy, list(STRATEGIES))
        path, now = self._namespace(namespace), self._clock()
        search = DuplicateSearch(
            self._duplicate_threshold(),
            usual_signer(),
            method,
            strategy,
            checks.flag("paraphrases", paraphrases),
        )
        hidden = {each.memory_id for each in self.store.hidden(path)}
        current = [
            memory
            for memory in self.store.export(path)
            if memory.id not in hidden and (memory.expires_at is None or memory.expires_at > now)
        ]
        memories = [memory for memory in current if not is_turn(memory)]
        progress("reading memories", len(memories), len(memories))
        digests = [address(embedded_text(memory)) for memory in memories]
        known = self.store.cached_vectors(path, digests) if self.embedder is not None else {}
        found = search.run(memories, [known.get(digest) for digest in digests], progress)
        return replace(found, turns=len(current) - len(memories))

    def supersede_duplicates(
        self,
        groups: Sequence[DuplicateGroup],
        *,
        strategy: str = "keep_highest_confidence",
        namespace: str | None = None,
        progress: Progress = lambda what, done, total: None,
    ) -> Run:
        """Supersede what `find_duplicates` found to be said twice, and return the run, which can be undone.

        A hundred groups make a transaction. What has been superseded, forgotten or purged since is left out,
        and so is a group to be merged in which there is such a one.
        A run that was interrupted is gone on with, so that undoing it undoes all of it. One worker at a time
        does this to a namespace; another is told who does (`WorkUnderWay`).

        Parameters
        ----------
        groups
            The groups, or those of them that are wanted.
        strategy
            The strategy they were found with.
        namespace
            Whose memories; None for the engine's.
        progress
            Told how many groups are done.
        """
        from memorata.dedupe.strategies import STRATEGIES
        from memorata.engine.duplicate_search import DuplicateGroup

        checks.one_of("strategy", strategy, list(STRATEGIES))
        if not isinstance(groups, Sequence) or not all(isinstance(each, DuplicateGroup) for each in groups):
            raise InvalidArgument("groups", groups, "groups that find_duplicates found")
        path = self._namespace(namespace)
        with self.leasing.hold("duplicates", path):
            run = self.store.start_run(path, strategy, self._clock())
            for start in range(0, len(groups), _GROUPS_AT_ONCE):
                some = groups[start : start + _GROUPS_AT_ONCE]

                def supersede(some: Sequence[DuplicateGroup] = some) -> None:
                    with self.store.together():
                        hidden = {each.memory_id for each in self.store.hidden(path)}
                        for group in some:
                            self._supersede(path, group, run.number, hidden)

                joined = [
                    self._drafts.draft(group.content, path, _taken_over([group.keep, *group.repeats]))
                    for group in some
                    if group.content != group.keep.content
                ]
                with ahead_of(self._meaning(), joined):
                    self._repairing.run([path], supersede)
                progress("superseding", min(start + _GROUPS_AT_ONCE, len(groups)), len(groups))
            self.store.finish_run(path, run.number, self._clock())
        return next(each for each in self.store.runs(path) if each.number == run.number)

    def duplicate_runs(self, *, namespace: str | None = None) -> tuple[Run, ...]:
        """Return the runs that superseded duplicates, the latest first."""
        return tuple(self.store.runs(self._namespace(namespace)))

    def undo_duplicates(self, run: int | None = None, *, namespace: str | None = None) -> Undone:
        """Take a run back: what it superseded is current again, and what it merged is forgotten.

        Parameters
        ----------
        run
            The number of the run; None for the latest that was not undone.
        namespace
            Whose memories; None for the engine's.
        """
        path = self._namespace(namespace)
        if run is None:
            run = next((each.number for each in self.store.runs(path) if each.undone_at is None), None)
            if run is None:
                raise InvalidArgument(
                    "run", run, "the number of a run to undo, and none is left: see duplicate_runs"
                )
        number = checks.whole("run", run)

        def undo() -> Undone:
            now = self._clock()
            with self.store.together():
                merged = {note.of for note in self.store.repeats(path, run=number) if note.kind == _MERGED}
                undone = self.store.undo_run(path, number, now, self._repairing.words_of)
                # What was corrected since was believed until then, and is in the place of its sources.
                merged -= {str(each.superseded_by) for each in undone.left}
                self.store.forget(path, sorted(merged), now)
            return undone

        return self._repairing.run([path], undo)

    # --- inside ---------------------------------------------------------------------------------------

    def _duplicate_threshold(self) -> float:
        from memorata.dedupe.near import duplicate_cosine

        return duplicate_cosine(0.0 if self.embedder is None else self.embedder.similarity_threshold)

    def _heard(self, entries: Sequence[Entry], mode: Duplicates) -> Heard:
        from memorata.engine.hearing import Hearing

        noise = 0.0 if self.embedder is None else self.embedder.similarity_threshold
        hearing = Hearing(self.store, self._duplicate_threshold(), noise, self._repairing.words_of)
        paths = sorted({entry.memory.namespace for entry in entries})
        return self._repairing.run(paths, lambda: hearing.take(entries, mode, self._clock()))

    def _supersede(self, path: str, group: DuplicateGroup, run: int, hidden: set[str]) -> None:
        """Supersede the repeats of a group that still are what they were."""
        wanted = [group.keep.id, *(each.id for each in group.repeats)]
        there = self.store.known([(path, id_) for id_ in wanted])
        current = {
            memory.id: memory
            for memory in self.store.get(path, [id_ for id_ in wanted if (path, id_) in there])
            if memory.id not in hidden
        }
        keep = current.get(group.keep.id)
        repeats = [
            current[each.id] for each in group.repeats if each.id in current and not current[each.id].pinned
        ]
        if keep is None or not repeats:
            return
        now, kind, losers = self._clock(), group.kind, repeats
        if group.content != keep.content:
            if len(repeats) < len(group.repeats) or keep.pinned:
                # What was joined holds the words of one that is gone, hidden or pinned by now.
                return
            kind, losers = _MERGED, [keep, *repeats]
            keep = self._drafts.draft(group.content, path, _taken_over(losers))
            self.store.add(self._entries([keep]))
        notes = _notes(keep, losers, kind, group, now, run)
        self.store.repeat(path, notes, self._repairing.words_of)
        hidden.update(each.id for each in losers)


def _notes(
    keep: Memory, losers: Sequence[Memory], kind: str, group: DuplicateGroup, now: datetime, run: int
) -> list[Repeat]:
    """Return the notes of a group, oldest first: each repeat supports what stays, at most once a day."""
    from memorata.rank.confidence import SUPPORT_INTERVAL, corroborated
    from memorata.store.repeats import Repeat

    reasons = {each.id: reason for each, reason in zip(group.repeats, group.reasons, strict=True)}
    correction, merged = kind == "correction", kind == _MERGED
    sure = keep.confidence if correction else max(keep.confidence, *(each.confidence for each in losers))
    said = sorted(losers, key=lambda memory: memory.created_at)
    latest = min(keep.created_at, said[0].created_at)
    notes = []
    for each in said:
        support = None
        # What a correction sets right does not speak for it.
        if not correction and each.created_at - latest >= SUPPORT_INTERVAL:
            sure, latest = corroborated(sure, latest, each.created_at), each.created_at
            support = latest
        reason = reasons.get(each.id, "It was merged with what says the same.")
        # What was merged has the mentions of all of them from the start.
        mentions = 0 if correction or merged else each.mentions
        notes.append(Repeat(each.id, keep.id, kind, reason, now, mentions, sure, support, run))
    return notes


def _taken_over(sources: Sequence[Memory]) -> dict[str, object]:
    """Return what a merged memory has from those it joins, the surest first, and which those are."""
    keep = sources[0]
    names = ("category", "tier", "confidence", "importance", "source", "valid_from", "valid_to")
    ends = [each.expires_at for each in sources if each.expires_at is not None]
    return {name: getattr(keep, name) for name in names} | {
        "tags": tuple(dict.fromkeys(tag for each in sources for tag in each.tags)),
        "entities": tuple(dict.fromkeys(name for each in sources for name in each.entities)),
        "place": next((each.place for each in sources if each.place is not None), None),
        "mentions": sum(each.mentions for each in sources),
        # It lasts as long as any of them would have.
        "expires_at": max(ends) if len(ends) == len(sources) else None,
        "metadata": {**keep.metadata, MERGED_FROM: [each.id for each in sources]},
    }
