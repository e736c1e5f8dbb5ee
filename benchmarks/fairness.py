"""What one key can do to another: a victim's p50 while somebody else attacks the same server.

A server with keys, in a process of its own, holds two namespaces of 3,000 memories. The victim asks one query
after the other. The attacker has a read key for the other namespace and 16 connections. Four attacks: as many
recalls as fit; recalls of 1,000 hits with explanations; communities with a seed that no cache knows; exports
that are asked for and not read.

    python -m benchmarks.fairness
    python -m benchmarks.fairness --seconds 3      # each part shorter
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

import memorata
from memorata.engine.access import ApiKeys

MEMORIES: Final = 3_000
CONNECTIONS: Final = 16
NAMES: Final = ("Anna", "Bert", "Clara", "Dora", "Emil", "Frida", "Gustav", "Hanna")
TOPICS: Final = ("tea", "the garden", "Paris", "a train", "music", "the harbour", "bread", "mathematics")


def fill(path: Path) -> dict[str, str]:
    """Make the memories and return a token for each of the two."""
    tokens = {}
    with memorata.open(path, embedder="lexical") as memory:
        for name in ("victim", "attacker"):
            choice = random.Random(name).choice
            memory.remember_many(
                [
                    f"{choice(NAMES)} and {choice(NAMES)} on {choice(TOPICS)} and {choice(TOPICS)} ({n})"
                    for n in range(MEMORIES)
                ],
                namespace=name,
            )
            tokens[name] = ApiKeys(memory.store).create(name, [name], ["read"])[1]
    return tokens


class Client:
    """One connection of one of the two."""

    def __init__(self, port: int, name: str, token: str) -> None:
        self._port, self._name, self._token = port, name, token
        # Two machines, as far as one has addresses for them.
        source = ("127.0.0.2" if name == "victim" else "127.0.0.1", 0)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, 60, source)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> int:
        """Return the status of an answer, after reading it."""
        separator = "&" if "?" in path else "?"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            self._connection.request(
                method,
                f"{path}{separator}namespace={self._name}",
                None if body is None else json.dumps(body),
                headers,
            )
            answer = self._connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0

    def recall(self, **more: object) -> int:
        """Ask a query."""
        names = f"{random.choice(NAMES)} and {random.choice(TOPICS)}"
        return self.ask("POST", "/v1/recall", {"query": names, **more})

    def communities(self) -> int:
        """Ask for communities with a seed of its own."""
        return self.ask("GET", f"/v1/communities?seed={random.randrange(10**9)}")

    def unread_export(self) -> socket.socket:
        """Ask for everything, and read nothing of it."""
        sock = socket.create_connection(("127.0.0.1", self._port))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        sock.sendall(
            f"GET /v1/export?namespace={self._name} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {self._token}\r\n\r\n".encode()
        )
        return sock


def under(
    attack: Callable[[Client], object] | None, port: int, tokens: dict[str, str], seconds: float
) -> str:
    """Return a row of the table: what the victim saw while the attack went on."""
    over = threading.Event()
    statuses: list[int] = []

    def attacker() -> None:
        client = Client(port, "attacker", tokens["attacker"])
        opened: list[object] = []
        while not over.is_set() and attack is not None:
            result = attack(client)
            if isinstance(result, int):
                statuses.append(result)
            else:
                opened.append(result)
                over.wait(0.2)

    threads = [threading.Thread(target=attacker, daemon=True) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    victim = Client(port, "victim", tokens["victim"])
    victim.recall()
    over.wait(0.5)
    took: list[float] = []
    until, failed = perf_counter() + seconds, 0
    while perf_counter() < until or len(took) < 5:
        started = perf_counter()
        failed += victim.recall() != 200
        took.append(perf_counter() - started)
        over.wait(0.005)
    over.set()
    for thread in threads:
        thread.join(60)
    took.sort()
    served = sum(status == 200 for status in statuses)
    return (
        f"{median(took) * 1000:8.1f} {took[int(len(took) * 0.95)] * 1000:8.1f} {len(took):7d} {failed:7d} "
        f"{served:9d} {len(statuses) - served:9d}"
    )


def main() -> None:
    """Measure the victim idle and under each attack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8.0)
    seconds = parser.parse_args().seconds
    attacks: dict[str, Callable[[Client], object] | None] = {
        "idle": None,
        "recalls": Client.recall,
        "1,000 hits explained": lambda client: client.recall(limit=1_000, explain=True),
        "communities": Client.communities,
        "exports unread": Client.unread_export,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        tokens = fill(path)
        command = [
            sys.executable,
            "-m",
            "memorata",
            "server",
            "start",
            "--port",
            "0",
            "--json",
            "--require-key",
        ]
        environment = {**os.environ, "MEMORATA_DB": str(path), "MEMORATA_EMBEDDER": "lexical"}
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            assert server.stdout is not None
            port = int(json.loads(server.stdout.readline())["address"].rpartition(":")[2])
            print(f"{'attack':22}  p50 ms   p95 ms   asked  failed    served   refused")
            for name, attack in attacks.items():
                print(f"{name:22}{under(attack, port, tokens, seconds)}", flush=True)
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
