"""The importer: a chunk comes in whole, with what is hidden of it, or not at all."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.cli.importer import Importer, Tally
from recollect.exchange.record import Record

AT = "2026-05-07T00:00:00+00:00"


@pytest.fixture
def engine() -> Iterator[recollect.Engine]:
    with recollect.open(":memory:", embedder="lexical") as opened:
        yield opened


def taken(engine: recollect.Engine, *rows: dict[str, Any], dry_run: bool = False) -> Tally:
    tally = Tally()
    records = (Record(number, row) for number, row in enumerate(rows, 1))
    assert list(Importer(engine, tally, None, dry_run=dry_run).take("x.jsonl", records))[-1:] == [len(rows)]
    return tally


TEA = {"id": "tea", "content": "Anna likes tea", "created_at": AT, "forgotten_at": AT}
MILK = {"id": "milk", "content": "Anna likes milk", "created_at": AT}


def test_what_was_forgotten_is_never_seen_not_even_for_a_moment(
    engine: recollect.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def cut_off(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(engine.store, "hide", cut_off)
        with pytest.raises(KeyboardInterrupt):
            taken(engine, MILK, TEA)
    assert engine.list(hidden=True).memories == ()
    assert taken(engine, MILK, TEA).imported == 2
    assert [memory.id for memory in engine.list().memories] == ["milk"]
    assert engine.check() == []


def test_what_somebody_has_restored_since_stays_so(engine: recollect.Engine) -> None:
    taken(engine, TEA)
    engine.restore("tea")
    again = taken(engine, TEA)
    assert (again.imported, again.known) == (0, 1)
    assert [memory.id for memory in engine.list().memories] == ["tea"]


def test_a_dry_run_counts_and_writes_nothing(engine: recollect.Engine) -> None:
    assert taken(engine, TEA, MILK, dry_run=True).imported == 2
    assert engine.list(hidden=True).memories == ()


def test_what_was_not_exported_is_read_for_names(engine: recollect.Engine) -> None:
    taken(engine, {"content": "Anna Smith likes tea", "id": "read"})
    taken(engine, {"content": "Anna Smith likes tea", "id": "given", "entities": []})
    assert engine.get("read").entities == ("Anna Smith",)
    assert engine.get("given").entities == ()


def test_skipped_and_broken_records_are_told_apart_with_their_places(engine: recollect.Engine) -> None:
    tally = Tally()
    records = [Record(1, skipped="empty", where="part 1"), Record(2, problem="broken"), Record(3, MILK)]
    assert list(Importer(engine, tally, "ada", dry_run=False).take("x", iter(records))) == [3]
    assert tally.skipped == [{"file": "x", "line": 1, "where": "part 1", "reason": "empty"}]
    assert tally.problems == [{"file": "x", "line": 2, "where": "line 2", "problem": "broken"}]
    assert engine.get("milk", namespace="ada").content == "Anna likes milk"
