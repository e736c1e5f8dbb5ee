"""Recall over HTTP under load, beside what the bare embedder alone can embed on the same processors.

Run ``python -m benchmarks.server``. First as many processes as there are processors embed queries, one after
the other on one thread each, and then four at a time: the better of the two is the bound, since every recall
has to embed its query. Then a database of made-up memories is served by `memorata server start` with as many
processes, and asked over 1 to 256 connections, on each as soon as there is an answer; every query is another
one. The load is made by ``wrk`` where that is installed, otherwise by asyncio, in a process of its own on the
same processors.

``--agents`` asks the MCP server over HTTP as well, with keys, by clients of the SDK. ``--chroma PYTHON`` asks
Chroma's server for the ten nearest of the same number of vectors, with the interpreter of an environment that
has it; the query's vector is given there, so compare it with a static embedder here. ``--qdrant PYTHON`` asks
Qdrant in a process, which has no server that could be installed as a package: the local mode of its client,
and Qdrant Edge, the engine itself.
"""

from __future__ import annotations

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split
import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np

import memorata
from benchmarks.engine_data import batches, mixed
from memorata import Query
from memorata.engine.access import ApiKeys
from memorata.engine.settings import Settings

_QUERIES: Final = 20_000
_TOGETHER: Final = 4
_FASTER: Final = ("uvloop", "httptools", "orjson")
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_SCRIPT: Final = """
local bodies, at = {}, 0
for line in io.lines("%s") do bodies[#bodies + 1] = line end
request = function()
  at = at %% #bodies + 1
  return wrk.format("POST", "%s", {["Content-Type"] = "application/json"}, bodies[at])
end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\nJSON [%%d, %%f, %%f, %%f, %%f, %%d]\\n',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(95) / 1e3, latency:percentile(99) / 1e3,
    errors.status + errors.connect + errors.read + errors.timeout))
end
"""

_QDRANT: Final = """
import sys, tempfile, time
import numpy as np
import qdrant_edge as edge
from qdrant_client import QdrantClient, models

size, dimension = int(sys.argv[1]), 256
rows = np.random.default_rng(1).normal(size=(size, dimension)).astype("float32")
asked = np.random.default_rng(0).normal(size=(500, dimension)).astype("float32").tolist()
payload = [{"text": f"text {number}"} for number in range(size)]

def timed(name, ask):
    for row in asked[:50]:
        assert len(ask(row)) == 10
    begun, used = time.perf_counter(), time.process_time()
    for row in asked:
        ask(row)
    wall, used = (time.perf_counter() - begun) * 2, (time.process_time() - used) * 2
    times = f"{wall:.2f} ms, {used:.2f} ms of a processor each"
    print(f"{name}, in the process, vector given: {times}", flush=True)

client = QdrantClient(":memory:")
shape = models.VectorParams(size=dimension, distance=models.Distance.COSINE)
client.create_collection("memories", vectors_config=shape)
client.upload_collection("memories", vectors=rows, ids=range(size), payload=payload)
timed("Qdrant, local mode", lambda row: client.query_points("memories", query=row, limit=10).points)
with tempfile.TemporaryDirectory() as folder:
    shape = edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)
    shard = edge.EdgeShard.create(folder, edge.EdgeConfig(vectors={"text": shape}))
    points = [edge.Point(number, {"text": rows[number].tolist()}, payload[number]) for number in range(size)]
    for at in range(0, size, 1000):
        shard.update(edge.UpdateOperation.upsert_points(points[at:at + 1000]))
    shard.optimize()
    nearest = lambda row: edge.Query.Nearest(row, using="text")
    ask = lambda row: edge.QueryRequest(limit=10, query=nearest(row), with_payload=True)
    timed("Qdrant Edge", lambda row: shard.query(ask(row)))
"""


@dataclass(frozen=True, slots=True)
class Load:
    """What came of asking for a while: answers, seconds, milliseconds of an answer, and errors."""

    answers: int
    seconds: float
    p50: float
    p95: float
    p99: float
    errors: int

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds

    def row(self, name: str, bound: float | None, processor: float) -> str:
        """Return it as a row of the table; `processor` is what the server used, in seconds."""
        share = "" if bound is None else f"{self.rate / bound:.2f}"
        cost = processor * 1000 / max(1, self.answers)
        times = f"{self.p50:.1f} | {self.p95:.1f} | {self.p99:.1f}"
        return f"| {name} | {self.rate:,.0f} | {share} | {times} | {cost:.2f} | {self.errors} |"


