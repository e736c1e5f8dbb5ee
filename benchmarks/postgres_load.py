"""Servers on one database under load, one of them killed and the database crashed, and what is left of it.

Run ``python -m benchmarks.postgres_load --seconds 60``. Real servers answer real HTTP.
Writers send memories under idempotency keys, one at a time or a few at once, and try again at another server
whenever something fails, until they are told that it is written. Some writes are sent to two servers at the
same time. Readers ask for something that was acknowledged before, and compare all they get with it. After a
third of the time one server is killed (SIGKILL), and started again a little later; after two thirds the
database crashes (``pg_ctl restart -m immediate``) and comes up again.

At the end everything in the database is compared with what was acknowledged: nothing may be missing, nothing
there twice, nothing that nobody sent. Errors are counted by kind; they are allowed, wrong answers are not.
The exit code is 1 if anything was lost, doubled or wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.postgres_databases import progress
from benchmarks.postgres_load_clients import Ledger, Reader, Writer
from benchmarks.postgres_server import SETTINGS, Running, running
from memorata.engine import open as open_engine

_SMALL = {**SETTINGS, "shared_buffers": "256MB", "max_wal_size": "1GB"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is in the database, compared with what was acknowledged."""

    acknowledged: int
    lost: int
    doubled: int
    unasked: int
    unanswered: int
    problems: int

    @property
    def sound(self) -> bool:
        """Whether nothing is lost, doubled, or there without anybody having sent it."""
        return not (self.lost or self.doubled or self.unasked or self.problems)


