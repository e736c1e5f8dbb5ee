"""Names in the file: what a check finds wrong with them, what a repair mends, and what a purge leaves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import memorata
from memorata.model import Memory, Relation
from memorata.model.errors import StoreCorrupt
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Terms
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import HERE, NOW, THERE, entry, words
from memorata_graph import Graph


def terms_of(memory: Memory) -> Terms:
    return {"content": words(memory.content)}


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:")
    opened.add([entry("m1", "tea"), entry("m2", "milk", namespace=THERE)])
    opened.entities.describe(HERE, "Anna", aliases=["Annie"])
    opened.relations.add(HERE, [Relation("Anna", "knows", "Ben", asserted_by="m1")], NOW)
    opened.entities.merge(HERE, "Anna", "Ben")
    opened.entities.describe(THERE, "Cyd")
    yield opened
    opened.close()


def connection(store: SqliteStore) -> SqliteSession:
    return store._connection


def test_an_entity_that_lost_its_names_is_told_of_and_not_stumbled_over(store: SqliteStore) -> None:
    connection(store).execute("DELETE FROM names WHERE name IN ('Anna', 'Annie')")
    with pytest.raises(StoreCorrupt, match="has no name"):
        store.entities.list(HERE)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (
            "UPDATE names SET folded = 'amma' WHERE name = 'Anna'",
            "1 names of entities are not found under their folded form",
        ),
        ("DELETE FROM names WHERE name = 'Ben'", "1 entities have no name"),
        (
            "UPDATE entities SET merged_into = 2 WHERE number = 1",
            "2 entities were merged in a circle or into another namespace",
        ),
        (
            "UPDATE entities SET merged_into = 3 WHERE number = 2",
            "1 entities were merged in a circle or into another namespace",
        ),
        (
            "UPDATE relations SET object = 3",
            "1 relations are between entities, or from a memory, of another namespace",
        ),
        (
            "UPDATE relations SET memory = (SELECT number FROM memories WHERE id = 'm2')",
            "1 relations are between entities, or from a memory, of another namespace",
        ),
        ("UPDATE names SET entity = 3, position = 5 WHERE name = 'Annie'", "1 names belong to entities of"),
    ],
)
def test_what_is_wrong_with_names_is_found(store: SqliteStore, damage: str, words: str) -> None:
    assert store.check(terms_of) == []
    connection(store).execute(damage)
    found = store.check(terms_of)
    assert len(found) == 1
    assert found[0].startswith(f"{HERE}: {words}")


def test_a_reference_to_nobody_is_a_problem_of_the_file(store: SqliteStore) -> None:
    connection(store).execute("PRAGMA foreign_keys = OFF")
    connection(store).execute("UPDATE relations SET subject = 99")
    assert store.check(terms_of) == ["the file: row 1 of relations refers to nothing in entities"]


def test_a_repair_finds_names_again(store: SqliteStore) -> None:
    before = store.entities.list(HERE)
    connection(store).execute("UPDATE names SET folded = 'x' || folded")
    assert store.check(terms_of, repair=True)
    assert store.check(terms_of) == []
    assert store.entities.list(HERE) == before
    assert store.entities.describe(HERE, "annie").entity.name == "Anna"


def test_names_that_only_a_purged_memory_mentioned_are_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    secrets = ("zqanna", "zqben", "zqalias", "zqabout", "zqkind", "zqtype", "zqold")
    with memorata.open(path, embedder="lexical", config={"durable": False}) as memory:
        said = memory.remember("x", entities=["zqanna"])
        memory.remember("y", entities=["Carl"])
        Graph(memory).entities.describe(
            "zqanna", type="zqkind", aliases=["zqalias"], description="zqabout " * 2000
        )
        Graph(memory).entities.relate("zqanna", "zqtype", "zqben", memory=said.id)
        Graph(memory).entities.describe("zqold", description="zqabout")
        Graph(memory).entities.merge("zqanna", "zqold")
        Graph(memory).entities.relate("Carl", "knows", "Dora")

        def left() -> set[str]:
            bytes_ = b"".join(file.read_bytes() for file in tmp_path.iterdir())
            return {secret for secret in secrets if secret.encode() in bytes_}

        assert left() == set(secrets)
        memory.purge(said.id)
        assert [each.entity.name for each in Graph(memory).entities.list()] == ["Carl", "Dora"]
        assert left() == set()
        assert memory.admin.check() == []


def test_a_relation_that_is_taken_back_leaves_the_file_with_the_next_vacuum(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical", config={"durable": False}) as memory:
        Graph(memory).entities.relate("zqanna", "zqknows", "zqben")
        Graph(memory).entities.unrelate("zqanna", "zqknows", "zqben")
        memory.store.vacuum()
        assert b"zq" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
