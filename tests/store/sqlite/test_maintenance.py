"""What was purged is in no file any more, whatever was written before it and whoever else is looking."""

import os
import random
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import pytest
from tests.profile import chosen

import memorata
from memorata.engine.engine import Engine
from memorata.index import segments
from memorata.model.errors import PurgeUnfinished, StoreUnavailable
from memorata.model.query import Query
from memorata.store.dialects import SqliteStore
from memorata.store.memory import memories as writing
from memorata.store.sqlite.database import erase
from memorata.store.sqlite.integrity import unfinished_purge
from memorata.store.sqlite.session import SqliteSession

WORDS = [f"w{n}" for n in range(500)]
SEEDS = (11, 27, 36, 44, 58, 100, 15, 18, 31, 33, 39, 43, 54, *range(101, 108))
SECRET = re.compile(r"zqsecret\d+x\d+y")


def left_of(path: Path, secrets: set[str]) -> set[str]:
    """Return which secrets anyone who reads the bytes of the file and its log can find."""
    bytes_ = b"".join(file.read_bytes() for file in path.parent.iterdir())
    return {secret for secret in secrets if secret.encode() in bytes_}


def secrets_in(memory: Engine) -> set[str]:
    return {found for said in memory.store.export(None) for found in SECRET.findall(said.content)}


