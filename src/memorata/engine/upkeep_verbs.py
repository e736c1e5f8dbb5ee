"""The verb that keeps a store in order: maintain. Nothing runs by itself; this is what a job calls.

Each step is one transaction, and none depends on how far an earlier run came: whatever is interrupted is done
by the next run. Nothing is removed: what has had its time is forgotten, and `restore` brings it back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from memorata._frozen import frozen
from memorata.engine.consolidating_verbs import WORK, ConsolidatingVerbs, Proposal
from memorata.model import checks
from memorata.model.memory import Memory, Tier

if TYPE_CHECKING:
    from memorata.engine.summarising import Writer

_AT_ONCE: Final = 500
STEPS: Final = ("promote", "demote", "expire", "summarise")
"""What `maintain` does, in this order: what was used enough to be promoted is not expired before."""
_NEVER: Final = 2**62
"""More uses than any memory has."""


@frozen
class Move:
    """A memory that goes from one tier to another."""

    id: str
    before: Tier
    after: Tier


@frozen
class Upkeep:
    """What was done, or with `dry_run` would be.

    Attributes
    ----------
    namespace, dry_run
        Whose memories, and whether nothing was changed.
    promoted, demoted
        Memories that changed their tier.
    expired
        The ids of memories that had had their time, and are forgotten now.
    proposed
        Summaries that wait to be accepted; those of a dry run are made of the tiers as they are.
    """

    namespace: str
    dry_run: bool
    promoted: tuple[Move, ...] = ()
    demoted: tuple[Move, ...] = ()
    expired: tuple[str, ...] = ()
    proposed: tuple[Proposal, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return this as plain data, for JSON."""
        moves = {
            name: [{"id": each.id, "from": each.before.value, "to": each.after.value} for each in found]
            for name, found in (("promoted", self.promoted), ("demoted", self.demoted))
        }
        proposed = [
            {"id": each.summary.id, "content": each.summary.content, "sources": list(each.sources)}
            for each in self.proposed
        ]
        return {
            "namespace": self.namespace,
            "dry_run": self.dry_run,
            **moves,
            "expired": list(self.expired),
            "proposed": proposed,
        }


class UpkeepVerbs(ConsolidatingVerbs):
    """The part of the engine that looks after what is there."""

    def maintain(
        self,
        *,
        dry_run: bool = False,
        writer: Writer | None = None,
        progress: Callable[[str, int], None] = lambda step, count: None,
        namespace: str | None = None,
    ) -> Upkeep:
        """Promote, demote, expire and summarise by the rules of `life`, and say what was done.

        Pinned memories are left alone. An expired memory is forgotten, not removed. One worker at a time does
        this to a namespace, unless it is a dry run. Afterwards the indexes are made that large namespaces are
        searched by and that are missing; see :meth:`~memorata.Engine.index`.

        Parameters
        ----------
        dry_run
            Whether only to say what would be done.
        writer
            Who writes summaries; see :meth:`consolidate`.
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
        path = self._namespace(namespace)
        if dry_run:
            return self._maintained(path, writer, progress, dry_run=True)
        with self.leasing.hold(WORK, path) as held:

            def told(step: str, count: int) -> None:
                held.renew()
                progress(step, count)

            done = self._maintained(path, writer, told, dry_run=False)
            if made := self._index_unless_another_does():
                told("index", made)
            return done

    @abstractmethod
    def _index_unless_another_does(self) -> int:
        """Make the indexes that are missing, and return how many."""

    def _maintained(
        self, path: str, writer: Writer | None, progress: Callable[[str, int], None], *, dry_run: bool
    ) -> Upkeep:
        now = self._clock()
        done: dict[str, Any] = {}
        for name, step in (("promoted", self._promote), ("demoted", self._demote), ("expired", self._expire)):
            done[name] = self._repairing.run([path], lambda step=step: step(path, now, dry_run))  # type: ignore[misc]
            progress(STEPS[len(done) - 1], len(done[name]))
        done["proposed"] = self.consolidate(dry_run=dry_run, writer=writer, namespace=path)
        progress(STEPS[-1], len(done["proposed"]))
        return Upkeep(path, dry_run, **done)

    def _promote(self, path: str, now: datetime, dry_run: bool) -> tuple[Move, ...]:
        rules = self.life
        working = {"access_count": {">=": rules.working_uses or _NEVER}}
        episodic = [
            {"access_count": {">=": rules.episodic_uses or _NEVER}},
            {"mentions": {">=": rules.episodic_mentions or _NEVER}},
        ]
        wanted = {"or": [{"tier": "working", **working}, {"tier": "episodic", "or": episodic}]}
        return self._move(path, wanted, now, dry_run)

    def _demote(self, path: str, now: datetime, dry_run: bool) -> tuple[Move, ...]:
        wanted = {"tier": "semantic", "importance": {"<": self.life.demotion_importance}, "access_count": 0}
        return self._move(path, wanted, now, dry_run) if self.life.demotion_days else ()

    def _move(self, path: str, wanted: Mapping[str, Any], now: datetime, dry_run: bool) -> tuple[Move, ...]:
        with nullcontext() if dry_run else self.store.together():
            moves = [
                Move(memory.id, memory.tier, after)
                for memory in self._unpinned(path, wanted)
                if (after := self.life.next_tier(memory, now)) is not memory.tier
            ]
            for move in () if dry_run else moves:
                self.change(move.id, tier=move.after, namespace=path)
        return tuple(moves)

    def _expire(self, path: str, now: datetime, dry_run: bool) -> tuple[str, ...]:
        rules = self.life
        ways: list[dict[str, Any]] = [{"expires_at": {"<=": now}}]
        for tier, days in (("working", rules.working_days), ("episodic", rules.episodic_days)):
            if days:
                # What a dry run would have moved is still of the tier below or above.
                tiers = ["working", "episodic", "semantic"] if tier == "episodic" and dry_run else [tier]
                ways.append({"tier": {"in": tiers}, "created_at": {"<": now - timedelta(days=days)}})
        with nullcontext() if dry_run else self.store.together():
            spent = [
                memory.id
                for memory in self._unpinned(path, {"or": ways})
                if rules.is_spent(self._as_moved(memory, now) if dry_run else memory, now)
            ]
            if not dry_run:
                self.store.forget(path, spent, now)
        return tuple(spent)

    def _as_moved(self, memory: Memory, now: datetime) -> Memory:
        return replace(memory, tier=self.life.next_tier(memory, now))

    def _unpinned(self, path: str, wanted: Mapping[str, Any]) -> Iterator[Memory]:
        from memorata.store.filters import parse

        condition = parse({"pinned": False, "and": [dict(wanted)]})
        cursor: str | None = None
        while True:
            page = self.store.page(path, condition, _AT_ONCE, cursor, hidden=False)
            yield from page.memories
            cursor = page.cursor
            if cursor is None:
                return
