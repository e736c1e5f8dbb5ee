"""The facet `lifecycle`: what is kept, confirmed, promoted, expired and summarised.

`maintain` keeps a namespace in order. Nothing runs by itself; this is what a job calls. Each step is one
transaction, and none depends on how far an earlier run came: whatever is interrupted is done by the next run.
Nothing is removed: what has had its time is forgotten, and `restore` brings it back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from memorata._frozen import frozen
from memorata.engine.consolidation import STATES, WORK, Consolidation, Proposal
from memorata.engine.rules import LifecycleRules
from memorata.engine.runtime import Runtime
from memorata.engine.write.purge import all_memories, checked_ids
from memorata.engine.write.writer import Writer as MemoryWriter
from memorata.model import checks
from memorata.model.errors import InvalidArgument, PurgeUnfinished
from memorata.model.memory import Memory, Tier
from memorata.rank.decay import corroborated
from memorata.store.filters import parse

if TYPE_CHECKING:
    from memorata.engine.consolidation import Writer

STEPS: Final = ("promote", "demote", "expire", "summarise")
"""What `maintain` does, in this order: what was used enough to be promoted is not expired before."""
_UNREACHABLE_COUNT: Final = 2**62
"""More uses than any memory has."""
_DAY: Final = timedelta(days=1)


_LOG: Final = logging.getLogger(__name__)


@frozen
class TierChange:
    """A memory that goes from one tier to another."""

    id: str
    before: Tier
    after: Tier


@frozen
class MaintenanceReport:
    """What was done, or with `dry_run` would be.

    - `namespace`, `dry_run`: whose memories, and whether nothing was changed.
    - `promoted`, `demoted`: memories that changed their tier.
    - `expired`: the ids of memories that had had their time, and are forgotten now.
    - `proposed`: summaries that wait to be accepted; those of a dry run are made of the tiers as they are.
    """

    namespace: str
    dry_run: bool
    promoted: tuple[TierChange, ...] = ()
    demoted: tuple[TierChange, ...] = ()
    expired: tuple[str, ...] = ()
    proposed: tuple[Proposal, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return this as plain data, for JSON."""
        moves = {
            name: [{"id": move.id, "from": move.before.value, "to": move.after.value} for move in moved]
            for name, moved in (("promoted", self.promoted), ("demoted", self.demoted))
        }
        proposed = [
            {"id": made.summary.id, "content": made.summary.content, "sources": list(made.sources)}
            for made in self.proposed
        ]
        rest = {"expired": list(self.expired), "proposed": proposed}
        return {"namespace": self.namespace, "dry_run": self.dry_run, **moves, **rest}


