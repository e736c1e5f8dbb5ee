"""Texts and vectors are found by their hashes, by two indexes of SQLite's own."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

import memorata
from memorata.dedupe.wording import statement_key
from memorata.embed import LexicalEmbedder
from memorata.model import Source
from memorata.model.errors import InvalidArgument
from memorata.store.dialects import SqliteStore
from memorata.store.memory.repeats import Repeat

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def opened(path: Path, duplicates: str = "near", dimension: int = 16) -> memorata.Engine:
    return memorata.open(
        path,
        embedder=LexicalEmbedder(dimension=dimension),
        clock=lambda: NOW,
        config={"duplicates": duplicates},
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memorata.Engine]:
    with opened(tmp_path / "m.db", duplicates="off") as engine:
        yield engine


def said_before(engine: memorata.Engine, text: str) -> list[str]:
    same = engine.store.same("default", [statement_key(text)], NOW)
    return [memory.id for memory in same.get(statement_key(text), [])]


def test_look_ups_read_their_indexes(memory: memorata.Engine) -> None:
    memory.remember_many([f"note {number}" for number in range(300)])
    connection = cast("SqliteStore", memory.store)._connection
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    memory.store.same("default", ["0" * 16, "1" * 16], NOW)
    memory.store.cached_vectors("default", [b"0" * 16, b"1" * 16])
    connection.set_trace_callback(None)
    plans = "\n".join(
        step
        for statement in statements
        if statement.startswith("SELECT")
        for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
    )
    assert "USING INDEX memories_by_statement (namespace=? AND statement=?)" in plans
    assert "COVERING INDEX vectors_by_digest (namespace=? AND digest=? AND embedder=?)" in plans
    assert "SCAN m" not in plans


def test_a_turn_of_a_transcript_repeats_nothing(memory: memorata.Engine) -> None:
    memory.remember("yes", source=Source("Anna", "chat", 1))
    assert said_before(memory, "yes") == []


@pytest.mark.untraced
def test_another_process_finds_a_new_text_at_once(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as one, opened(tmp_path / "m.db") as other:
        texts = [f"note {number}" for number in range(300)]
        one.remember_many(texts)
        assert all(said_before(other, text) for text in texts[::50])
        first = one.remember("a last one")
        assert other.remember("a last one").id == first.id


def test_a_rolled_back_text_is_not_found(memory: memorata.Engine) -> None:
    def half_done() -> None:
        with memory.store.together():
            memory.remember_many([f"undone {number}" for number in range(300)])
            assert said_before(memory, "undone 7")
            memory.remember(" ")

    with pytest.raises(InvalidArgument, match="not blank"):
        half_done()
    assert said_before(memory, "undone 7") == []
    memory.remember_many([f"done {number}" for number in range(300)])
    assert (len(said_before(memory, "done 7")), said_before(memory, "undone 7")) == (1, [])


@pytest.mark.untraced
def test_a_repeated_text_is_found_once(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        for _ in range(20):
            memory.remember("the kettle is on")
        memory.remember_many(["the kettle is on"] * 400)
        assert len(said_before(memory, "the kettle is on")) == 1
        assert memory.admin.check() == []


def test_a_reinstated_text_is_found_again(memory: memorata.Engine) -> None:
    first, second = memory.remember_many(["tea", "tea"])
    run = memory.store.duplicates.start_run("default", "merge", NOW)
    memory.store.duplicates.repeat(
        "default", [Repeat(second.id, first.id, "exact", "again", NOW, run=run.number)]
    )
    assert said_before(memory, "tea") == [first.id]
    memory.store.duplicates.undo_run("default", run.number, NOW)
    assert said_before(memory, "tea") == [first.id, second.id]
    assert memory.admin.check() == []


def test_a_purge_leaves_no_hash_and_restores_that_of_the_corrected(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        old = memory.remember("lives in Bern")
        new = memory.correct(old.id, "lives in Basel")
        secret = memory.remember("the code is 4711")
        memory.purge(new.id, secret.id)
        assert (said_before(memory, "lives in Basel"), said_before(memory, "lives in Bern")) == ([], [old.id])
        assert memory.admin.check() == []
    assert statement_key("the code is 4711").encode() not in path.read_bytes()
    assert statement_key("lives in Bern").encode() in path.read_bytes()


def test_vectors_are_reused_as_long_as_their_embedder_is_in_use(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        memory.remember_many([f"note {number}" for number in range(300)])
    with opened(tmp_path / "m.db", dimension=24) as memory:
        assert memory.store.drop_vectors(100) == 100
        assert memory.store.drop_vectors(1_000) == 200
        memory.admin.reembed()
        assert memory.admin.check() == []


def test_a_damaged_index_is_found_and_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        (first, *_) = memory.remember_many([f"note {number}" for number in range(300)])
    wanted, whole = statement_key("note 0").encode(), path.read_bytes()
    places = [at for at in range(len(whole)) if whole.startswith(wanted, at)]
    assert len(places) == 2
    for number, at in enumerate(places):
        file = tmp_path / f"{number}.db"
        file.write_bytes(whole[:at] + b"0" + whole[at + 1 :])
        with opened(file) as memory:
            assert memory.admin.check()
            memory.admin.check(repair=True)
            lasting = memory.admin.check()
            assert lasting == []
            assert memory.remember("note 0").id == first.id


@pytest.mark.untraced
def test_random_writing_keeps_every_current_memory_findable(tmp_path: Path) -> None:
    draw = random.Random(4)
    with opened(tmp_path / "m.db", duplicates="exact") as memory:
        for step in range(40):
            texts = [f"word {draw.randrange(400)}" for _ in range(draw.choice([1, 1, 1, 3, 3, 270]))]
            memory.remember_many(texts)
            alive = [each.id for each in memory.list(limit=50).memories]
            if step % 5 == 0 and alive:
                memory.correct(draw.choice(alive), f"word {draw.randrange(400)}", duplicates="off")
            if step % 20 == 19:
                memory.purge(*draw.sample(alive, 2))
        listed = memory.list(limit=1_000).memories
        assert all(each.id in said_before(memory, each.content) for each in listed)
        assert memory.admin.check() == []
