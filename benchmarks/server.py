"""What HTTP costs: recall through `memorata serve` under load, beside the same recalls inside the process.

Run ``python -m benchmarks.server``. A database of made-up memories is served by a process of its own; another
process holds a number of connections open and asks on each as soon as it has its answer. Before and after,
the same questions are asked inside a process: one at a time, and by as many threads as there were
connections, which is what the same crowd costs without HTTP. Memory is that of the serving process; with the
log of recalls it holds the pages that were written, as far as SQLite keeps them, so it is also shown without.

The embedder is the lexical one unless another is named: what a model takes to embed a question is the same on
both sides, and would hide what is compared.
"""

from __future__ import annotations

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split
import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import memorata
from benchmarks.engine_data import batches, mixed

_ASKED = 500
"""How many different questions there are."""


@dataclass(frozen=True, slots=True)
class Load:
    """What came of asking for a while: milliseconds of each answer, the errors, and the seconds it took."""

    milliseconds: list[float]
    errors: int
    seconds: float

    def row(self, name: str) -> str:
        """Return it as a row of the table."""
        p50, p95, p99 = np.percentile(self.milliseconds, [50, 95, 99])
        rate = len(self.milliseconds) / self.seconds
        times = f"{p50:.1f} | {p95:.1f} | {p99:.1f}"
        return f"| {name} | {len(self.milliseconds):,} | {rate:,.0f} | {times} | {self.errors} |"


async def load(address: str, connections: int, seconds: float, size: int) -> Load:
    """Ask on every connection, again and again."""
    where = urlsplit(address)
    host, port = where.hostname or "", where.port or 80
    asked = [_request(text, host) for text in _questions(size)]
    taken: list[float] = []
    errors = 0
    begun = perf_counter()

    async def one(number: int) -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection(host, port)
        turn = number * 31
        while perf_counter() - begun < seconds:
            started = perf_counter()
            writer.write(asked[turn % len(asked)])
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
            await reader.readexactly(int(fields[b"content-length"]))
            taken.append((perf_counter() - started) * 1000)
            errors += not head.startswith(b"HTTP/1.1 200")
            turn += 1
        writer.close()

    await asyncio.gather(*(one(number) for number in range(connections)))
    return Load(taken, errors, perf_counter() - begun)


def inside(engine: memorata.Engine, threads: int, seconds: float, size: int) -> Load:
    """Ask inside this process, by a number of threads."""
    asked = _questions(size)
    taken: list[float] = []
    begun = perf_counter()

    def one(number: int) -> None:
        turn = number * 31
        while perf_counter() - begun < seconds:
            started = perf_counter()
            engine.recall(asked[turn % len(asked)])
            taken.append((perf_counter() - started) * 1000)
            turn += 1

    crowd = [threading.Thread(target=one, args=(number,)) for number in range(threads)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    return Load(taken, 0, perf_counter() - begun)


@contextmanager
def served(db: Path, embedder: str, options: Sequence[str], *, log: bool = True) -> Iterator[tuple[int, str]]:
    """Run a server, with the log of recalls or without; give its process and its address."""
    command = [sys.executable, "-m", "memorata", "serve", "--port", "0", "--json", "--no-pages", *options]
    settings = {
        "MEMORATA_DB": str(db),
        "MEMORATA_EMBEDDER": embedder,
        "MEMORATA_LOG_RECALLS": "true" if log else "false",
    }
    process = subprocess.Popen(
        [*command, "--log-level", "warning"],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.pid, json.loads(process.stdout.readline())["address"]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def resident(pid: int) -> float:
    """Return how many megabytes of a process are in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise LookupError(pid)


def _request(text: str, host: str) -> bytes:
    body = json.dumps({"query": text}).encode()
    head = (
        f"POST /v1/recall HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _questions(size: int) -> list[str]:
    return [question.text for question in mixed(size, _ASKED)]


def _filled(db: Path, embedder: str, size: int) -> None:
    with memorata.open(db, embedder=embedder) as engine:
        for batch in batches(size):
            engine.remember_many([{"content": text} for text in batch.texts])


def _asked_elsewhere(address: str, options: argparse.Namespace) -> Load:
    command = [sys.executable, "-m", "benchmarks.server", "--load", address]
    command += ["--connections", str(options.connections), "--seconds", str(options.seconds)]
    command += ["--size", str(options.size)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return Load(found["milliseconds"], found["errors"], found["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--embedder", default="lexical")
    parser.add_argument("--load", metavar="ADDRESS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        found = asyncio.run(load(options.load, options.connections, options.seconds, options.size))
        json.dump(
            {"milliseconds": found.milliseconds, "errors": found.errors, "seconds": found.seconds}, sys.stdout
        )
        return
    short = min(10.0, options.seconds)
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "memories.db"
        _filled(db, options.embedder, options.size)
        with memorata.open(db, embedder=options.embedder) as engine:
            inside(engine, 1, 1.0, options.size)
            before = inside(engine, 1, short, options.size)
            crowd = inside(engine, options.connections, short, options.size)
        with served(db, options.embedder, ["--threads", str(options.threads)]) as (pid, address):
            asyncio.run(load(address, options.connections, 2.0, options.size))
            first = resident(pid)
            over = _asked_elsewhere(address, options)
            last = resident(pid)
            alone = asyncio.run(load(address, 1, short, options.size))
        with served(db, options.embedder, ["--threads", str(options.threads)], log=False) as (pid, address):
            asyncio.run(load(address, options.connections, 2.0, options.size))
            first_unlogged = resident(pid)
            unlogged = _asked_elsewhere(address, options)
            last_unlogged = resident(pid)
        with memorata.open(db, embedder=options.embedder) as engine:
            inside(engine, 1, 1.0, options.size)
            after = inside(engine, 1, short, options.size)
    print(f"{options.size:,} memories, {options.embedder}, {options.threads} threads in the server\n")
    print("| | recalls | a second | p50 ms | p95 ms | p99 ms | errors |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    print(before.row("inside, one at a time, before"))
    print(after.row("inside, one at a time, after"))
    print(crowd.row(f"inside, {options.connections} threads"))
    print(alone.row("over HTTP, 1 connection"))
    print(over.row(f"over HTTP, {options.connections} connections, {options.seconds:g} s"))
    print(unlogged.row("the same, without the log of recalls"))
    print(f"\nmemory of the server: {first:.0f} MB at the start of the load, {last:.0f} MB at its end;")
    print(f"without the log of recalls: {first_unlogged:.0f} MB and {last_unlogged:.0f} MB")


if __name__ == "__main__":
    main()
