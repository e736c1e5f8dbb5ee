"""Every statement of a recall and of a write is answered by an index, and nothing of a text is sampled."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

import memorata
from memorata.testing.samples import HERE
from memorata_postgres.dialect import register
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import ON_ONE

ELSEWHERE = ("embedders", "FROM settings", "INTO settings", "FROM recalls ORDER BY start")
"""What is asked when a store is opened, and how large the log is, which is asked once in 128 recalls."""
PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
INDEX_SCANS = ("Index Scan", "Index Only Scan", "Bitmap Index Scan")


class Sent:
    """Every statement that is sent while a verb runs, with the values it was last sent with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.by_verb: dict[str, dict[str, Any]] = defaultdict(dict)
        self._verb: str | None = None
        execute: Any = psycopg.Cursor.execute
        executemany: Any = psycopg.Cursor.executemany

        def executing(cursor: Any, query: Any, values: Any = None, **options: Any) -> Any:
            self._note(query, values)
            return execute(cursor, query, values, **options)

        def executing_many(cursor: Any, query: Any, rows: Any, **options: Any) -> Any:
            rows = list(rows)
            self._note(query, rows[0])
            return executemany(cursor, query, rows, **options)

        monkeypatch.setattr(psycopg.Cursor, "execute", executing)
        monkeypatch.setattr(psycopg.Cursor, "executemany", executing_many)

    @contextmanager
    def by(self, verb: str) -> Iterator[None]:
        self._verb = verb
        yield
        self._verb = None

    def _note(self, query: Any, values: Any) -> None:
        if self._verb and query.startswith(PLANNED) and not any(part in query for part in ELSEWHERE):
            self.by_verb[self._verb][query] = values


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a plan's nodes; on Citus, those of the one shard that it is sent to."""
    parts = list(plan.get("Plans", ()))
    if job := plan.get("Distributed Query", {}).get("Job"):
        assert job["Task Count"] == 1, plan
        parts += [part["Plan"] for remote in job["Tasks"][0]["Remote Plan"] for part in remote]
    return [plan, *(node for part in parts for node in nodes(part))]


def tables(plan: list[dict[str, Any]]) -> set[str]:
    """Return the tables of a plan; a shard of a table ends in its number."""
    return {
        node["Relation Name"].rstrip("0123456789").rstrip("_") for node in plan if "Relation Name" in node
    }


WANTED = {
    "remember_many": {
        "memories",
        "records",
        "vectors",
        "vector_codes",
        "segments",
        "changes",
        "namespaces",
        "writes",
    },
    "remember": {"memories", "records", "vectors", "changes", "namespaces", "writes"},
    "recall": {"memories", "namespaces"},
    "recall, filtered": {"memories", "namespaces"},
    "recall, behind": {"memories", "records", "vectors", "changes", "namespaces"},
    "recall, cold": {"memories", "records", "vectors", "namespaces"},
    "log of recalls": {"recalls", "recall_recipes", "changes", "namespaces", "writes"},
    "feedback": {"feedback", "memories", "recalls", "namespaces", "writes"},
    "correct": {"memories", "records", "vectors", "changes", "namespaces", "writes"},
    "update": {"memories", "changes", "namespaces", "writes"},
    "forget": {"memories", "changes", "namespaces", "writes"},
    "restore": {"memories", "changes", "namespaces", "writes"},
    "get": {"memories", "namespaces"},
}
"""The tables that a verb reads or writes, as far as it surely does: none of it is missed."""


@ON_ONE  # the workers of a cluster plan by their own settings
@pytest.mark.untraced
def test_nothing_that_is_asked_or_written_walks_over_a_table(
    store: PostgresStore, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        memorata.open(used, embedder="lexical") as memory,
        memorata.open(used, embedder="lexical") as other,
    ):
        memory.remember("Carla lives in Rome.")
        other.recall("where does Carla live?")
        sent = Sent(monkeypatch)
        with sent.by("remember_many"):
            memory.remember_many([f"Anna drinks tea number {number} in Oslo" for number in range(300)])
        with sent.by("remember"):
            first = memory.remember("Bruno plays chess with Anna.", source={"session": "s1"})
            memory.remember("Bruno plays chess with Anna.", source={"session": "s1"})
        with sent.by("recall"):
            for query in ("who plays chess?", "what does Anna drink in Oslo?"):
                result = memory.recall(query)
        with sent.by("recall, filtered"):
            memory.recall("who plays chess?", filter={"session": "s1"})
        with sent.by("log of recalls"):
            memory.recall_log.flush()
        with sent.by("feedback"):
            memory.admin.feedback.record(result.id, result.hits[0].memory.id, "click")
        with sent.by("correct"):
            second = memory.correct(first.id, "Bruno plays go with Anna.")
        with sent.by("update"):
            memory.update(second.id, tags=["game"])
        with sent.by("forget"):
            memory.forget(second.id)
        with sent.by("restore"):
            memory.restore(second.id)
        with sent.by("get"):
            memory.get(second.id)
        with sent.by("recall, behind"):
            other.recall("who plays go?")
    with memorata.open(used, embedder="lexical") as third, sent.by("recall, cold"):
        third.recall("who plays go?")
    with psycopg.connect(used, autocommit=True) as connection:
        register(connection)
        # As connections of a store are set up: where there is an index at all, it is taken.
        connection.execute("SET enable_seqscan = off; SET plan_cache_mode = force_custom_plan")
        for verb, statements in sent.by_verb.items():
            touched: set[str] = set()
            for sql, values in statements.items():
                (found,) = connection.execute(f"EXPLAIN (FORMAT JSON) {sql}", values).fetchone()  # type: ignore[misc]
                plan = nodes(found[0]["Plan"])
                touched |= tables(plan)
                for node in plan:
                    assert node["Node Type"] != "Seq Scan", (verb, sql, node["Relation Name"])
                    if node["Node Type"] in INDEX_SCANS:
                        assert "Index Cond" in node, (verb, sql, node)
            assert WANTED[verb] <= touched, (verb, WANTED[verb] - touched)
    assert sent.by_verb.keys() == WANTED.keys()


def test_a_planner_keeps_nothing_of_what_was_purged(store: PostgresStore, used: str) -> None:
    with memorata.open(used, embedder="lexical", namespace=HERE) as memory:
        memory.remember_many([f"Xanthippe hid parcel {number}" for number in range(300)], duplicates="off")
        memory.recall("where is the parcel of Xanthippe?")
    with psycopg.connect(used, autocommit=True) as connection:
        connection.execute("ANALYZE")
        rows = connection.execute(
            "SELECT tablename, attname, most_common_vals::text, histogram_bounds::text FROM pg_stats "
            "WHERE schemaname = current_schema()"
        ).fetchall()
    assert rows
    kept = [(table, column) for table, column, *values in rows if "anthippe" in "".join(map(str, values))]
    assert kept == []
    assert "content" not in {column for _, column, *_ in rows}
