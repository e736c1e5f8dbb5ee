"""Attacks that take a while: run by `make attack`, skipped otherwise."""

import json
import os
import random
import socket
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

import memorata
from memorata.engine.recall.log import Logging
from memorata.model.errors import MemorataError, PurgeUnfinished
from memorata.model.memory import Memory, Source
from memorata_graph import Graph

pytestmark = pytest.mark.skipif(not os.environ.get("MEMORATA_ATTACK"), reason="only by `make attack`")
SOCKETS, DESCRIPTORS = 1_100, 1_024
DAMAGED_FILES = 400
NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
NAMES = ("Anna", "Bert", "Clara", "Dora", "Emil")
SERVER = (
    f"import resource, runpy; resource.setrlimit(resource.RLIMIT_NOFILE, ({DESCRIPTORS}, {DESCRIPTORS})); "
    "runpy.run_module('memorata', run_name='__main__')"
)


def test_silent_sockets_do_not_stop_a_server(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, before[1]), before[1]))
    environment = {**os.environ, "MEMORATA_DB": str(tmp_path / "m.db"), "MEMORATA_EMBEDDER": "lexical"}
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER, "server", "start", "--port", "0", "--json"],
            env=environment, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
        sockets = []
        try:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["address"]
            port = int(address.rpartition(":")[2])
            sockets = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(SOCKETS)]
            for _ in range(5):
                with urllib.request.urlopen(f"{address}/v1/health", timeout=10) as answer:
                    assert answer.status == 200
        finally:
            for each in sockets:
                each.close()
            server.kill()
            server.communicate()
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert len((tmp_path / "log").read_text().splitlines()) < 50


@pytest.fixture(scope="module", params=[None, "5f" * 32], ids=["plain", "encrypted"])
def key(request: pytest.FixtureRequest) -> str | None:
    """What the files are encrypted with."""
    return cast("str | None", request.param)


def opened(path: Path, key: str | None) -> memorata.Engine:
    quiet = Logging(recalls=False)
    return memorata.open(
        path,
        embedder="lexical",
        clock=lambda: NOW,
        config={"durable": False, "encryption_key": key, "logging": quiet},
    )


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, key: str | None) -> bytes:
    """A file with memories, sessions and a correction."""
    path, chance = tmp_path_factory.mktemp("sound") / "m.db", random.Random(5)
    with opened(path, key) as memory:
        for number in range(120):
            memory.remember(
                f"{chance.choice(NAMES)} met {chance.choice(NAMES)} in Paris about topic {number}",
                tags=["tea", f"t{number % 5}"],
                metadata={"n": number, "deep": {"a": [1, 2]}},
                source=Source(chance.choice(NAMES), f"s{number // 10}", number % 10),
            )
        memory.correct(memory.list().memories[0].id, "Anna moved to Rome")
    return path.read_bytes()


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return a file with one flipped bit, a stretch of zeros, a page of noise, or two pages exchanged."""
    broken, page = bytearray(content), 4_096
    at = chance.randrange(page, len(broken))
    kind = chance.choice(("bit", "bit", "zeros", "noise", "exchange"))
    here, there = at // page * page, chance.randrange(page, len(broken)) // page * page
    if kind == "bit":
        broken[at] ^= 1 << chance.randrange(8)
    elif kind == "zeros":
        size = min(chance.randrange(1, 200), len(broken) - at)
        broken[at : at + size] = bytes(size)
    elif kind == "noise":
        broken[here : here + page] = chance.randbytes(page)
    else:
        one, two = broken[here : here + page], broken[there : there + page]
        broken[here : here + page], broken[there : there + page] = two, one
    return bytes(broken)


def verbs(memory: memorata.Engine) -> Iterator[Callable[[], object]]:
    yield Graph(memory).entities.list
    yield Graph(memory).communities
    yield lambda: memory.remember("Franz likes coffee in Berlin")
    yield lambda: memory.admin.check(repair=True)


def answers(memory: memorata.Engine) -> Iterator[Sequence[Memory] | None]:
    """Yield what is read of a file; None for what is refused, or says itself what it lacks."""

    def recalled(query: str, recipe: str | None = None) -> Sequence[Memory] | None:
        result = memory.recall(query, recipe=recipe)
        return None if result.degraded else [hit.memory for hit in result]

    reads: tuple[Callable[[], Sequence[Memory] | None], ...] = (
        lambda: recalled("tea in Paris with Anna"),
        lambda: recalled("topic 17", "bm25"),
        lambda: list(memory.list(limit=500).memories),
    )
    for read in reads:
        try:
            yield read()
        except MemorataError:
            yield None


def test_a_damaged_file_raises_errors_of_ours_and_check_tells_what_is_wrong(
    tmp_path: Path, sound: bytes, key: str | None
) -> None:
    chance, counts = random.Random(20261117), Counter[str]()
    (tmp_path / "sound.db").write_bytes(sound)
    with opened(tmp_path / "sound.db", key) as memory:
        right = list(answers(memory))
    assert None not in right
    for number in range(DAMAGED_FILES):
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged(sound, chance))
        try:
            with opened(path, key) as memory:
                given = list(answers(memory))
                try:
                    problems = memory.admin.check()
                except MemorataError as error:
                    problems = [str(error)]
                wrong = any(one is not None and one != other for one, other in zip(given, right, strict=True))
                counts["wrong"] += wrong
                assert problems or not wrong, number
                for verb in verbs(memory):
                    with suppress(MemorataError):
                        verb()
                counts["told"] += bool(problems)
        except MemorataError:
            counts["refused"] += 1
        for leftover in tmp_path.glob(f"{number}.db*"):
            leftover.unlink()
    assert counts["told"] + counts["refused"] > DAMAGED_FILES / 4
    # A field that is in no checksum (which embedder, how often used) may be wrong; SQLCipher has none such.
    assert counts["wrong"] <= (DAMAGED_FILES // 100 if key is None else 0), counts


BUSY = (
    "import memorata, sys\n"
    "with memorata.open(sys.argv[1], embedder='lexical', config={'durable': False}) as memory:\n"
    "    number = 0\n"
    "    while True:\n"
    "        number += 1\n"
    "        if sys.argv[2] == 'write':\n"
    "            memory.remember(f'note {number} of a busy process')\n"
    "        else:\n"
    "            memory.recall('what does a busy process note?', limit=50)\n"
)
PURGES = 24


def test_a_purge_beside_busy_processes_is_finished_or_says_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical", config={"durable": False}) as memory:
        memory.remember_many([f"note {number} of before" for number in range(2_000)])
        said = [memory.remember(f"zqsecret{number}x is the word") for number in range(PURGES)]
        busy = [
            subprocess.Popen([sys.executable, "-c", BUSY, str(path), work])
            for work in ("write", "read", "read")
        ]
        try:
            for each in said:
                try:
                    memory.purge(each.id)
                except PurgeUnfinished:
                    assert memory.store.statistics()["unfinished_purge"]
            assert [process.poll() for process in busy] == [None] * 3
        finally:
            for process in busy:
                process.kill()
                process.wait()
        memory.admin.lifecycle.maintain()
        assert not memory.store.statistics()["unfinished_purge"]
        assert memory.admin.check() == []
    for left in tmp_path.glob("m.db*"):
        assert b"zqsecret" not in left.read_bytes()