class Lifecycle:
    """The facet `lifecycle` of an engine."""

    def __init__(
        self,
        runtime: Runtime,
        writer: MemoryWriter,
        consolidation: Consolidation,
    ) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._writer = writer
        self._consolidation = consolidation

    @property
    def rules(self) -> LifecycleRules:
        """The rules by which memories live; they may be replaced."""
        return self._runtime.rules

    @rules.setter
    def rules(self, rules: LifecycleRules) -> None:
        self._runtime.rules = rules

    def maintain(
        self,
        *,
        dry_run: bool = False,
        writer: Writer | None = None,
        progress: Callable[[str, int], None] = lambda step, count: None,
        namespace: str | None = None,
    ) -> MaintenanceReport:
        """Promote, demote, expire and summarise by the rules of `life`, and say what was done.

        Pinned memories are left alone. An expired memory is forgotten, not removed. One worker at a time does
        this to a namespace, unless it is a dry run.

        Parameters
        ----------
        dry_run
            Whether only to say what would be done.
        writer
            What writes summaries; see :meth:`consolidate`.
        progress
            Called after each step with its name and how many memories it concerned.
        namespace
            Whose memories; None for the engine's.

        Raises
        ------
        WorkUnderWay
            Another is doing it.
        LeaseLost
            Another has taken it over; what was done until then stays.
        """
        checks.flag("dry_run", dry_run)
        checks.function("progress", progress)
        path = self._runtime.path(namespace)
        if dry_run:
            return self._maintained(path, writer, progress, dry_run=True)
        with self._runtime.leases.hold(WORK, path) as lease:

            def report(step: str, count: int) -> None:
                lease.renew()
                progress(step, count)

            maintained = self._maintained(path, writer, report, dry_run=False)
            self._finish_purge()
            # Left by an embedding that was interrupted.
            while self._store.renew_codes():
                lease.renew()
            return maintained

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
            What writes the summaries; None for central sentences, verbatim. Where another writer fails, those
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
        checks.flag("dry_run", dry_run)
        return self._consolidation.run(self._runtime.path(namespace), dry_run=dry_run, writer=writer)

    def summaries(self, *, state: str = "open", namespace: str | None = None) -> tuple[Proposal, ...]:
        """Return the summaries that are ``"open"`` (they wait), or were ``"accepted"`` or ``"rejected"``."""
        checks.one_of("state", state, STATES)
        return self._consolidation.summaries(self._runtime.path(namespace), state)

    def accept_summary(self, *ids: str, namespace: str | None = None) -> None:
        """Let proposed summaries be memories like others; those they were made from stay."""
        self._consolidation.decide(self._runtime.path(namespace), ids, "accepted")

    def reject_summary(self, *ids: str, namespace: str | None = None) -> None:
        """Leave proposed summaries hidden for good; the same memories are not summarised again."""
        self._consolidation.decide(self._runtime.path(namespace), ids, "rejected")

    def pin(self, *ids: str, namespace: str | None = None) -> None:
        """Keep memories: they do not fade and no upkeep touches them; an expiry they had is taken away."""
        self._all_or_none(ids, namespace, pinned=True, expires_at=None)

    def unpin(self, *ids: str, namespace: str | None = None) -> None:
        """Let memories live as others do again."""
        self._all_or_none(ids, namespace, pinned=False)

    def mark_used(self, *ids: str, namespace: str | None = None) -> None:
        """Say that memories were of use, which makes them last and count more.

        Recall and list never say so by themselves: that something was shown does not mean that it helped.
        """
        path, checked, now = self._runtime.path(namespace), checked_ids(ids), self._runtime.clock()
        self._runtime.run([path], lambda: self._store.use(path, checked, now))

    def confirm(self, *ids: str, namespace: str | None = None) -> None:
        """Say that memories are true, still or again: each grows a tenth surer of what doubt is left.

        A confidence grows at most once a day, from what it is by now (:meth:`confidence_of`).
        """
        path, checked, now = self._runtime.path(namespace), checked_ids(ids), self._runtime.clock()

        def grow() -> None:
            with self._store.together():
                for id_ in checked:
                    (memory,) = self._store.get(path, [id_])
                    last = memory.supported_at or memory.created_at
                    grown = corroborated(self.rules.confidence(memory, now), last, now)
                    counts = now - last >= _DAY
                    self._store.update(
                        replace(
                            memory,
                            mentions=memory.mentions + 1,
                            confidence=grown if counts else memory.confidence,
                            supported_at=now if counts else memory.supported_at,
                        ),
                        memory.version,
                    )

        self._runtime.run([path], grow)

    def confidence_of(self, memory: Memory, *, now: checks.Instant | None = None) -> float:
        """Return how sure a memory is by now, as every recall counts it; `memory.confidence` is as written.

        The two differ only if confidence wears (`life.confidence_loss`).
        """
        if not isinstance(memory, Memory):
            raise InvalidArgument("memory", memory, "a Memory")
        return self.rules.confidence(
            memory, self._runtime.clock() if now is None else checks.instant("now", now)
        )

    def _all_or_none(self, ids: Sequence[str], namespace: str | None, **fields: Any) -> None:  # noqa: ANN401
        path = self._runtime.path(namespace)

        def change() -> None:
            with self._store.together():
                for id_ in checked_ids(ids):
                    self._writer.update(path, id_, fields)

        self._runtime.run([path], change)

    def _finish_purge(self) -> None:
        """Erase what a purge had to leave because of others; if they are still there, the next one does."""
        store = self._runtime.store
        if not store.statistics().get("unfinished_purge"):
            return
        try:
            store.vacuum()
        except PurgeUnfinished as error:
            _LOG.warning("%s", error)

    def _maintained(
        self, path: str, writer: Writer | None, progress: Callable[[str, int], None], *, dry_run: bool
    ) -> MaintenanceReport:
        now = self._runtime.clock()
        results: dict[str, Any] = {}
        for name, step in (("promoted", self._promote), ("demoted", self._demote), ("expired", self._expire)):
            results[name] = self._runtime.run([path], lambda step=step: step(path, now, dry_run))  # type: ignore[misc]
            progress(STEPS[len(results) - 1], len(results[name]))
        results["proposed"] = self._consolidation.run(path, dry_run=dry_run, writer=writer)
        progress(STEPS[-1], len(results["proposed"]))
        return MaintenanceReport(path, dry_run, **results)

    def _promote(self, path: str, now: datetime, dry_run: bool) -> tuple[TierChange, ...]:
        rules = self.rules
        working = {"access_count": {">=": rules.working_uses or _UNREACHABLE_COUNT}}
        episodic = [
            {"access_count": {">=": rules.episodic_uses or _UNREACHABLE_COUNT}},
            {"mentions": {">=": rules.episodic_mentions or _UNREACHABLE_COUNT}},
        ]
        conditions = {"or": [{"tier": "working", **working}, {"tier": "episodic", "or": episodic}]}
        return self._move(path, conditions, now, dry_run)

    def _demote(self, path: str, now: datetime, dry_run: bool) -> tuple[TierChange, ...]:
        conditions = {
            "tier": "semantic",
            "importance": {"<": self.rules.demotion_importance},
            "access_count": 0,
        }
        return self._move(path, conditions, now, dry_run) if self.rules.demotion_days else ()

    def _move(
        self, path: str, conditions: Mapping[str, Any], now: datetime, dry_run: bool
    ) -> tuple[TierChange, ...]:
        with nullcontext() if dry_run else self._store.together():
            moves = [
                TierChange(memory.id, memory.tier, after)
                for memory in self._unpinned(path, conditions)
                if (after := self.rules.next_tier(memory, now)) is not memory.tier
            ]
            for move in () if dry_run else moves:
                self._writer.update(path, move.id, {"tier": move.after})
        return tuple(moves)

    def _expire(self, path: str, now: datetime, dry_run: bool) -> tuple[str, ...]:
        rules = self.rules
        ways: list[dict[str, Any]] = [{"expires_at": {"<=": now}}]
        for tier, days in (("working", rules.working_days), ("episodic", rules.episodic_days)):
            if days:
                # What a dry run would have moved is still of the tier below or above.
                tiers = ["working", "episodic", "semantic"] if tier == "episodic" and dry_run else [tier]
                ways.append({"tier": {"in": tiers}, "created_at": {"<": now - timedelta(days=days)}})
        with nullcontext() if dry_run else self._store.together():
            spent = [
                memory.id
                for memory in self._unpinned(path, {"or": ways})
                if rules.is_spent(
                    replace(memory, tier=rules.next_tier(memory, now)) if dry_run else memory, now
                )
            ]
            if not dry_run:
                self._store.forget(path, spent, now)
        return tuple(spent)

    def _unpinned(self, path: str, conditions: Mapping[str, Any]) -> Iterator[Memory]:
        condition = parse({"pinned": False, "and": [dict(conditions)]})
        return all_memories(self._store, path, condition, hidden=False)
