"""Every statement of a recall and of a write is answered by an index, and nothing of a text is sampled."""

from typing import Any

import psycopg
import pytest
from tests.store.samples import HERE

import memorata
from memorata.store.postgres import session as session_module
from memorata.store.postgres.dialect import register
from memorata.store.postgres.session import PostgresSession, bound, translated
from memorata.store.postgres.store import PostgresStore

Sent = dict[str, Any]
ELSEWHERE = ("embedders", "FROM settings", "INTO settings", "FROM recalls ORDER BY start")
"""What is asked when a store is opened, and how large the log is, which is asked once in 128 recalls."""
WITHOUT_A_TABLE = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Every statement that is sent, with the values it was last sent with."""
    statements: Sent = {}
    send: Any = session_module.send
    execute: Any = PostgresSession.execute
    executemany: Any = PostgresSession.executemany

    def sending(connection: Any, statement: Any) -> Any:
        statements[statement[0]] = statement[1]
        return send(connection, statement)

    def executing(self: PostgresSession, sql: str, values: Any = (), /) -> Any:
        statements[sql] = values
        return execute(self, sql, values)

    def executing_many(self: PostgresSession, sql: str, rows: Any, /) -> None:
        kept = list(rows)
        if kept:
            statements[sql] = kept[0]
        executemany(self, sql, kept)

    monkeypatch.setattr(session_module, "send", sending)
    monkeypatch.setattr(PostgresSession, "execute", executing)
    monkeypatch.setattr(PostgresSession, "executemany", executing_many)
    return statements


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for part in plan.get("Plans", ()) for node in nodes(part))]


def test_nothing_that_is_asked_or_written_walks_over_a_table(
    store: PostgresStore, used: str, sent: Sent
) -> None:
    with memorata.open(used, embedder="lexical") as memory:
        memory.remember_many([f"Anna drinks tea number {number} in Oslo" for number in range(300)])
        first = memory.remember("Bruno plays chess with Anna.", source={"session": "s1"})
        memory.remember("Bruno plays chess with Anna.", source={"session": "s1"})
        for query in ("who plays chess?", "what does Anna drink in Oslo?"):
            result = memory.recall(query)
        memory.feedback.record(result.id, result.hits[0].memory.id, "click")
        second = memory.correct(first.id, "Bruno plays go with Anna.")
        memory.update(second.id, tags=["game"])
        memory.forget(first.id)
    with memorata.open(used, embedder="lexical") as other:
        other.recall("who plays go?")
    looked_at = 0
    with psycopg.connect(used, autocommit=True) as connection:
        register(connection)
        # As connections of a store are set up: where there is an index at all, it is taken.
        connection.execute("SET enable_seqscan = off; SET plan_cache_mode = force_custom_plan")
        for sql, values in sent.items():
            text = translated(sql)
            if text.startswith(WITHOUT_A_TABLE) or any(part in text for part in ELSEWHERE):
                continue
            (found,) = connection.execute(
                f"EXPLAIN (FORMAT JSON) {text}", bound(text, values) or None
            ).fetchone()  # type: ignore[misc]
            looked_at += 1
            for node in nodes(found[0]["Plan"]):
                assert node["Node Type"] != "Seq Scan", (text, node["Relation Name"])
                if node["Node Type"] in ("Index Scan", "Index Only Scan", "Bitmap Index Scan"):
                    assert "Index Cond" in node, (text, node)
    assert looked_at > 40


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