class Servers:
    """Some `memorata server start` processes on one database.

    Parameters
    ----------
    url
        The database.
    count
        How many there are.
    """

    def __init__(self, url: str, count: int) -> None:
        self._url = url
        self._processes: list[subprocess.Popen[str]] = []
        self.addresses: list[tuple[str, int]] = []
        for _ in range(count):
            self._processes.append(self._begun(0))
        for process in self._processes:
            self.addresses.append(_address(process))

    def kill(self, number: int) -> None:
        """Kill one, in the middle of whatever it does."""
        self._processes[number].kill()
        self._processes[number].wait()

    def start_again(self, number: int) -> None:
        """Start one again where it was."""
        self._processes[number] = self._begun(self.addresses[number][1])
        _address(self._processes[number])

    def close(self) -> None:
        """End all of them."""
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _begun(self, port: int) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-m",
            "memorata",
            "server",
            "start",
            "--port",
            str(port),
            "--json",
            "--no-pages",
        ]
        return subprocess.Popen(
            [*command, "--log-level", "error"],
            env={**os.environ, "MEMORATA_DB": self._url, "MEMORATA_EMBEDDER": "lexical"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


def disturbed(server: Running, servers: Servers, seconds: float, stop: threading.Event) -> list[str]:
    """Let time pass, kill a server at a third of it and let the database crash at two thirds."""
    told = []
    begun = time.monotonic()

    def until(share: float) -> None:
        stop.wait(max(0.0, begun + share * seconds - time.monotonic()))

    until(1 / 3)
    told.append(f"{time.monotonic() - begun:.1f} s: server 1 killed")
    progress(told[-1])
    servers.kill(1)
    until(1 / 3 + min(0.1, 3 / seconds))
    servers.start_again(1)
    told.append(f"{time.monotonic() - begun:.1f} s: server 1 answers again")
    progress(told[-1])
    until(2 / 3)
    told.append(f"{time.monotonic() - begun:.1f} s: the database crashes")
    progress(told[-1])
    server.restart("immediate")
    told.append(f"{time.monotonic() - begun:.1f} s: the database is up again")
    progress(told[-1])
    until(1.0)
    stop.set()
    return told


def compared(url: str, ledger: Ledger) -> Outcome:
    """Compare what is in the database with what was acknowledged."""
    with open_engine(url, embedder="lexical") as engine:
        there = [(memory.namespace, memory.content, memory.id) for memory in engine.store.export(None)]
        hidden = [each.mentions for each in engine.store.export(None) if each.mentions != 1]
        problems = engine.admin.check()
    counts = Counter((namespace, content) for namespace, content, _ in there)
    ids = {(namespace, content): id_ for namespace, content, id_ in there}
    acknowledged = ledger.acknowledged()
    known = {(each.namespace, each.content) for each in acknowledged}
    return Outcome(
        acknowledged=len(acknowledged),
        lost=sum(ids.get((each.namespace, each.content)) != each.id for each in acknowledged),
        doubled=sum(count - 1 for count in counts.values()) + len(hidden),
        unasked=sum(each not in ledger.sent for each in counts),
        unanswered=sum(each not in known for each in counts),
        problems=len(problems),
    )


def loaded(options: argparse.Namespace) -> dict[str, Any]:
    """Put load on servers, disturb them, and return what came of it."""
    ledger, stop = Ledger(), threading.Event()
    with ExitStack() as stack:
        server = stack.enter_context(running(settings=_SMALL))
        url = server.made("load")
        open_engine(url, embedder="lexical").close()
        servers = Servers(url, options.servers)
        stack.callback(servers.close)
        progress(f"{options.servers} servers, {options.writers} writers, {options.readers} readers …")
        crowd = [Writer(number, servers.addresses, ledger, stop) for number in range(options.writers)]
        asking = [Reader(number, servers.addresses, ledger, stop) for number in range(options.readers)]
        for each in (*crowd, *asking):
            each.start()
        begun = time.monotonic()
        told = disturbed(server, servers, options.seconds, stop)
        for each in (*crowd, *asking):
            each.join(120)
        seconds = time.monotonic() - begun
        servers.close()
        outcome = compared(url, ledger)
    reads = [each for one in asking for each in one.caller.taken]
    written = [each for one in crowd for each in one.caller.taken]
    failed = [str(one.failure) for one in (*crowd, *asking) if one.failure is not None or one.is_alive()]
    wrong = [each for one in asking for each in one.wrong]
    return {
        "seconds": seconds,
        "acknowledged": outcome.acknowledged,
        "lost": outcome.lost,
        "doubled": outcome.doubled,
        "unasked": outcome.unasked,
        "unanswered": outcome.unanswered,
        "problems": outcome.problems,
        "wrong": wrong,
        "failed": failed,
        "sound": outcome.sound and not wrong and not failed,
        "requests": len(written),
        "twins": sum(one.twins for one in crowd),
        "replayed": sum(one.replayed for one in crowd),
        "recalls": len(reads),
        "write_ms": _percentiles(written),
        "recall_ms": _percentiles(reads),
        "longest_wait": max((one.longest for one in crowd), default=0.0),
        "errors": dict(sorted(ledger.errors.items())),
        "events": told,
    }


def shown(options: argparse.Namespace, found: dict[str, Any]) -> str:
    """Return what came of it, for people."""
    lines = [
        f"{options.servers} servers on one database, {options.writers} writers and {options.readers} "
        f"readers for {found['seconds']:.0f} s; {'; '.join(found['events'])}.",
        "",
        "| | |",
        "|---|--:|",
        f"| memories acknowledged | {_rate(found['acknowledged'], found['seconds'])} |",
        f"| lost | {found['lost']} |",
        f"| there twice | {found['doubled']} |",
        f"| there though nobody sent them | {found['unasked']} |",
        f"| there, but the answer never arrived | {found['unanswered']} |",
        f"| problems found by `check` | {found['problems']} |",
        f"| recalls and looks | {_rate(found['recalls'], found['seconds'])} |",
        f"| wrong answers | {len(found['wrong'])} |",
        f"| write requests, p50 / p99 | {found['requests']:,}, {found['write_ms']} |",
        f"| recall p50 / p99 | {found['recall_ms']} |",
        f"| sent to two servers at once | {found['twins']} |",
        f"| answered from an earlier answer | {found['replayed']} |",
        f"| longest wait for an acknowledgement | {found['longest_wait']:.1f} s |",
        *(f"| errors: {kind} | {count} |" for kind, count in found["errors"].items()),
        "",
        *(f"WRONG: {each}" for each in (*found["wrong"][:10], *found["failed"])),
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.postgres_load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--writers", type=int, default=6)
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(arguments)
    found = loaded(options)
    print(json.dumps(found) if options.json else shown(options, found))
    return 0 if found["sound"] else 1


def _address(process: subprocess.Popen[str]) -> tuple[str, int]:
    assert process.stdout is not None
    host, _, port = json.loads(process.stdout.readline())["address"].removeprefix("http://").rpartition(":")
    return host, int(port)


def _rate(count: int, seconds: float) -> str:
    return f"{count:,} ({count / seconds:,.0f}/s)"


def _percentiles(milliseconds: list[float]) -> str:
    if not milliseconds:
        return "none"
    p50, p99 = np.percentile(milliseconds, [50, 99])
    return f"{p50:.0f} ms / {p99:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