def _load(taken: Sequence[float], seconds: float, errors: int) -> Load:
    p50, p95, p99 = np.percentile(taken, [50, 95, 99]).tolist()
    return Load(len(taken), seconds, p50, p95, p99, errors)


def loaded(address: str, bodies: Sequence[str], connections: int, seconds: float) -> Load:
    """Send bodies on every connection, again and again."""
    if shutil.which("wrk") is None:
        command = [sys.executable, "-m", "benchmarks.server", "--load", address]
        command += ["--connections", str(connections), "--seconds", str(seconds)]
        ran = subprocess.run(command, input="\n".join(bodies), stdout=subprocess.PIPE, check=True, text=True)
        return Load(*json.loads(ran.stdout))
    with tempfile.TemporaryDirectory() as folder:
        lines, script = Path(folder) / "bodies", Path(folder) / "load.lua"
        lines.write_text("\n".join(bodies))
        script.write_text(_SCRIPT % (lines, urlsplit(address).path))
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:.0f}s", "--timeout", "60s"]
        command += ["-s", str(script), address]
        ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    answer = next(line for line in ran.stdout.splitlines() if line.startswith("JSON"))
    return Load(*json.loads(answer[5:]))


async def ask(address: str, bodies: Sequence[str], connections: int, seconds: float) -> Load:
    """Do what wrk does, without it."""
    where = urlsplit(address)
    host, port = where.hostname or "", where.port or 80
    taken: list[float] = []
    errors, turn = 0, 0
    begun = perf_counter()

    async def one() -> None:
        nonlocal errors, turn
        reader, writer = await asyncio.open_connection(host, port)
        while not taken or perf_counter() - begun < seconds:
            body = bodies[turn % len(bodies)].encode()
            turn += 1
            started = perf_counter()
            writer.write(
                f"POST {where.path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
            await reader.readexactly(int(fields[b"content-length"]))
            taken.append((perf_counter() - started) * 1000)
            errors += not head.startswith(b"HTTP/1.1 200")
        writer.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    return _load(taken, perf_counter() - begun, errors)


async def ask_by_sdk(address: str, token: str, queries: Sequence[str], clients: int, seconds: float) -> Load:
    """Call the tool `recall` by clients of the SDK, each again and again."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    taken: list[float] = []
    errors = 0
    begun = perf_counter()

    async def one(number: int) -> None:
        nonlocal errors
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            turn = number * 997
            while perf_counter() - begun < seconds:
                started = perf_counter()
                result = await client.call_tool("recall", {"query": queries[turn % len(queries)]})
                taken.append((perf_counter() - started) * 1000)
                errors += bool(result.is_error)
                turn += 1

    await asyncio.gather(*(one(number) for number in range(clients)))
    return _load(taken, perf_counter() - begun, errors)


def embedded(embedder: str, seconds: float, together: int) -> tuple[float, float]:
    """Return how many queries a second an embedder embeds, on one thread, so many at once, and for what.

    The second number is the processor time of one query in ms.
    """
    queries = [query.text for query in mixed(1_000, 500)]
    resources = replace(Settings().resources, threads=1)
    with memorata.open(":memory:", embedder=embedder, config={"resources": resources}) as memory:
        model: Any = memory.embedder
        batch = getattr(model, "embed_queries", None) if together > 1 else None
        model.embed_query(queries[0])
        begun, used, count = perf_counter(), process_time(), 0
        while perf_counter() - begun < seconds:
            some = [queries[(count + number) % len(queries)] for number in range(together)]
            _ = [model.embed_query(text) for text in some] if batch is None else batch(some)
            count += together
        return count / (perf_counter() - begun), (process_time() - used) * 1000 / count


def bound_of(embedder: str, processes: int, seconds: float) -> float:
    """Return how many queries a second processes embed together: one at a time, or four if that is more."""
    rates: list[float] = []
    for together in (1, _TOGETHER):
        command = [sys.executable, "-m", "benchmarks.server", "--bare", str(together)]
        command += ["--embedder", embedder, "--seconds", str(seconds)]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
        answers = [json.loads(process.communicate()[0]) for process in running]
        rates.append(sum(rate for rate, _ in answers))
        cost = sum(cost for _, cost in answers) / processes
        print(f"bare embedder, {together} at a time: {rates[-1]:,.0f} a second, ", end="")
        print(f"{cost:.2f} ms of a processor each")
    return max(rates)


@contextmanager
def running(
    command: Sequence[str],
    settings: dict[str, str],
    stop: int = signal.SIGTERM,
    output: int = subprocess.PIPE,
) -> Iterator[Any]:
    """Run a server until the block ends."""
    process = subprocess.Popen(
        command, env={**os.environ, **settings}, stdout=output, stderr=output, text=True
    )
    try:
        yield process
    finally:
        process.send_signal(stop)
        process.communicate(timeout=120)


def processes_of(pid: int) -> list[int]:
    """Return a process and those that it started."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return [pid, *(each for child in children for each in processes_of(child))]


def processor_seconds(pid: int) -> float:
    """Return the processor time of a server's processes."""
    fields = (Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in processes_of(pid))
    return sum(int(each[11]) + int(each[12]) for each in fields) / _TICKS


def megabytes(pid: int) -> float:
    """Return the memory of a server's processes, what they share counted once."""
    rows = (
        line.split()
        for each in processes_of(pid)
        for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
    )
    return sum(int(row[1]) for row in rows if row[0] == "Pss:") / 1024


def _measured(pid: int, name: str, bound: float | None, work: Callable[[], Load]) -> Load:
    before = processor_seconds(pid)
    load = work()
    print(load.row(name, bound, processor_seconds(pid) - before), flush=True)
    return load


def over_http(db: Path, options: argparse.Namespace, bound: float, queries: Sequence[str]) -> None:
    """Measure `memorata server start`."""
    bodies = [json.dumps({"query": query}) for query in queries]
    command = [sys.executable, "-m", "memorata", "server", "start", "--port", "0", "--json", "--no-pages"]
    command += ["--log-level", "error", "--workers", str(options.workers)]
    settings = {"MEMORATA_DB": str(db), "MEMORATA_EMBEDDER": options.embedder}
    with running(command, settings) as process:
        started = perf_counter()
        address = json.loads(process.stdout.readline())["address"] + "/v1/recall"
        ready = perf_counter()
        first = asyncio.run(ask(address, bodies[:1], 1, 0.01))
        print(f"ready after {ready - started:.1f} s; the first recall took {first.p50:.0f} ms\n")
        print("| connections | recalls a second | share | p50 ms | p95 ms | p99 ms | processor ms | errors |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|")
        loaded(address, bodies[:200], 16, 3)
        for number, connections in enumerate(options.connections):
            # Other queries each time: none of them is in a cache.
            own = bodies[number :: len(options.connections)]
            work = lambda own=own, connections=connections: loaded(  # noqa: E731
                address, own, connections, options.seconds
            )
            _measured(process.pid, f"{connections}", bound, work)
        repeated = lambda: loaded(address, bodies[:100], 16, options.seconds)  # noqa: E731
        _measured(process.pid, "16, of 100 queries", bound, repeated)
        print(f"\nmemory of the server: {megabytes(process.pid):.0f} MB, what is shared counted once\n")


def over_mcp(db: Path, options: argparse.Namespace, bound: float, queries: Sequence[str]) -> None:
    """Measure `memorata server mcp` with keys, by as many clients of the SDK."""
    with memorata.open(db, embedder=options.embedder) as memory:
        token = ApiKeys(memory.store).create("agents", ["default"], ["read"])[1]
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "memorata",
        "server",
        "mcp",
        "-t",
        "http",
        "--require-key",
        "--port",
        str(port),
    ]
    settings = {"MEMORATA_DB": str(db), "MEMORATA_EMBEDDER": options.embedder}
    with running(command, settings, signal.SIGINT) as process:
        while "Listening" not in (line := process.stderr.readline()):
            assert line, "the server did not start"
        address = f"http://127.0.0.1:{port}/mcp"
        asyncio.run(ask_by_sdk(address, token, queries, 4, 2))
        work = lambda: asyncio.run(ask_by_sdk(address, token, queries, 16, options.seconds))  # noqa: E731
        _measured(process.pid, "16 clients of MCP", bound, work)


