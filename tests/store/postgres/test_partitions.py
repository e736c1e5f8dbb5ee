"""Tables in partitions: the same store, with every namespace in one part of each table."""

import psycopg
import pytest

import memorata
from memorata.model.errors import InvalidArgument
from memorata.store.postgres.dialect import OWNED
from memorata.store.postgres.partitions import make_partitioned
from memorata.store.postgres.store import PostgresStore

TALK = (
    "Anna prefers green tea from Lisbon.",
    "Tom moved to Porto and works at the harbour now.",
    "Ben plays chess with Zoë every Sunday.",
    "The shop in Lisbon closed in March.",
)
QUESTIONS = ("which tea does Anna like?", "where does Tom work?", "what closed in March?")


@pytest.fixture
def parted(url: str) -> str:
    """The address of tables in three parts."""
    make_partitioned(url, 3)
    return url


def test_every_table_of_namespaces_is_partitioned(parted: str) -> None:
    with psycopg.connect(parted) as connection:
        rows = connection.execute(
            "SELECT c.relname, pg_get_partkeydef(c.oid), count(*) FROM pg_class c "
            "JOIN pg_inherits i ON i.inhparent = c.oid "
            "WHERE c.relkind = 'p' AND c.relnamespace = current_schema()::regnamespace GROUP BY 1, 2"
        ).fetchall()
    assert sorted(rows) == sorted((table, "HASH (namespace)", 3) for table in OWNED)


def test_memories_in_partitions_are_recalled_as_from_a_file(parted: str) -> None:
    with (
        memorata.open(parted, embedder="lexical") as ours,
        memorata.open(":memory:", embedder="lexical") as file,
    ):
        for engine in (ours, file):
            for person in range(6):
                engine.remember_many(list(TALK), namespace=f"people/{person}")
            engine.entities.relate("Tom", "works_at", "harbour", namespace="people/1")
            engine.correct(
                engine.list(namespace="people/2").memories[0].id, "It is open.", namespace="people/2"
            )
            engine.admin.purge_namespace("people/5")
        for question in QUESTIONS:
            for person in range(6):
                one, other = (
                    [
                        (hit.memory.content, hit.score)
                        for hit in engine.recall(question, namespace=f"people/{person}")
                    ]
                    for engine in (ours, file)
                )
                assert one == other
        assert ours.admin.check() == []
    with psycopg.connect(parted) as connection:
        for table in ("memories", "vectors", "records", "changes"):
            rows = connection.execute(
                f"SELECT namespace, count(DISTINCT tableoid) FROM {table} GROUP BY namespace"
            ).fetchall()
            assert {count for _, count in rows} == {1}
            (parts,) = connection.execute(f"SELECT count(DISTINCT tableoid) FROM {table}").fetchone() or (0,)
            assert parts > 1


def test_what_cannot_be_partitioned_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match="partitions must be a whole number of at least 1"):
        make_partitioned(url, 0)
    with pytest.raises(InvalidArgument, match="partitions must be at most 1024"):
        make_partitioned(url, 1025)
    PostgresStore(url).close()
    with pytest.raises(InvalidArgument, match="a database without our tables; copy the memories there"):
        make_partitioned(url, 2)
