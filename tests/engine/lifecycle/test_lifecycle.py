"""Maintenance says what it does, does it step by step, and can be interrupted anywhere."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata import Engine
from memorata.engine.lifecycle import STEPS
from memorata.engine.rules import LifecycleRules
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Tier

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def said(id_: str, days: float, **fields: Any) -> dict[str, Any]:
    return {"id": id_, "content": f"This is {id_}.", "created_at": NOW - timedelta(days=days), **fields}


ITEMS = [
    said("old-note", 8, tier="working"),
    said("new-note", 6, tier="working"),
    said("pinned-note", 99, tier="working", pinned=True),
    said("used-note", 99, tier="working", access_count=2),
    said("ended", 1, expires_at=NOW),
    said("episode", 300, tier="episodic"),
    said("told-often", 1, tier="episodic", mentions=3),
    said("minor", 200, importance=0.1),
    said("fact", 2000),
    said("skill", 2000, tier="procedural", importance=0.0),
]
LEFT = {
    "new-note": "working", "pinned-note": "working", "used-note": "episodic", "episode": "episodic",
    "told-often": "semantic", "minor": "episodic", "fact": "semantic", "skill": "procedural",
}  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with memorata.open(tmp_path / "m.db", embedder="lexical", clock=lambda: NOW) as opened:
        opened.remember_many(ITEMS)
        yield opened


def tiers(memory: Engine) -> dict[str, str]:
    return {each.id: each.tier.value for each in memory.list().memories}


def test_everything_is_done_and_told(memory: Engine) -> None:
    steps: list[tuple[str, int]] = []
    report = memory.admin.lifecycle.maintain(progress=lambda step, count: steps.append((step, count)))
    assert {(move.id, move.before, move.after) for move in report.promoted} == {
        ("used-note", Tier.WORKING, Tier.EPISODIC),
        ("told-often", Tier.EPISODIC, Tier.SEMANTIC),
    }
    assert [(move.id, move.after) for move in report.demoted] == [("minor", Tier.EPISODIC)]
    assert set(report.expired) == {"old-note", "ended"}
    assert report.proposed == ()
    assert steps == list(zip(STEPS, (2, 1, 2, 0), strict=True))
    assert tiers(memory) == LEFT
    assert memory.admin.check() == []


def test_a_dry_run_tells_the_same_and_does_nothing(memory: Engine) -> None:
    before = memory.list(hidden=True).memories
    would = memory.admin.lifecycle.maintain(dry_run=True)
    assert memory.list(hidden=True).memories == before
    done = memory.admin.lifecycle.maintain()
    assert would.as_dict() | {"dry_run": False} == done.as_dict()


def test_a_dry_run_tells_of_what_would_expire_because_it_sank(tmp_path: Path) -> None:
    rules = {"episodic_days": 30}
    with memorata.open(tmp_path / "m.db", embedder=None, clock=lambda: NOW, config={"life": rules}) as memory:
        memory.remember_many(ITEMS)
        told = memory.admin.lifecycle.maintain(dry_run=True)
        assert "minor" in told.expired
        assert memory.admin.lifecycle.maintain().expired == told.expired


def test_a_second_run_has_nothing_left_to_do(memory: Engine) -> None:
    memory.admin.lifecycle.maintain()
    again = memory.admin.lifecycle.maintain()
    assert (again.promoted, again.demoted, again.expired, again.proposed) == ((), (), (), ())


@pytest.mark.parametrize("step", ["promoted", "demoted", "expired"])
def test_an_interrupted_run_is_finished_by_the_next(
    memory: Engine, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    verbs = {"promoted": "update", "demoted": "update", "expired": "forget"}
    original, calls = getattr(memory.store, verbs[step]), []
    fails_at = {"promoted": 2, "demoted": 3, "expired": 1}[step]

    def failing(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == fails_at:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(memory.store, verbs[step], failing)
    with pytest.raises(KeyboardInterrupt):
        memory.admin.lifecycle.maintain()
    monkeypatch.undo()
    assert memory.admin.check() == []
    if step == "promoted":
        assert tiers(memory)["used-note"] == "working", "a step happens whole or not at all"
    memory.admin.lifecycle.maintain()
    assert tiers(memory) == LEFT


def test_what_expired_can_be_restored_and_pinned(memory: Engine) -> None:
    memory.admin.lifecycle.maintain()
    memory.restore("old-note")
    memory.admin.lifecycle.pin("old-note")
    assert memory.admin.lifecycle.maintain().expired == ()
    assert "old-note" in tiers(memory)


def test_other_rules_do_other_things(memory: Engine) -> None:
    memory.admin.lifecycle.rules = LifecycleRules(
        working_days=0, episodic_days=100, working_uses=0, episodic_mentions=0, demotion_days=0
    )
    would, report = memory.admin.lifecycle.maintain(dry_run=True), memory.admin.lifecycle.maintain()
    assert (report.promoted, report.demoted) == ((), ())
    assert set(report.expired) == set(would.expired) == {"ended", "episode"}


def test_confidence_wears_the_same_for_everybody(tmp_path: Path) -> None:
    with memorata.open(
        tmp_path / "w.db", embedder="lexical", clock=lambda: NOW, config={"life": {"confidence_loss": 0.05}}
    ) as memory:
        old = memory.remember("Anna likes tea.", confidence=0.9, created_at=NOW - timedelta(weeks=5))
        assert memory.get(old.id).confidence == 0.9
        by_now = memory.admin.lifecycle.confidence_of(memory.get(old.id))
        assert by_now == pytest.approx(0.7)
        for least, found in ((by_now, True), (by_now + 1e-9, False)):
            answer = memory.recall("what does Anna like?", recipe={"least_confidence": least})
            assert bool(answer.hits) is found
        assert memory.admin.lifecycle.confidence_of(old, now=old.created_at) == 0.9
        memory.admin.lifecycle.confirm(old.id)
        # Support starts from what is left, and the wear begins anew.
        assert memory.get(old.id).confidence == pytest.approx(0.7 + 0.1 * 0.3)
        assert memory.admin.lifecycle.confidence_of(memory.get(old.id)) == memory.get(old.id).confidence
        memory.admin.lifecycle.confirm(old.id)
        assert memory.get(old.id).confidence == pytest.approx(0.73), "once a day"
        assert (memory.get(old.id).mentions, memory.get(old.id).supported_at) == (3, NOW)
        assert memory.admin.check() == []


def test_bad_input(memory: Engine) -> None:
    with pytest.raises(InvalidArgument, match="dry_run"):
        memory.admin.lifecycle.maintain(dry_run="yes")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="memory"):
        memory.admin.lifecycle.confidence_of("m1")  # type: ignore[arg-type]
    assert memory.admin.lifecycle.maintain(namespace="nobody").expired == ()