# The first twelve are those of sixty that left something behind when purged rows were only overwritten:
# SQLite had moved them between pages before.
@pytest.mark.untraced
@pytest.mark.parametrize("seed", SEEDS[: chosen(6, len(SEEDS))])
def test_nothing_is_left_of_any_history_of_several_namespaces(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    with memorata.open(
        tmp_path / "m.db", embedder="lexical", config={"durable": False, "extractor": None}
    ) as memory:
        for batch in range(10):
            texts = []
            for number in range(dice.choice([1, 3, 30, 60])):
                words = " ".join(dice.choices(WORDS[:200], k=dice.choice([3, 10, 60, 400])))
                secret = f"zq{batch}x{number}y"
                whose = dice.choice("abcd")
                texts.append({"id": f"{secret}-id", "content": f"{words} {secret}", "namespace": whose})
            memory.remember_many(texts)
        every = list(memory.store.export(None))
        gone = dice.sample(every, min(len(every) - 1, 25))
        for namespace in "abcd":
            memory.purge(*(each.id for each in gone if each.namespace == namespace), namespace=namespace)
        assert left_of(tmp_path / "m.db", {each.id.removesuffix("-id") for each in gone}) == set()
        assert memory.store.statistics()["memories"] == len(every) - len(gone)
        assert memory.admin.check() == []


@pytest.mark.untraced
@pytest.mark.parametrize(("tail", "seed"), [(4, 4), (256, 6)])
def test_nothing_is_left_of_any_field_nor_of_what_was_corrected(
    tmp_path: Path, tail: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small segments are written anew all the time, and leave their old pages behind.
    monkeypatch.setattr(writing, "TAIL", tail)
    monkeypatch.setattr(segments, "TAIL", tail)
    dice = random.Random(seed)
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical", config={"durable": False}) as memory:
        for batch in range(8):
            texts = []
            for number in range(dice.choice([1, 5, 100])):
                secret = f"zqsecret{batch}x{number}y"
                words = " ".join(dice.choices(WORDS, k=dice.choice([5, 20, 300, 2000])))
                texts.append(
                    {
                        "id": f"{secret}-id",
                        "content": f"{words} {secret} {words[:40]}",
                        "tags": (f"{secret}-tag",),
                        "source": {"speaker": f"{secret}-name", "session": f"{secret}-session"},
                        "metadata": {"key": f"{secret}-meta"},
                        "namespace": dice.choice(["here", "there"]),
                    }
                )
            for said in memory.remember_many(texts)[:3]:
                memory.correct(said.id, said.content + " corrected", namespace=said.namespace)
        gone = dice.sample(list(memory.store.export(None)), 20)
        secrets = {found for each in gone for found in SECRET.findall(each.content)}
        assert left_of(path, secrets) == secrets
        for each in gone:
            memory.purge(each.id, namespace=each.namespace)
        assert left_of(path, secrets - secrets_in(memory)) == set()
        assert memory.admin.check() == []


def test_a_session_is_kept_as_long_as_a_memory_is_of_it(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder=None) as memory:
        for id_, session in (("a", "zqfirst"), ("b", "zqfirst"), ("c", "zqsecond")):
            memory.remember(f"tea {id_ * 3}", id=id_, source={"session": session})
        memory.purge("a", "c")
        assert left_of(tmp_path / "m.db", {"zqfirst", "zqsecond"}) == {"zqfirst"}
        memory.remember("tea ddd", id="d", source={"session": "zqthird"})
        assert memory.admin.check() == []
        found = memory.recall(Query("tea", sessions=True))
        assert sorted(hit.memory.id for hit in found.hits) == ["b", "d"]


def test_many_memories_are_erased_at_once(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical") as memory:
        said = memory.remember_many([f"zqsecret1x{n}y tea" for n in range(20)])
        statements: list[str] = []
        cast("SqliteStore", memory.store)._connection.set_trace_callback(statements.append)
        memory.purge(*(each.id for each in said))
        memory.purge()
        assert statements.count("VACUUM") == 1


def test_a_reader_that_keeps_the_log_makes_a_purge_say_that_it_is_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        said = memory.remember("zqsecret1x1y tea")
        kept = memory.remember("coffee")
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        before = reader.execute("SELECT id, content FROM memories").fetchall()
        cast("SqliteStore", memory.store)._connection.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(PurgeUnfinished, match=r"but traces .* `memorata admin vacuum` erases them"):
            memory.purge(said.id)
        # It is gone from every answer; whoever was looking still sees what there was when it began.
        assert memory.list(hidden=True).memories == (kept,)
        assert reader.execute("SELECT id, content FROM memories").fetchall() == before
        assert memory.store.statistics()["unfinished_purge"] is True
        with pytest.raises(PurgeUnfinished):
            memory.store.vacuum()
        reader.execute("COMMIT")
        memory.store.vacuum()
        assert left_of(path, {"zqsecret1x1y"}) == set()
        assert memory.store.statistics()["unfinished_purge"] is False
        assert reader.execute("SELECT content FROM memories").fetchall() == [("coffee",)]
        reader.close()
        assert memory.admin.check() == []


def test_a_writer_that_comes_between_leaves_the_purge_to_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        said, other = memory.remember("zqsecret1x1y tea"), memory.remember("coffee")
        writer = sqlite3.connect(path, isolation_level=None)
        cast("SqliteStore", memory.store)._connection.execute("PRAGMA busy_timeout = 10")
        # The lock is taken in the moment between the removal and the erasing.

        def slow_erase(connection: SqliteSession, name: str) -> None:
            writer.execute("BEGIN IMMEDIATE")
            erase(connection, name)

        monkeypatch.setattr("memorata.store.sqlite.database.erase", slow_erase)
        with pytest.raises(PurgeUnfinished, match="stayed locked by another process"):
            memory.purge(said.id)
        monkeypatch.undo()
        assert unfinished_purge(cast("SqliteStore", memory.store)._connection)
        writer.execute("ROLLBACK")
        writer.close()
        # Any later purge finishes this one, too.
        memory.purge(other.id)
        assert left_of(path, {"zqsecret1x1y"}) == set()
        assert not unfinished_purge(cast("SqliteStore", memory.store)._connection)


def test_a_vacuum_that_nothing_is_owed_to_says_only_that_it_could_not_run(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        cast("SqliteStore", memory.store)._connection.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(StoreUnavailable, match="stayed locked") as caught:
            memory.store.vacuum()
        assert not isinstance(caught.value, PurgeUnfinished)
        writer.close()


def test_who_erases_takes_back_no_later_note_than_it_saw(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with (
        memorata.open(path, embedder="lexical") as memory,
        memorata.open(path, embedder="lexical") as other,
    ):
        said, second = memory.remember("tea"), memory.remember("zqsecret1x1y")
        statements: list[str] = []

        def purge_once(statement: str) -> None:
            # Another process removes something, and dies before it can erase it, while this one erases.
            if statement.startswith("DELETE FROM settings") and not statements:
                statements.append(statement)
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("memorata.store.sqlite.database.erase", lambda connection, name: None)
                    other.purge(second.id)

        cast("SqliteStore", memory.store)._connection.set_trace_callback(purge_once)
        memory.purge(said.id)
        cast("SqliteStore", memory.store)._connection.set_trace_callback(None)
        assert statements
        assert memory.store.statistics()["unfinished_purge"] is True
        memory.store.vacuum()
        assert left_of(path, {"zqsecret1x1y"}) == set()


def test_maintenance_finishes_what_a_purge_had_to_leave(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        said = memory.remember("zqsecret1x1y tea")
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchone()
        cast("SqliteStore", memory.store)._connection.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(PurgeUnfinished):
            memory.purge(said.id)
        memory.admin.lifecycle.maintain()
        assert memory.store.statistics()["unfinished_purge"] is True
        reader.close()
        memory.admin.lifecycle.maintain()
        assert memory.store.statistics()["unfinished_purge"] is False
        assert left_of(path, {"zqsecret1x1y"}) == set()


def test_a_purge_waits_for_who_is_in_its_way_for_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical") as memory:
        said = memory.remember("zqsecret1x1y tea")
        reader = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchone()
        connection = cast("SqliteStore", memory.store)._connection
        ended = threading.Timer(0.05, lambda: reader.execute("COMMIT"))
        ended.start()
        connection.execute("PRAGMA busy_timeout = 30000")
        memory.purge(said.id)
        ended.join()
        reader.close()
        assert left_of(path, {"zqsecret1x1y"}) == set()


def test_unfinished_copies_of_processes_that_are_gone_go_with_a_purge(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    ours = [f"m.db.{gone.pid}.partial", f"m.db.{gone.pid}.partial-journal"]
    others = [
        f"m.db.{os.getpid()}.partial",
        f"n.db.{gone.pid}.partial",
        "m.db.backup",
        "m.db.7.partial.md",
    ]
    with memorata.open(path, embedder="lexical") as memory:
        said = memory.remember("zqsecret1x1y tea")
        for name in (*ours, *others):
            (tmp_path / name).write_text("zqsecret1x1y")
        memory.purge(said.id)
        left = {each.name for each in tmp_path.iterdir()}
    assert left.isdisjoint(ours)
    assert left.issuperset(others)
