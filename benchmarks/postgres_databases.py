"""Databases for the comparison on PostgreSQL, written batch by batch, and what that took.

Duplicates are not looked for meanwhile, as for a copy of memories that were looked through before. A batch is
a transaction, so a build that was interrupted goes on after the last batch that is there. What it
took is kept beside the databases, so that a second run can measure recalls without writing everything again.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg

from benchmarks.engine_data import CHUNK, batches
from benchmarks.postgres_contenders import Contender, Shape
from benchmarks.postgres_server import Running, processor_seconds


@dataclass(frozen=True, slots=True)
class Written:
    """What writing took.

    Attributes
    ----------
    memories, seconds
        How many were written in batches, and how long that took.
    log
        How many bytes of the server's log that made; 0 for a file.
    client, server
        How many seconds the processor worked for it in this process, and in those of the server.
    finishing
        How many seconds it took to build what is built afterwards.
    """

    memories: int = 0
    seconds: float = 0.0
    log: int = 0
    client: float = 0.0
    server: float = 0.0
    finishing: float = 0.0

    @property
    def rate(self) -> float:
        """Memories a second in batches."""
        return self.memories / self.seconds

    @property
    def rate_with_indexes(self) -> float:
        """Memories a second with what is built afterwards."""
        return self.memories / (self.seconds + self.finishing)


class Diary:
    """What was built before, in a file beside the databases."""

    def __init__(self, path: Path) -> None:
        self._path = path
        known = json.loads(path.read_text()) if path.exists() else {}
        self._known: dict[str, Written] = {name: Written(**each) for name, each in known.items()}

    def read(self, name: str) -> Written:
        """Return what is known of a build."""
        return self._known.get(name, Written())

    def write(self, name: str, written: Written) -> None:
        """Keep what is known of a build."""
        self._known[name] = written
        self._path.write_text(json.dumps({name: asdict(each) for name, each in self._known.items()}))


def built(contender: Contender, shape: Shape, server: Running, diary: Diary) -> Written:
    """Write the memories of a shape, as far as they are not there yet, and return what it took in all."""
    name = f"{contender.name}, {shape.name}"
    there, before = contender.count(), diary.read(name)
    done = there // CHUNK
    seconds, computed, position, served = 0.0, 0.0, log_position(server), _served(contender)
    if there < shape.size:
        for number, batch in enumerate(batches(shape.size, done), done):
            where = shape.namespaces_of(number * CHUNK, len(batch.texts))
            began, used = time.perf_counter(), time.process_time()
            contender.add(batch, where, dedupe=False)
            computed += time.process_time() - used
            seconds += time.perf_counter() - began
            if number % 50 == 49:
                rate = (number - done + 1) * CHUNK / seconds
                progress(f"  {contender.name}: {(number + 1) * CHUNK:,} of {shape.size:,}, {rate:,.0f}/s")
            written = Written(
                before.memories + min((number + 1) * CHUNK, shape.size) - there,
                before.seconds + seconds,
                before.log + (log_position(server) - position if contender.database else 0),
                before.client + computed,
                before.server + _served(contender) - served,
            )
            diary.write(name, written)
    if not diary.read(name).finishing:
        began = time.perf_counter()
        contender.finish(shape)
        finishing = time.perf_counter() - began
        known = asdict(diary.read(name)) | {"finishing": finishing}
        diary.write(name, Written(**known))
        progress(f"  {contender.name}: indexes in {finishing:.0f} s")
    return diary.read(name)


def _served(contender: Contender) -> float:
    """Return how long the server's processes have worked for somebody."""
    return sum(processor_seconds(pid) for pids in contender.processes().values() for pid in pids)


def log_position(server: Running) -> int:
    """Return how many bytes of log the server has written."""
    with psycopg.connect(server.address()) as connection:
        row = connection.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint").fetchone()
    return int((row or (0,))[0])


def progress(text: str) -> None:
    """Tell whoever waits."""
    print(text, file=sys.stderr, flush=True)
