"""The log: on unless switched off, bounded, written in batches, and silent where things are tried out."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.engine.recall import log as log_module
from memorata.engine.recall.log import BATCH_SIZE, Logging
from memorata.model.errors import StoreError
from memorata.store.dialects import SqliteStore
from memorata.store.logged_recall import LogBounds
from memorata_graph import Graph

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def opened(path: Path | str = ":memory:", **options: object) -> Engine:
    engine = open_engine(path, embedder="lexical", clock=lambda: NOW, config={"logging": Logging(**options)})  # type: ignore[arg-type]
    engine.remember_many(["Anna prefers green tea", "Bob sails"])
    return engine


def count(engine: Engine) -> int:
    """Return how many recalls are in the database already."""
    found = cast("SqliteStore", engine.store)._connection.execute("SELECT count(*) FROM recalls").fetchone()
    return int(found[0])


def test_a_recall_is_logged_with_all_that_was_asked_for() -> None:
    with opened() as engine:
        answer = engine.recall("green tea?", recipe={"base": "fast", "vector_weight": 0.25}, limit=1)
        assert answer.id
        assert count(engine) == 0
        (found,) = engine.admin.feedback.recalls()
        assert count(engine) == 1
        assert (found.id, found.namespace, found.query, found.at) == (answer.id, "default", "green tea?", NOW)
        assert (found.recipe["name"], found.recipe["vector_weight"]) == ("fast", 0.25)
        assert [found.ids[place] for place in found.shown] == [answer.hits[0].memory.id]
        assert set(found.milliseconds) == {"reading", "embedding", "search"}
        assert found.embedder == answer.embedder


def test_ids_are_of_their_own_and_answers_compare_without_them() -> None:
    with opened() as engine:
        one, two = engine.recall("tea"), engine.recall("tea")
        assert one.id != two.id
        assert one == two


def test_the_log_can_be_switched_off_and_questions_left_out() -> None:
    with opened(recalls=False) as engine:
        assert engine.recall("tea").id == ""
        assert engine.admin.feedback.recalls() == []
    with opened(queries=False) as engine:
        engine.recall("a secret")
        assert [each.query for each in engine.admin.feedback.recalls()] == [None]


def test_nothing_found_is_logged_too() -> None:
    with opened() as engine:
        engine.recall("zzz", limit=0)
        engine.forget(*(memory.id for memory in engine.list().memories))
        engine.recall("tea")
        assert [len(each.ids) for each in engine.admin.feedback.recalls()] == [0, 2]


def test_a_full_batch_is_written_by_the_recall_that_fills_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "BATCH_SIZE", 3)
    with opened() as engine:
        seen = []
        for _ in range(4):
            engine.recall("tea")
            seen.append(count(engine))
        assert seen == [0, 0, 3, 3]
    assert BATCH_SIZE == 128


def test_what_has_waited_long_is_written_by_the_next_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 5.0, 11.0, 11.0])
    monkeypatch.setattr(log_module, "monotonic", lambda: next(ticks))
    with opened() as engine:
        seen = []
        for _ in range(3):
            engine.recall("tea")
            seen.append(count(engine))
        assert seen == [0, 0, 3]
        monkeypatch.setattr(log_module, "monotonic", lambda: 0.0)


def test_closing_writes_what_waits(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as engine:
        engine.recall("tea")
    with opened(tmp_path / "m.db") as engine:
        assert [each.query for each in engine.admin.feedback.recalls()] == ["tea"]


def test_the_bounds_are_kept() -> None:
    with opened(bounds=LogBounds(recalls=2)) as engine:
        for number in range(4):
            engine.recall(f"tea {number}")
        assert [each.query for each in engine.admin.feedback.recalls()] == ["tea 3", "tea 2"]


def test_a_busy_database_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "BATCH_SIZE", 2)
    monkeypatch.setattr(log_module, "_MAX_HELD", 3)
    with opened(tmp_path / "m.db") as engine:
        with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for _ in range(5):
                assert engine.recall("tea").hits
            other.execute("ROLLBACK")
        assert engine.recall_log.lost == 2
        assert len(engine.admin.feedback.recalls()) == 3


def test_a_file_that_cannot_be_written_is_still_recalled_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "BATCH_SIZE", 2)
    with opened(tmp_path / "m.db") as engine:
        cast("SqliteStore", engine.store)._connection.execute("PRAGMA query_only = ON")
        for _ in range(3):
            assert engine.recall("tea").hits
        assert count(engine) == 0


def test_no_error_of_the_store_comes_between_a_question_and_its_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_module, "BATCH_SIZE", 2)
    with opened() as engine:
        tries: list[int] = []

        def fail(entries: Sequence[object], *_: object, **__: object) -> None:
            tries.append(len(entries))
            raise StoreError("something that nobody thought of")

        with monkeypatch.context() as broken:
            broken.setattr(engine.store.recalls, "log", fail)
            for _ in range(5):
                assert engine.recall("tea").hits
        # Columns of all that wait are made for every attempt, so there is one, and the next after a while.
        assert tries == [2]
        assert len(engine.admin.feedback.recalls()) == 5


def test_an_error_that_nobody_foresaw_on_the_thread_of_a_server_is_told_of_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(log_module, "BATCH_SIZE", 2)
    with opened() as engine:
        engine.recall_log.write_apart()
        tried = threading.Event()

        def fail(*_: object, **__: object) -> None:
            tried.set()
            raise ZeroDivisionError

        with monkeypatch.context() as broken:
            broken.setattr(engine.store.recalls, "log", fail)
            for _ in range(5):
                assert engine.recall("tea").hits
            assert tried.wait(30)
            # The next waits for the same thread.
            engine.recall_log._apart.submit(lambda: None).result(30)  # type: ignore[union-attr]
        told = [record for record in caplog.records if record.exc_info is not None]
        # How often it was tried until then depends on the threads.
        assert {record.message for record in told} == {"recalls could not be logged"}
        assert len(engine.admin.feedback.recalls()) == 5, "nothing is lost by it"


def test_of_two_threads_one_writes_the_log_while_the_other_holds_the_store() -> None:
    engine = opened()
    answer = engine.recall("green tea")
    writing, holding = threading.Event(), threading.Event()
    write = engine.store.recalls.log

    def slowly(*given: Any, **options: Any) -> None:
        writing.set()
        write(*given, **options)

    def react() -> tuple[int, bytes]:
        engine.recall("tea")
        holding.set()
        assert writing.wait(60)
        return 200, engine.admin.feedback.record(
            answer.id, answer.hits[0].memory.id, "thumbs"
        ).memory_id.encode()

    first = threading.Thread(target=lambda: engine.admin.idempotency.once("a", b"", react), daemon=True)
    first.start()
    assert holding.wait(60)
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(engine.store.recalls, "log", slowly)
        second = threading.Thread(target=engine.recall_log.flush, daemon=True)
        second.start()
        for each in (first, second):
            each.join(60)
            assert not each.is_alive()
    assert [each.feedback.memory_id for each in engine.admin.feedback.list()] == [answer.hits[0].memory.id]
    engine.close()


def test_unlogged_recalls_are_given_and_not_logged() -> None:
    with opened() as engine:
        one, two = engine.scope(logged=False), engine.scope(logged=False)
        one.recall("tea")
        two.recall("Bob")
        taken, other = one.recall_log.recalls(), two.recall_log.recalls()
        assert ([each.query for each in taken], [each.query for each in other]) == (["tea"], ["Bob"])
        assert taken[0].ids[0] in {memory.id for memory in engine.list().memories}
        assert one.admin.feedback.recalls() == engine.admin.feedback.recalls() == []
        engine.recall("tea")
        assert len(engine.admin.feedback.recalls()) == 1


def test_what_is_purged_meanwhile_is_not_given() -> None:
    with opened() as engine:
        unlogged = engine.scope(logged=False)
        gone, left = (hit.memory.id for hit in unlogged.recall("Anna's green tea, and Bob sails"))
        engine.purge(gone)
        (only,) = unlogged.recall_log.recalls()
        assert (only.ids, len(only.values), only.shown) == ((left,), 1, (0,))
        engine.purge(left)
        assert unlogged.recall_log.recalls()[0].ids == ()


def test_a_purge_reaches_what_waits_in_the_buffer() -> None:
    with opened() as engine:
        found = engine.recall("green tea")
        first = found.hits[0].memory.id
        engine.purge(first)
        assert all(first not in each.ids for each in engine.admin.feedback.recalls())


def test_many_threads_log_every_recall_once() -> None:
    with opened() as engine:

        def ask() -> None:
            for _ in range(20):
                engine.recall("tea")

        _together(ask, 4)
        assert len({each.id for each in engine.admin.feedback.recalls(limit=None)}) == 80


def _together(work: Callable[[], None], times: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(times)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_a_purged_namespace_leaves_nothing_in_the_buffer() -> None:
    with opened() as engine:
        engine.recall("green tea")
        engine.admin.namespaces.purge("default")
        engine.remember("green tea")
        assert engine.admin.feedback.recalls() == []


def test_a_purge_elsewhere_reaches_what_waits_here(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as engine, opened(tmp_path / "m.db", recalls=False) as other:
        engine.recall("Anna Petrowa and her tea")
        engine.recall("zzz Petrowa")
        Graph(other).entities.purge("Anna")
        asked = engine.recall("Who sails?")
        assert [each.id for each in engine.admin.feedback.recalls()] == [asked.id]
    assert b"Petrowa" not in (tmp_path / "m.db").read_bytes()
