"""The verbs that make one lasting memory of many passing ones: consolidate, summaries, accept and reject.

Episodes on one theme become a proposed summary, as sleep is thought to make knowledge of episodes
(McClelland, McNaughton and O'Reilly, 1995). A proposal is a memory that is hidden until somebody accepts it;
the memories that it was made from stay as they are, and it names them.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.ahead import ahead_of
from memorata.engine.changing_verbs import ChangingVerbs
from memorata.engine.leasing import Leasing
from memorata.engine.meaning import Meaning
from memorata.engine.subject_verbs import SUMMARY_OF, SubjectVerbs, sources_of
from memorata.index.record import TIERS, visible
from memorata.model import checks
from memorata.model.errors import EmbeddingServiceError, InvalidArgument
from memorata.model.identity import memory_id
from memorata.model.memory import Memory, Tier
from memorata.store.port import Floats, View
from memorata.text.analysers import Analyser
from memorata.text.folding import folded

if TYPE_CHECKING:
    from memorata.engine.summarising import Writer

STATE: Final = "proposal"
"""The key of the metadata in which a summary says what became of it."""
STATES: Final = ("open", "accepted", "rejected")
WORK: Final = "maintain"
"""The kind of work that this is: one worker at a time does it to a namespace."""
_MOST: Final = 5_000
"""How many episodes are looked at in one run, the oldest first."""
_MOST_SOURCES: Final = 50
_AT_ONCE: Final = 500
_DAY: Final = 86_400.0
_LOG: Final = logging.getLogger(__name__)


@frozen
class Proposal:
    """A summary that could stand for several memories, and the ids of those."""

    summary: Memory
    sources: tuple[str, ...]


class ConsolidatingVerbs(ChangingVerbs, SubjectVerbs):
    """The part of the engine that proposes summaries."""

    analyser: Analyser
    leasing: Leasing

    @abstractmethod
    def _meaning(self) -> Meaning:
        """Return what measures meaning."""

    @abstractmethod
    def remember_many(
        self, items: Iterable[Memory | Mapping[str, Any] | str], *, verbatim: bool = False
    ) -> list[Memory]:
        """Remember many things."""

    def consolidate(
        self, *, dry_run: bool = False, writer: Writer | None = None, namespace: str | None = None
    ) -> tuple[Proposal, ...]:
        """Propose summaries of episodic memories that are about one thing.

        Looks at episodes that are old enough (`life.summary_days`) and in no summary yet. What is proposed is
        hidden until :meth:`accept_summary`; each proposal is written in a transaction of its own, so that an
        interrupted run is simply run again.

        Parameters
        ----------
        dry_run
            Whether only to say what would be proposed.
        writer
            Who writes the summaries; None for central sentences, verbatim. Where another writer fails, those
            are taken, and the log says why.
        namespace
            Whose memories; None for the engine's.

        Raises
        ------
        WorkUnderWay
            Another is doing it, or maintains the namespace.
        LeaseLost
            Another has taken it over; what was proposed until then stays.
        """
        from memorata.engine.summarising import Writer

        checks.flag("dry_run", dry_run)
        if writer is not None and not isinstance(writer, Writer):
            raise InvalidArgument("writer", writer, "an object with a name and write")
        path, now = self._namespace(namespace), self._clock()
        if dry_run:
            return tuple(
                Proposal(self._summary(group, writer, path), tuple(memory.id for memory in group))
                for group in self._repairing.run([path], lambda: self._themes(path, now))
            )
        proposals = []
        with self.leasing.hold(WORK, path) as held:
            for group in self._repairing.run([path], lambda: self._themes(path, now)):
                # A language model may take its time.
                held.renew()
                draft = self._summary(group, writer, path)
                with ahead_of(self._meaning(), [draft]), self.store.together():
                    (draft,) = self.remember_many([draft], verbatim=True)
                    self.store.forget(path, [draft.id], now)
                proposals.append(Proposal(draft, tuple(memory.id for memory in group)))
        return tuple(proposals)

    def summaries(self, *, state: str = "open", namespace: str | None = None) -> tuple[Proposal, ...]:
        """Return the summaries that are ``"open"`` (they wait), or were ``"accepted"`` or ``"rejected"``."""
        checks.one_of("state", state, STATES)
        found = [
            summary
            for summary in self._every_summary(self._namespace(namespace))
            if summary.metadata.get(STATE) == state and sources_of(summary)
        ]
        return tuple(Proposal(summary, tuple(summary.metadata[SUMMARY_OF])) for summary in reversed(found))

    def accept_summary(self, *ids: str, namespace: str | None = None) -> None:
        """Let proposed summaries be memories like others; those they were made from stay."""
        self._decide(ids, "accepted", namespace)

    def reject_summary(self, *ids: str, namespace: str | None = None) -> None:
        """Leave proposed summaries hidden for good; the same memories are not summarised again."""
        self._decide(ids, "rejected", namespace)

    def _decide(self, ids: Sequence[str], state: str, namespace: str | None) -> None:
        path, now = self._namespace(namespace), self._clock()

        def decide() -> None:
            with self.store.together():
                for id_ in ids:
                    (summary,) = self.store.get(path, [memory_id("id", id_)])
                    if summary.metadata.get(STATE) not in STATES:
                        raise InvalidArgument(
                            "id", id_, "that of a proposed summary, as summaries lists them"
                        )
                    self.change(id_, metadata={**summary.metadata, STATE: state}, namespace=path)
                    if state == "accepted":
                        self.store.restore(path, [id_])
                    else:
                        self.store.forget(path, [id_], now)

        self._repairing.run([path], decide)

    def _themes(self, path: str, now: datetime) -> list[list[Memory]]:
        """Return groups of episodes on one theme, each in the order in which it happened."""
        from memorata.engine.themes import themes

        done = {source for summary in self._every_summary(path) for source in sources_of(summary)}
        with self.store.view(path, now) as view:
            episodes, vectors = self._episodes(view, path, now, done)
        names = [frozenset(folded(name) for name in memory.entities) for memory in episodes]
        groups = themes(vectors, names, self._meaning().threshold, self.life.summary_sources)
        return [
            sorted(
                (episodes[position] for position in group.tolist()),
                key=lambda memory: (memory.event_time, memory.id),
            )[:_MOST_SOURCES]
            for group in groups
        ]

    def _episodes(self, view: View, path: str, now: datetime, done: set[str]) -> tuple[list[Memory], Floats]:
        slots = np.arange(self.store.graph_news(path, 0).slots)
        records = view.records(slots)
        old = records["created"] <= now.timestamp() - self.life.summary_days * _DAY
        episodic = records["tier"] == TIERS.index(Tier.EPISODIC.value)
        wanted = slots[visible(records, now.timestamp()) & old & episodic]
        kept: list[Memory] = []
        at: list[int] = []
        for start in range(0, wanted.size, _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            for slot, memory in zip(some.tolist(), view.memories(some), strict=True):
                if memory.id not in done and len(kept) < _MOST:
                    kept.append(memory)
                    at.append(slot)
        return kept, view.vectors(np.array(at, np.intp))

    def _frequencies(self, path: str, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        with self.store.view(path, self._clock()) as view:
            return view.document_frequencies(words)

    def _summary(self, group: Sequence[Memory], writer: Writer | None, path: str) -> Memory:
        from memorata.engine.summarising import SentenceWriter, headed

        plain = SentenceWriter(self.analyser.tokens, partial(self._frequencies, path))
        by = writer or plain
        try:
            text = by.write(group, self.life.summary_sentences)
        except EmbeddingServiceError as error:
            _LOG.warning("a summary in %s is made of sentences: %s", path, error)
            by, text = plain, plain.write(group, self.life.summary_sentences)
        details = {
            "category": "summary",
            "tier": Tier.SEMANTIC,
            "confidence": min(memory.confidence for memory in group),
            "importance": max(memory.importance for memory in group),
            "valid_from": min(memory.event_time for memory in group),
            "metadata": {
                SUMMARY_OF: [memory.id for memory in group],
                "summarised_by": by.name,
                STATE: "open",
            },
        }
        return self._drafts.draft(headed(group, text), path, details)
