"""Clearing up what was written before: show, supersede, go on, take back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memorata
from memorata.engine import Engine
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.model.query import When

START = datetime(2026, 5, 7, 12, tzinfo=UTC)
JAPAN = (
    "Anna likes the green tea from Japan",
    "Anna likes green tea from Japan a lot",
    "Anna likes the green tea from Japan a lot",
)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(
        ":memory:", embedder="lexical", clock=lambda: START, config={"duplicates": "off"}
    ) as engine:
        yield engine


def state(memory: Engine) -> dict[str, object]:
    return {
        each.id: (each.content, each.superseded_by, each.supersedes, each.mentions, each.confidence,
                  each.valid_to, each.supported_at)
        for each in memory.store.export(None)
    }  # fmt: skip


def said(memory: Engine, *days: int, confidence: float = 0.5) -> list[str]:
    items = [
        {"content": "Anna likes tea", "created_at": START + timedelta(days=day), "confidence": confidence}
        for day in days
    ]
    return [each.id for each in memory.remember_many(items)]


def test_a_run_supersedes_supports_and_is_taken_back(memory: Engine) -> None:
    first, second, third = said(memory, 0, 0, 3)
    before = state(memory)
    found = memory.admin.duplicates.find()
    assert state(memory) == before
    run = memory.admin.duplicates.supersede(found.groups)
    assert (run.repeats, run.finished_at, run.undone_at) == (2, START, None)
    kept = memory.get(third)
    # It was said on two days: once is the claim, once is support.
    assert (kept.mentions, kept.supersedes) == (3, (first, second))
    assert [each.id for each in memory.list().memories] == [third]
    assert memory.admin.check() == []
    assert memory.admin.duplicates.find().groups == ()
    undone = memory.admin.duplicates.undo()
    assert {each.id for each in undone.reinstated} == {first, second}
    assert state(memory) == before
    assert memory.admin.check() == []
    with pytest.raises(InvalidArgument, match="run"):
        memory.admin.duplicates.undo()
    assert memory.admin.duplicates.runs()[0].undone_at == START


def test_support_of_other_days_raises_the_confidence(memory: Engine) -> None:
    said(memory, 0, 2, 2, 4)
    memory.admin.duplicates.supersede(memory.admin.duplicates.find().groups)
    (kept,) = memory.list().memories
    # Days 2 and 4 support what was said on day 0: 0.5, 0.55. The one that stays is of day 4 itself.
    assert round(kept.confidence, 6) == 0.55


def test_a_merge_is_a_new_memory_and_undoing_forgets_it(memory: Engine) -> None:
    one, two = memory.remember_many(JAPAN[:2])
    found = memory.admin.duplicates.find(strategy="merge")
    memory.admin.duplicates.supersede(found.groups, strategy="merge")
    (merged,) = memory.list().memories
    assert merged.content == f"{one.content}\n{two.content}"
    # Each of the two was said once.
    assert (merged.mentions, set(merged.supersedes)) == (2, {one.id, two.id})
    assert [hit.memory.id for hit in memory.recall("green tea")] == [merged.id]
    memory.admin.duplicates.undo()
    assert {each.id for each in memory.list().memories} == {one.id, two.id}
    assert memory.admin.check() == []


def test_a_merged_memory_is_found_by_whatever_those_it_joins_were_found_by(memory: Engine) -> None:
    here = {"lat": 35.7, "lon": 139.7}
    memory.remember(JAPAN[0], tags=["drinks", "tea"], confidence=0.9, mentions=3)
    memory.remember(JAPAN[1], tags=["tea", "trips"], entities=["Uji"], place=here)
    memory.admin.duplicates.supersede(memory.admin.duplicates.find(strategy="merge").groups, strategy="merge")
    (merged,) = memory.list().memories
    assert (merged.mentions, merged.confidence) == (4, 1.0)
    assert set(merged.tags) == {"drinks", "tea", "trips"}
    assert {"Anna", "Uji"} <= set(merged.entities)
    assert merged.place == memorata.Place(35.7, 139.7)


def test_a_merged_memory_lasts_as_long_as_any_of_those_it_joins(memory: Engine) -> None:
    soon, later = (START + timedelta(days=number) for number in (1, 2))
    for whose, ends, last in (("a", (soon, later), later), ("b", (None, later), None)):
        for text, end in zip(JAPAN[:2], ends, strict=True):
            memory.remember(text, expires_at=end, valid_to=later, namespace=whose)
        groups = memory.admin.duplicates.find(strategy="merge", namespace=whose).groups
        memory.admin.duplicates.supersede(groups, strategy="merge", namespace=whose)
        (merged,) = memory.list(namespace=whose).memories
        assert (merged.expires_at, merged.valid_to) == (last, later)


def test_undoing_takes_back_what_was_taken_over(memory: Engine) -> None:
    first = memory.remember("Bob sails.", tags=["sea"], confidence=0.9)
    other = memory.remember("bob sails", tags=["boats"], confidence=0.8)
    memory.admin.duplicates.supersede(memory.admin.duplicates.find().groups)
    assert memory.get(first.id).tags == ("sea", "boats")
    memory.admin.duplicates.undo()
    assert [memory.get(each.id).tags for each in (first, other)] == [("sea",), ("boats",)]
    assert memory.admin.check() == []


def test_a_merge_that_was_corrected_since_is_not_forgotten_when_its_run_is_undone() -> None:
    today = START
    with memorata.open(
        ":memory:", embedder="lexical", clock=lambda: today, config={"duplicates": "off"}
    ) as memory:
        memory.remember_many(JAPAN[:2])
        memory.admin.duplicates.supersede(
            memory.admin.duplicates.find(strategy="merge").groups, strategy="merge"
        )
        (merged,) = memory.list().memories
        today = START + timedelta(days=2)
        memory.correct(merged.id, "Anna likes black tea from Ceylon.")
        assert memory.admin.duplicates.undo().reinstated == ()
        # What was believed before the correction is what it was.
        before = memory.recall("green tea", when=When(as_of=START + timedelta(days=1))).hits
        assert [hit.memory.id for hit in before] == [merged.id]


def test_nothing_is_merged_with_what_was_pinned_after_it_was_found(memory: Engine) -> None:
    memory.remember_many(JAPAN[:2])
    (group,) = memory.admin.duplicates.find(strategy="merge").groups
    for pinned in (group.keep.id, group.repeats[0].id):
        memory.admin.lifecycle.pin(pinned)
        assert memory.admin.duplicates.supersede([group], strategy="merge").repeats == 0
        memory.admin.lifecycle.unpin(pinned)
    assert memory.admin.duplicates.supersede([group], strategy="merge").repeats == 2


def test_a_merged_memory_is_purged_with_any_of_those_it_joins(memory: Engine) -> None:
    one, two = memory.remember_many(JAPAN[:2])
    groups = memory.admin.duplicates.find(strategy="merge").groups
    assert [group.content != group.keep.content for group in groups] == [True]
    memory.admin.duplicates.supersede(groups, strategy="merge")
    memory.admin.duplicates.undo()
    memory.admin.duplicates.supersede(memory.admin.duplicates.find(strategy="merge").groups, strategy="merge")
    memory.purge(one.id)
    assert [each.id for each in memory.store.export(None)] == [two.id]
    assert [each.id for each in memory.list().memories] == [two.id]
    assert memory.admin.check() == []


def test_nothing_is_merged_with_what_was_purged_after_it_was_found(memory: Engine) -> None:
    memory.remember_many(JAPAN)
    (group,) = memory.admin.duplicates.find(strategy="merge").groups
    assert len(group.repeats) == 2
    memory.purge(group.repeats[1].id)
    assert memory.admin.duplicates.supersede([group], strategy="merge").repeats == 0
    assert {each.id for each in memory.store.export(None)} == {group.keep.id, group.repeats[0].id}


def test_what_has_changed_since_is_left_out(memory: Engine) -> None:
    ids = said(memory, 0, 1, 2, 3)
    found = memory.admin.duplicates.find()
    memory.forget(ids[0])
    memory.purge(ids[1])
    assert memory.admin.duplicates.supersede(found.groups).repeats == 1
    memory.restore(ids[0])
    memory.forget(ids[3])
    assert memory.admin.duplicates.supersede(found.groups).repeats == 0


def test_turns_forgotten_and_expired_memories_are_not_compared(memory: Engine) -> None:
    memory.remember("Yes.")
    memory.remember("Yes.", source={"speaker": "Anna", "session": "s", "position": 1})
    memory.remember("Yes.", expires_at=START - timedelta(days=1))
    memory.forget(memory.remember("Yes.").id)
    memory.remember("Yes.", namespace="elsewhere")
    assert memory.admin.duplicates.find().compared == 1


def test_an_interrupted_run_is_gone_on_with(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorata.engine.duplicates._GROUPS_PER_TRANSACTION", 1)
    memory.remember_many([text for text in ("tea", "milk", "beer") for _ in range(2)])

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.admin.duplicates.supersede(memory.admin.duplicates.find().groups, progress=stop)
    (half,) = memory.admin.duplicates.runs()
    assert (half.finished_at, half.repeats) == (None, 1)
    whole = memory.admin.duplicates.supersede(memory.admin.duplicates.find().groups)
    assert (whole.number, whole.repeats) == (half.number, 3)
    assert len(memory.admin.duplicates.undo(whole.number).reinstated) == 3


def test_bad_arguments_are_refused(memory: Engine) -> None:
    memory.remember("tea")
    for call in (
        lambda: memory.admin.duplicates.find(strategy="x"),
        lambda: memory.admin.duplicates.find(paraphrases=1),  # type: ignore[arg-type]
        lambda: memory.admin.duplicates.supersede([], strategy="x"),
        lambda: memory.admin.duplicates.undo(7),
        lambda: memory.admin.duplicates.undo(-1),
        lambda: memory.admin.duplicates.repeats(""),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_repeats_of_what_nobody_said_are_not_simply_none(memory: Engine) -> None:
    tea = memory.remember("tea")
    assert memory.admin.duplicates.repeats(tea.id) == ()
    for id_, namespace in (("nobody", None), (tea.id, "elsewhere")):
        with pytest.raises(MemoryNotFound):
            memory.admin.duplicates.repeats(id_, namespace=namespace)


def test_an_export_comes_back_as_it_was(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "one.db", embedder="lexical", clock=lambda: START) as one:
        first = one.remember("Anna likes tea")
        one.remember("anna likes tea")
        one.remember("tea", duplicates="off")
        one.remember("tea", duplicates="off")
        one.admin.duplicates.supersede(one.admin.duplicates.find().groups)
        rows = list(one.store.export(None))
        hidden = one.store.hidden("default")
        with memorata.open(tmp_path / "two.db", embedder="lexical", clock=lambda: START) as two:
            two.admin.transfer.import_records(rows, hidden={"default": hidden})
            assert [each.superseded_by for each in two.store.export(None)] == [
                each.superseded_by for each in rows
            ]
            assert two.store.hidden("default") == hidden
            assert state(two) == state(one)
            assert [each.id for each in two.history(first.id)] == [each.id for each in one.history(first.id)]
            assert two.admin.check() == []


def test_only_groups_are_superseded(memory: Engine) -> None:
    for groups in (3, "ab", ["a"], None):
        with pytest.raises(InvalidArgument, match="groups"):
            memory.admin.duplicates.supersede(groups)  # type: ignore[arg-type]
    assert memory.admin.duplicates.runs() == ()