def over_chroma(python: str, options: argparse.Namespace) -> None:
    """Measure Chroma's server: the ten nearest vectors, the query's given."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        sock.close()
        command = [str(Path(python).with_name("chroma")), "run", "--path", folder, "--port", str(port)]
        quiet = {"ANONYMIZED_TELEMETRY": "False"}, signal.SIGTERM, subprocess.DEVNULL
        with running([*command, "--host", "127.0.0.1"], *quiet) as process:
            random = np.random.default_rng(0)
            fill = (
                "import chromadb, numpy as np, sys\n"
                f"client = chromadb.HttpClient(host='127.0.0.1', port={port})\n"
                "made = client.create_collection('memories', embedding_function=None)\n"
                f"rows = np.random.default_rng(1).normal(size=({options.size}, 256)).astype('float32')\n"
                "for at in range(0, len(rows), 1000):\n"
                "    part = rows[at:at + 1000]\n"
                "    made.add(ids=[str(at + n) for n in range(len(part))], embeddings=part.tolist(),\n"
                "             documents=[f'text {at + n}' for n in range(len(part))])\n"
                "print(made.id)"
            )
            sleep(5)
            ran = subprocess.run([python, "-c", fill], stdout=subprocess.PIPE, check=True, text=True)
            rows = random.normal(size=(500, 256)).round(4).tolist()
            bodies = [json.dumps({"query_embeddings": [row], "n_results": 10}) for row in rows]
            place = "/api/v2/tenants/default_tenant/databases/default_database/collections"
            address = f"http://127.0.0.1:{port}{place}/{ran.stdout.strip()}/query"
            loaded(address, bodies, 4, 2)
            for connections in (1, 16, 256):
                work = lambda n=connections: loaded(address, bodies, n, options.seconds)  # noqa: E731
                _measured(process.pid, f"{connections}, Chroma, vector given", None, work)


def in_process(db: Path, options: argparse.Namespace, queries: Sequence[str]) -> None:
    """Measure a recall without a server, its vector given, and Qdrant's without one."""
    with memorata.open(db, embedder=options.embedder) as memory:
        model: Any = memory.embedder
        given = [(text, model.embed_query(text)) for text in queries[:550]]
        for text, vector in given[:50]:
            memory.recall(Query(text, vector=vector))
        begun, used = perf_counter(), process_time()
        for text, vector in given[50:]:
            memory.recall(Query(text, vector=vector))
        count = len(given) - 50
        wall, used = (perf_counter() - begun) * 1000 / count, (process_time() - used) * 1000 / count
        print(f"Memorata, in the process, vector given: {wall:.2f} ms, {used:.2f} ms of a processor each")
    subprocess.run([options.qdrant, "-c", _QDRANT, str(options.size)], check=True)


