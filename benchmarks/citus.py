"""Memorata on a Citus cluster beside Memorata on plain tables of the same server.

Run ``python -m benchmarks.citus --coordinator postgresql://…``; without a cluster it says so and ends. Two
schemas are made there and dropped afterwards, one of them distributed. The same memories are written to both,
and the same verbs called on both in turns. Then, for ``--seconds``, threads write, recall, correct, forget
and give feedback on the distributed one; with ``--stop COMMAND`` and ``--start COMMAND`` a worker is stopped
after a third of that time and started again after two thirds. At the end everything acknowledged must be
there, once.
"""

from __future__ import annotations

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded

# isort: split
import argparse
import logging
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import TypeVar
from urllib.parse import quote

import memorata
from memorata.model.errors import MemorataError, RecallNotFound
from memorata_postgres.distribution import distribute, placed

CITUS = "MEMORATA_TEST_CITUS"
_Result = TypeVar("_Result")
TOPICS = ("tea", "boats", "trains", "gardens", "chess", "bread", "stars", "rivers")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and return 1 if anything acknowledged was lost or doubled."""
    options = _options(arguments)
    # It warns of every pipeline that a stopped worker breaks; errors are counted below.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    if not options.coordinator:
        print(f"No Citus cluster: name its coordinator with --coordinator or {CITUS}.")
        return 0
    with schema(options.coordinator) as plain, schema(options.coordinator) as cluster:
        where = distribute(cluster, shards=options.shards)
        print(f"{where.shards} shards: {dict(where.servers)}; {options.namespaces} x {options.each} memories")
        for url in (plain, cluster):
            fill(url, options.namespaces, options.each)
        latencies(plain, cluster, options.namespaces, options.queries)
        return under_load(cluster, options)


@contextmanager
def schema(base: str) -> Iterator[str]:
    """Make a schema, give its address, and drop it."""
    import psycopg

    name = f"bench_{os.getpid()}_{random.getrandbits(32):08x}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield f"{base}{'&' if '?' in base else '?'}options={quote(f'-csearch_path={name}')}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute(f"DROP SCHEMA {name} CASCADE")


def text(number: int) -> str:
    """Return one of many sentences."""
    return f"User {number % 97} told us about {TOPICS[number % 8]} number {number} in week {number % 53}."


def fill(url: str, namespaces: int, each: int) -> None:
    """Write the memories of every namespace."""
    with memorata.open(url, embedder="lexical", config={"duplicates": "off"}) as memory:
        for number in range(namespaces):
            memory.remember_many(map(text, range(each)), namespace=f"users/{number}")


def latencies(plain: str, cluster: str, namespaces: int, queries: int) -> None:
    """Print how long recalls and writes take on both, asked in turns."""
    chance = random.Random(1)
    spent: dict[tuple[str, str], list[float]] = {}
    with (
        memorata.open(plain, embedder="lexical") as one,
        memorata.open(cluster, embedder="lexical") as several,
    ):
        for turn in range(queries):
            namespace, number = f"users/{chance.randrange(min(namespaces, 20))}", chance.randrange(10_000)
            for name, memory in (("plain", one), ("Citus", several)):
                for verb, spent_ms in verbs(memory, namespace, turn, number):
                    spent.setdefault((verb, name), []).append(spent_ms)
    print("\n| verb | plain tables, ms | Citus, ms | more |\n|---|--:|--:|--:|")
    for verb in dict.fromkeys(verb for verb, _ in spent):
        ours, theirs = median(spent[verb, "plain"]), median(spent[verb, "Citus"])
        print(f"| {verb} | {ours:.2f} | {theirs:.2f} | {theirs - ours:+.2f} |")


def verbs(memory: memorata.Engine, namespace: str, turn: int, number: int) -> Iterator[tuple[str, float]]:
    """Call every everyday verb once, and yield how many milliseconds each took."""

    def timed(call: Callable[[], _Result]) -> tuple[_Result, float]:
        start = time.perf_counter()
        return call(), (time.perf_counter() - start) * 1e3

    query = f"what about {TOPICS[number % 8]} in week {number % 53}?"
    # What was corrected and forgotten in the turn before is read again by the first recall.
    yield "recall after correct and forget", timed(lambda: memory.recall(query, namespace=namespace))[1]
    found, spent = timed(lambda: memory.recall(query, namespace=namespace))
    yield "recall", spent
    memory.recall_log.flush()
    hit = found.hits[0].memory.id
    yield (
        "feedback",
        timed(lambda: memory.admin.feedback.record(found.id, hit, "click", namespace=namespace))[1],
    )
    note = f"Note {turn}-{number}: {text(number)}"
    written, spent = timed(lambda: memory.remember(note, namespace=namespace))
    yield "remember", spent
    yield "get", timed(lambda: memory.get(written.id, namespace=namespace))[1]
    corrected, spent = timed(lambda: memory.correct(written.id, f"Again: {note}", namespace=namespace))
    yield "correct", spent
    yield "forget", timed(lambda: memory.forget(corrected.id, namespace=namespace))[1]


def under_load(url: str, options: argparse.Namespace) -> int:
    """Write and recall from several threads, stop and start a worker meanwhile, and compare."""
    # By thread and namespace.
    acknowledged: list[dict[str, set[str]]] = [{} for _ in range(options.threads)]
    forgotten: list[dict[str, set[str]]] = [{} for _ in range(options.threads)]
    counts: Counter[str] = Counter()
    messages: dict[str, str] = {}
    end = time.monotonic() + options.seconds
    with memorata.open(url, embedder="lexical") as memory:

        def work(seed: int) -> None:
            chance = random.Random(seed)
            number = 0
            while time.monotonic() < end:
                namespace = f"load/{chance.randrange(40)}"
                number += 1
                content = f"Thread {seed} wrote line {number} about {TOPICS[number % 8]}."
                contents = acknowledged[seed].setdefault(namespace, set())
                try:
                    written = memory.remember(content, namespace=namespace, duplicates="off")
                    contents.add(content)
                    counts["written"] += 1
                    found = memory.recall(f"what about {TOPICS[number % 8]}?", namespace=namespace)
                    counts["recalled"] += 1
                    if number % 4 == 1:
                        # Until it is acknowledged, nobody knows which of both is there.
                        contents.discard(content)
                        memory.correct(written.id, f"{content} Or so.", namespace=namespace)
                        contents.add(f"{content} Or so.")
                        counts["corrected"] += 1
                    elif number % 4 == 2:
                        contents.discard(content)
                        memory.forget(written.id, namespace=namespace)
                        forgotten[seed].setdefault(namespace, set()).add(content)
                        counts["forgotten"] += 1
                    elif number % 4 == 3 and found.hits:
                        shown = found.hits[0].memory.id
                        memory.admin.feedback.record(found.id, shown, "click", namespace=namespace)
                        counts["feedback"] += 1
                except RecallNotFound:
                    # It was not logged: the log is written on the side, and its worker was down.
                    counts["recall was not logged"] += 1
                except MemorataError as error:
                    counts[type(error).__name__] += 1
                    messages[type(error).__name__] = str(error)
                    time.sleep(0.05)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(options.threads)]
        before = placed(lambda sql: _first(url, sql))
        for thread in threads:
            thread.start()
        for share, command in ((1 / 3, options.stop), (2 / 3, options.start)):
            if command:
                time.sleep(max(0.0, end - options.seconds * (1 - share) - time.monotonic()))
                subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
        for thread in threads:
            thread.join()
        after = placed(lambda sql: _first(url, sql))
        wrong = Counter[str]()
        for namespace in sorted({path for written in acknowledged for path in written}):
            there = Counter(item.content for item in _all(memory, namespace))
            wrong["lost"] += sum(
                text not in there for each in acknowledged for text in each.get(namespace, ())
            )
            wrong["doubled"] += sum(count > 1 for count in there.values())
            wrong["there again"] += sum(
                text in there for each in forgotten for text in each.get(namespace, ())
            )
        problems = memory.admin.check()
    print(f"\n{options.seconds} s, {options.threads} threads: {dict(counts)}")
    for name, message in messages.items():
        print(f"the last {name}: {message}")
    print(f"single-shard statements {after.single_shard - before.single_shard:,}, ", end="")
    print(f"multi-shard {after.multi_shard - before.multi_shard:,}")
    print(
        f"lost {wrong['lost']}, doubled {wrong['doubled']}, forgotten and there {wrong['there again']}, ",
        end="",
    )
    print(f"problems found by check: {problems or 'none'}")
    return int(bool(wrong.total() or problems))


def _all(memory: memorata.Engine, namespace: str) -> Iterator[memorata.Memory]:
    cursor = None
    while True:
        page = memory.list(namespace=namespace, limit=1000, cursor=cursor)
        yield from page.memories
        cursor = page.cursor
        if cursor is None:
            return


def _first(url: str, sql: str) -> tuple[object, ...] | None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql).fetchone()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--coordinator", default=os.environ.get(CITUS), help="its address")
    parser.add_argument("--namespaces", type=int, default=200)
    parser.add_argument("--each", type=int, default=500)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--stop", help="a command that stops a worker")
    parser.add_argument("--start", help="a command that starts it again")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
