"""What is derived can be wrong, is found to be, and is made anew."""

import os
from collections.abc import Mapping

import psycopg
import pytest

from memorata.model.errors import NotSupportedHere, StoreCorrupt
from memorata.model.memory import Memory, Source
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, NOW, THERE, direction, entry
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import CITUS


def terms_of(memory: Memory) -> Mapping[str, Mapping[str, int]]:
    return entry(memory.id, memory.content, tags=memory.tags).terms


@pytest.fixture
def full(store: PostgresStore) -> PostgresStore:
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add(
        [
            entry("a", "tea tea milk", direction(1), tags=("drink",)),
            entry("b", "milk", source=Source("anna", "s", 1)),
            entry("c", "milk", supersedes=("b",)),
            entry("d", "cup", direction(0, 1)),
            entry("e", "cup", namespace=THERE),
        ]
    )
    store.forget(HERE, ["d"], NOW)
    return store


def test_a_sound_store_has_no_problems(full: PostgresStore) -> None:
    assert full.check(terms_of) == []


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            "UPDATE records SET record = set_byte(record, 20, 1) WHERE slot = 0",
            "does not match its checksum",
        ),
        (
            "UPDATE records r SET terms = o.terms FROM records o "
            "WHERE o.namespace = r.namespace AND o.slot = 1 AND r.slot = 0",
            "words are not listed for the memories that contain them",
        ),
        ("UPDATE records SET terms = NULL WHERE slot = 0", "words are not listed"),
        ("DELETE FROM records WHERE slot = 3", "there are not 4 records"),
        ("UPDATE namespaces SET flushed = 2 WHERE path = 'acme/alice'", "segments end at slot 0, not at 2"),
        ("UPDATE changes SET kind = 'addd' WHERE slot = 1", "memories are not listed once"),
    ],
)
def test_what_is_wrong_is_said_and_made_anew(full: PostgresStore, used: str, damage: str, said: str) -> None:
    with psycopg.connect(used, autocommit=True) as connection:
        connection.execute(damage)
    found = full.check(terms_of, repair=True)
    assert found
    assert any(said in text for text in found)
    assert full.check(terms_of) == []
    with full.view(HERE, NOW) as view:
        assert view.document_frequencies(["tea", "milk"]) == (2, {"tea": 1, "milk": 2})
        assert view.status.pending == 2


@pytest.mark.parametrize("damage", ["content = 'lies'", "confidence = 0.25"])
def test_what_was_said_is_never_touched(full: PostgresStore, used: str, damage: str) -> None:
    with psycopg.connect(used, autocommit=True) as connection:
        connection.execute(f"UPDATE memories SET {damage} WHERE id = 'a'")
    said = full.check(terms_of, repair=True)
    assert any("its checksum is another" in text for text in said)
    assert full.check(terms_of) == said


def test_a_server_is_copied_by_its_own_means(full: PostgresStore) -> None:
    with pytest.raises(NotSupportedHere, match="use pg_dump"):
        full.backup("copy.db")


def test_statistics_count_everything(full: PostgresStore) -> None:
    found = dict(full.statistics())
    assert found.pop("bytes") > 0
    assert found.pop("changes") >= 7
    assert found.pop("methods") == full.methods()
    assert found.pop("server").startswith("PostgreSQL ")
    for of_citus in ("shards", "servers", "single_shard", "multi_shard"):
        assert (of_citus in found) == bool(os.environ.get(CITUS))
        found.pop(of_citus, None)
    assert found == {
        "memories": 5,
        "forgotten": 1,
        "superseded": 1,
        "namespaces": 2,
        "sessions": 1,
        "entities": 0,
        "relations": 0,
        "segments": 0,
        "waiting": 5,
        "vectors": {EMBEDDER: 2},
    }


def test_rows_that_cannot_be_read_are_named_and_nothing_else_is_held_up(
    full: PostgresStore, used: str
) -> None:
    with psycopg.connect(used, autocommit=True) as other:
        other.execute("UPDATE memories SET tier = 'nonsense' WHERE id = 'a'")
        other.execute("UPDATE memories SET metadata = '{' WHERE id = 'b'")
        other.execute("UPDATE memories SET created_at = 9e18 WHERE id = 'c'")
        other.execute(
            "UPDATE records SET terms = NULL WHERE namespace = "
            "(SELECT number FROM namespaces WHERE path = %s)",
            (THERE,),
        )
    for id_ in "abc":
        with pytest.raises(StoreCorrupt, match=f"the row of memory {id_} cannot be read .* from a backup"):
            full.get(HERE, [id_])
    found = full.check(terms_of, repair=True)
    assert [text.partition(" (")[0] for text in found[:3]] == [
        f"{HERE}: the row of memory {id_} cannot be read" for id_ in "abc"
    ]
    assert (len(found), found[3].startswith(f"{THERE}: ")) == (4, True)
    # What can be mended is.
    assert len(full.check(terms_of)) == 3
