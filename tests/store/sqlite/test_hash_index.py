"""HashRun in a file: what is current is always found, and nothing of what was purged stays."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import memorata
from memorata.dedupe.fingerprint import fingerprint
from memorata.embed import LexicalEmbedder
from memorata.model import Source
from memorata.model.errors import InvalidArgument
from memorata.store.dialects import SqliteStore
from memorata.store.memory.repeats import Repeat
from memorata.store.sqlite import hash_index
from memorata.store.sqlite.hash_runs import fingerprint_key
from memorata.store.sqlite.session import SqliteSession

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def opened(path: Path, duplicates: str = "near") -> memorata.Engine:
    return memorata.open(
        path, embedder=LexicalEmbedder(dimension=16), clock=lambda: NOW, duplicates=duplicates
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memorata.Engine]:
    with opened(tmp_path / "m.db", duplicates="off") as engine:
        yield engine


def connection_of(engine: memorata.Engine) -> SqliteSession:
    return cast("SqliteStore", engine.store)._connection


def sizes(engine: memorata.Engine) -> list[int]:
    rows = connection_of(engine).execute("SELECT entries FROM address_runs ORDER BY number")
    return [entries for (entries,) in rows]


def waiting(engine: memorata.Engine) -> int:
    return int(connection_of(engine).execute("SELECT count(*) FROM new_addresses").fetchone()[0])


def places(engine: memorata.Engine) -> set[int]:
    connection = connection_of(engine)
    found = {place for (place,) in connection.execute("SELECT place FROM new_addresses")}
    for run in hash_index.HashRunCache().runs(connection):
        found.update(run.places.tolist())
    return found


def said_before(engine: memorata.Engine, text: str) -> list[str]:
    return [
        each.id for each in engine.store.same("default", [fingerprint(text)], NOW).get(fingerprint(text), [])
    ]


@pytest.mark.untraced
def test_those_that_come_one_by_one_wait_until_there_are_enough(memory: memorata.Engine) -> None:
    for number in range(255):
        memory.remember(f"note {number}")
    assert (sizes(memory), waiting(memory)) == ([], 510)
    memory.remember("note 255")
    assert (sizes(memory), waiting(memory)) == ([512], 0)
    assert len(said_before(memory, "note 7")) == 1


@pytest.mark.untraced
def test_they_become_a_run_where_no_namespace_has_enough_for_a_segment(memory: memorata.Engine) -> None:
    for number in range(1, 600):
        memory.remember(f"note {number}", namespace=f"tenant-{number % 20}")
        assert sizes(memory) == ([] if number < 512 else [1_024])
    assert waiting(memory) == 2 * (599 - 512)
    assert memory.admin.check() == []


@pytest.mark.untraced
def test_runs_of_a_size_become_one(memory: memorata.Engine) -> None:
    for batch in range(8):
        memory.remember_many([f"note {batch} {number}" for number in range(300)])
        assert len(sizes(memory)) == (batch + 1 if batch < 7 else 1)
    assert sizes(memory) == [8 * 600]
    assert all(len(said_before(memory, f"note {batch} 299")) == 1 for batch in range(8))
    assert memory.admin.check() == []


def test_turns_of_a_transcript_have_an_address_of_their_vector_alone(memory: memorata.Engine) -> None:
    memory.remember("yes", source=Source("Anna", "chat", 1))
    assert (waiting(memory), said_before(memory, "yes")) == (1, [])


@pytest.mark.untraced
def test_another_process_finds_what_was_added_and_merged_since(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as one, opened(tmp_path / "m.db") as other:
        for batch in range(9):
            texts = [f"note {batch} {number}" for number in range(300)]
            one.remember_many(texts)
            assert all(said_before(other, text) for text in texts[::50])
        first = one.remember("a last one")
        assert other.remember("a last one").id == first.id


def test_what_was_undone_is_not_remembered_as_written(memory: memorata.Engine) -> None:
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
def test_what_is_said_again_and_again_has_one_address(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        for _ in range(20):
            memory.remember("the kettle is on")
        memory.remember_many(["the kettle is on"] * 400)
        memory.remember_many(["the kettle is on"] * 400)
        key = fingerprint_key(1, fingerprint("the kettle is on"))
        cache = hash_index.HashRunCache()
        assert len(cache.of_one(connection_of(memory), key)) == 1
        assert len(said_before(memory, "the kettle is on")) == 1
        assert memory.admin.check() == []


def test_what_is_current_again_is_found_again(memory: memorata.Engine) -> None:
    first, second = memory.remember_many(["tea", "tea"])
    run = memory.store.duplicates.start_run("default", "merge", NOW)
    memory.store.duplicates.repeat(
        "default", [Repeat(second.id, first.id, "exact", "again", NOW, run=run.number)]
    )
    assert said_before(memory, "tea") == [first.id]
    memory.store.duplicates.undo_run("default", run.number, NOW)
    assert said_before(memory, "tea") == [first.id, second.id]
    assert memory.admin.check() == []


def test_a_purge_removes_hashes_and_restores_those_of_what_was_corrected(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        memory.remember_many([f"note {number}" for number in range(300)])
        old = memory.remember("lives in Bern")
        new = memory.correct(old.id, "lives in Basel")
        before = places(memory)
        memory.purge(new.id)
        assert len(before - places(memory)) == 2
        assert (said_before(memory, "lives in Basel"), said_before(memory, "lives in Bern")) == ([], [old.id])
        secret = said_before(memory, "note 7")
        memory.purge(*secret)
        assert len(before - places(memory)) == 4
        assert memory.admin.check() == []
        memory.admin.purge_namespace("default")
        assert places(memory) == set()


def test_vectors_of_another_embedder_lose_their_hashes_when_all_are_gone(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        memory.remember_many([f"note {number}" for number in range(300)])
    with memorata.open(tmp_path / "m.db", embedder=LexicalEmbedder(dimension=24)) as memory:
        assert len(places(memory)) == 600
        assert memory.store.drop_vectors(100) == 100
        assert len(places(memory)) == 600
        assert memory.store.drop_vectors(1_000) == 200
        assert len(places(memory)) == 300
        memory.admin.reembed()
        assert len(places(memory)) == 600
        assert memory.admin.check() == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE address_runs SET run = x'00'",
        "UPDATE address_runs SET run = substr(run, 1, length(run) - 16)",
        "UPDATE address_runs SET checksum = checksum + 1",
        "UPDATE address_runs SET run = 'tea'",
        "UPDATE new_addresses SET place = 'tea' WHERE key = (SELECT min(key) FROM new_addresses)",
        "DELETE FROM address_runs",
        "DELETE FROM new_addresses",
    ],
)
def test_damage_is_told_and_mended(tmp_path: Path, damage: str) -> None:
    with opened(tmp_path / "m.db") as memory:
        memory.remember_many([f"note {number}" for number in range(300)])
        memory.remember("a last one")
        connection_of(memory).execute(damage)
        # By the table of a value of another kind, else by the index.
        assert any("address" in problem or "hash" in problem for problem in memory.admin.check())
        memory.admin.check(repair=True)
        assert memory.admin.check() == []
        assert said_before(memory, "note 7")
        assert said_before(memory, "a last one")


def test_a_hash_index_that_cannot_be_read_is_rebuilt_by_the_next_write(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        (first, *_) = memory.remember_many([f"note {number}" for number in range(300)])
    for attempt in ("remember", "remember_many", "correct", "purge"):
        with opened(path) as memory:
            connection_of(memory).execute("UPDATE address_runs SET run = zeroblob(length(run))")
        with opened(path) as memory:
            if attempt == "remember":
                assert memory.remember("note 0").id == first.id
            elif attempt == "remember_many":
                assert memory.remember_many(["note 0", "another"])[0].id == first.id
            elif attempt == "correct":
                first = memory.correct(first.id, "note 0")
            else:
                memory.purge(first.id)
            assert memory.admin.check() == []
        assert "rebuilding the hash index of memories and vectors" in caplog.text
        caplog.clear()


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
            if step % 20 == 19:
                assert memory.admin.check() == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE address_runs SET run = 'tea'",
        "UPDATE address_runs SET entries = 'x'",
        "UPDATE new_addresses SET place = 'tea'",
    ],
)
def test_values_of_another_kind_are_damage_too(tmp_path: Path, damage: str) -> None:
    with memorata.open(tmp_path / "m.db", embedder=LexicalEmbedder(dimension=16)) as memory:
        memory.remember_many([f"note number {number}" for number in range(300)])
        memory.remember("one by itself")
        cast("SqliteStore", memory.store)._connection.execute(damage)
    with memorata.open(tmp_path / "m.db", embedder=LexicalEmbedder(dimension=16)) as memory:
        memory.remember("note number 7")
        memory.remember_many([f"another {number}" for number in range(300)])
        memory.admin.check(repair=True)
        assert memory.admin.check() == []
        memory.remember("note number 8")
        assert len(memory.list(limit=1_000).memories) in (601, 602)


def test_a_purge_over_a_damaged_hash_index_leaves_no_hash_of_the_namespace(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder=LexicalEmbedder(dimension=16)) as memory:
        memory.remember_many([f"secret {number}" for number in range(300)], namespace="bob")
        cast("SqliteStore", memory.store)._connection.execute(
            "UPDATE address_runs SET run = zeroblob(length(run))"
        )
    with memorata.open(tmp_path / "m.db", embedder=LexicalEmbedder(dimension=16)) as memory:
        memory.admin.purge_namespace("bob")
        connection = cast("SqliteStore", memory.store)._connection
        assert sum(map(len, hash_index.HashRunCache().runs(connection))) == 0


def test_small_batches_become_a_run_when_many_wait(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db", durable=False)
    connection = store._connection
    for start in range(0, 3_000, 100):
        numbers = np.arange(start, start + 100)
        hash_index.add_hashes(connection, numbers, numbers)
    (waiting,) = connection.execute("SELECT count(*) FROM new_addresses").fetchone()
    assert waiting < 2 * hash_index.MIN_RUN_ENTRIES
    cache = hash_index.HashRunCache()
    assert sum(map(len, cache.runs(connection))) + waiting == 3_000
    assert cache.of_one(connection, 1_234) == [1_234]
    store.close()