def installed() -> str:
    """Return what of the extra `server` this environment has that makes it faster."""
    return ", ".join(f"{name}: {'yes' if find_spec(name) else 'NO'}" for name in _FASTER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4, 16, 64, 256])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--embedder", default="builtin")
    parser.add_argument("--agents", action="store_true")
    parser.add_argument("--chroma", metavar="PYTHON")
    parser.add_argument("--qdrant", metavar="PYTHON")
    parser.add_argument("--load", metavar="ADDRESS", help=argparse.SUPPRESS)
    parser.add_argument("--bare", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        print(json.dumps(embedded(options.embedder, options.seconds, options.bare)))
        return
    if options.load:
        bodies = sys.stdin.read().splitlines()
        load = asyncio.run(ask(options.load, bodies, options.connections[0], options.seconds))
        json.dump([getattr(load, name) for name in Load.__slots__], sys.stdout)
        return
    queries = list(dict.fromkeys(query.text for query in mixed(options.size, _QUERIES)))
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "memories.db"
        with memorata.open(db, embedder=options.embedder) as memory:
            for batch in batches(options.size):
                memory.remember_many([{"content": text} for text in batch.texts])
        print(f"{options.size:,} memories, {options.embedder}, {options.workers} processes; ", end="")
        print(f"{installed()}; load average {os.getloadavg()[0]:.1f}")
        bound = bound_of(options.embedder, len(os.sched_getaffinity(0)), min(10.0, options.seconds))
        over_http(db, options, bound, queries)
        if options.agents:
            over_mcp(db, options, bound, queries)
        if options.chroma:
            over_chroma(options.chroma, options)
        if options.qdrant:
            in_process(db, options, queries)
        print(f"\nload average {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
