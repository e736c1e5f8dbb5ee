"""What held when, and what was believed about it, equals a plain model after anything was done to chains.

The model keeps links and computes every end when it is asked; the store keeps ends and has to move them.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

import memorata
from memorata.model.errors import InvalidArgument
from memorata.store.dialects import SqliteStore
from memorata.store.memory.repeats import Repeat

START = datetime(2026, 5, 7, tzinfo=UTC)
HERE = "default"


@dataclass
class Known:
    """What the model knows of a memory; `follows` says whether what took its place gives it an end."""

    slot: int
    created: datetime
    since: datetime | None
    own_end: datetime | None
    winner: str | None = None
    superseded: datetime | None = None
    follows: bool = False
    forgotten: bool = False

    @property
    def began(self) -> datetime:
        return self.since or self.created


@dataclass
class Chains:
    """All memories, and the notes of repeats: who, of whom, and by which run."""

    known: dict[str, Known] = field(default_factory=dict)
    notes: list[tuple[str, str, int]] = field(default_factory=list)

    def end(self, each: Known, as_of: datetime | None = None) -> datetime | None:
        if each.own_end is not None or not each.follows or not _before(each, as_of):
            return each.own_end
        first, at = datetime.max.replace(tzinfo=UTC), each
        while at.winner is not None and _before(at, as_of):
            newer = self.known[at.winner]
            if at is not each and newer.slot < at.slot:
                break
            first, at = min(first, newer.began), newer
        return first if each.since is None else max(first, each.since)

    def shown(self, each: Known, as_of: datetime | None, true_at: datetime | None) -> bool:
        if each.forgotten or (as_of is not None and each.created > as_of):
            return False
        current = each.superseded is None or (as_of is not None and each.superseded > as_of)
        if true_at is None:
            return current
        end = self.end(each, as_of)
        return each.began <= true_at and (current if end is None else true_at < end)

    def supersede(self, loser: str, winner: str, at: datetime) -> None:
        each = self.known[loser]
        each.winner, each.superseded = winner, at
        each.follows = self.known[winner].slot > each.slot

    def reinstate(self, each: Known) -> None:
        each.winner, each.superseded, each.follows = None, None, False

    def purge(self, id_: str) -> None:
        gone = self.known.pop(id_)
        self.notes = [note for note in self.notes if id_ not in note[:2]]
        for each in self.known.values():
            if each.winner != id_:
                continue
            each.winner = gone.winner
            if gone.winner is None:
                self.reinstate(each)
            elif self.known[gone.winner].slot > each.slot and each.own_end is None:
                each.follows = True

    def undo(self, run: int) -> None:
        for note in [each for each in reversed(self.notes) if each[2] == run]:
            loser, winner = self.known[note[0]], self.known[note[1]]
            if winner.winner is None and loser.winner == note[1]:
                self.reinstate(loser)
                self.notes.remove(note)


def _before(each: Known, as_of: datetime | None) -> bool:
    return each.superseded is not None and (as_of is None or each.superseded <= as_of)


def _step(memory: memorata.Engine, chains: Chains, chance: Random, now: datetime, number: int) -> None:
    """Do anything to the store and to the model."""
    ids = list(chains.known)
    current = [id_ for id_ in ids if chains.known[id_].winner is None]

    def day() -> datetime | None:
        return START + timedelta(days=chance.randint(-20, 90)) if chance.random() < 0.4 else None

    what = chance.choice(["say", "correct", "repeat", "undo", "begin", "end", "purge", "forget"])
    if what in ("say", "correct") or len(current) < 2:
        since, end = day(), day()
        end = None if end is None or end <= (since or now) else end
        older = chance.sample(current, 1) if what == "correct" and current else []
        id_ = f"m{number}"
        memory.remember("tea", id=id_, valid_from=since, valid_to=end, supersedes=tuple(older))
        chains.known[id_] = Known(number, now, since, end)
        for old in older:
            chains.supersede(old, id_, now)
    elif what == "repeat":
        loser, winner = chance.sample(current, 2)
        run = memory.store.duplicates.start_run(HERE, "keep_both", now).number
        memory.store.duplicates.repeat(HERE, [Repeat(loser, winner, "near", "r", now, run=run)])
        chains.supersede(loser, winner, now)
        chains.notes.append((loser, winner, run))
    elif what == "undo" and any(run.undone_at is None for run in memory.admin.duplicates.runs()):
        run = next(run.number for run in memory.admin.duplicates.runs() if run.undone_at is None)
        memory.store.duplicates.undo_run(HERE, run, now)
        chains.undo(run)
    elif what in ("begin", "end"):
        id_ = chance.choice(ids)
        moment, before = day(), memory.get(id_)
        try:
            if what == "begin":
                memory.update(id_, valid_from=moment)
                chains.known[id_].since = moment
            elif moment is not None and moment != before.valid_to:
                memory.update(id_, valid_to=moment)
                chains.known[id_].own_end = moment
        except InvalidArgument:
            assert memory.get(id_) == before
    elif what == "purge":
        gone = chance.choice(ids)
        memory.store.purge(HERE, [gone])
        chains.purge(gone)
    elif what == "forget":
        id_ = chance.choice(ids)
        memory.forget(id_)
        chains.known[id_].forgotten = True


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_held_and_was_believed_is_what_a_plain_model_says(chance: Random) -> None:
    now, chains = START, Chains()
    with memorata.open(
        ":memory:", embedder=None, clock=lambda: now, config={"duplicates": "off", "extractor": None}
    ) as memory:
        for number in range(25):
            now += timedelta(days=chance.randint(0, 5), seconds=1)
            _step(memory, chains, chance, now, number)
            for id_, each in chains.known.items():
                kept = memory.get(id_)
                assert (kept.superseded_by, kept.valid_to) == (each.winner, chains.end(each))
            for _ in range(4):
                as_of, true_at = (
                    START + timedelta(days=chance.randint(-25, 130)) if chance.random() < 0.7 else None
                    for _ in range(2)
                )
                with memory.store.view(HERE, now, as_of=as_of, true_at=true_at) as view:
                    expected = {
                        id_ for id_, each in chains.known.items() if chains.shown(each, as_of, true_at)
                    }
                    assert view.status.count == len(expected)
        assert memory.admin.check() == []
        target = SqliteStore(":memory:")
        assert memory.admin.transfer.copy(target).differing == ()
        target.close()
