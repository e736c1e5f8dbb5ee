"""How logged recalls lie in the tables: recipes once, the oldest let go, no trace after a purge."""

import numpy as np
import psycopg
import pytest

from memorata.store.postgres.store import PostgresStore
from memorata.store.recall_log import LogBounds, LoggedRecall
from memorata.store.samples import HERE, NOW, THERE, entry


def logged(
    id_: str, slots: list[int], namespace: str = HERE, recipe: str = "mine", seen: int | None = None
) -> LoggedRecall:
    return LoggedRecall(
        id=id_,
        namespace=namespace,
        at=NOW,
        query=f"question {id_}",
        recipe={"name": recipe},
        embedder="lexical",
        situation={},
        milliseconds={},
        columns=("words",),
        values=np.ones((len(slots), 1), np.float32),
        slots=np.array(slots, np.intp),
        shown=tuple(range(len(slots))),
        seen=seen,
    )


@pytest.fixture
def inhabited(store: PostgresStore) -> PostgresStore:
    store.add([entry(name, name) for name in "abc"])
    store.add([entry("x", "x", namespace=THERE)])
    return store


def count(used: str, table: str) -> int:
    with psycopg.connect(used, autocommit=True) as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return int(row[0])


def test_a_recipe_is_written_once_in_a_namespace_and_goes_with_its_last_recall(
    inhabited: PostgresStore, used: str
) -> None:
    inhabited.log_recalls([logged("r1", [0]), logged("r2", [1]), logged("x1", [0], THERE)], LogBounds())
    inhabited.log_recalls([logged("r3", [2], recipe="yours")], LogBounds())
    assert count(used, "recall_recipes") == 3
    inhabited.purge(HERE, ["a", "b"])
    assert [each.id for each in inhabited.recalls(HERE)] == ["r3"]
    assert count(used, "recall_recipes") == 2


def test_the_oldest_goes_first_whichever_namespace_it_is_of(inhabited: PostgresStore) -> None:
    for number in range(4):
        inhabited.log_recalls([logged(f"r{number}", [0], (HERE, THERE)[number % 2])], LogBounds(recalls=3))
    assert [each.id for each in inhabited.recalls(HERE)] == ["r2"]
    assert [each.id for each in inhabited.recalls(THERE)] == ["r3", "r1"]


def test_of_a_recall_only_what_was_purged_is_removed(inhabited: PostgresStore) -> None:
    inhabited.log_recalls([logged("r1", [2, 0, 1])], LogBounds())
    inhabited.purge(HERE, ["a"])
    (left,) = inhabited.recalls(HERE)
    assert (left.ids, left.shown) == (("c", "b"), (0, 1))


def test_what_was_asked_before_a_purge_is_not_logged_after_it(inhabited: PostgresStore) -> None:
    """It may name what is gone."""
    before = inhabited.changes(0, 100)[-1].number
    inhabited.purge(HERE, ["a"])
    after = inhabited.changes(0, 100)[-1].number
    inhabited.log_recalls([logged("old", [1], seen=before), logged("new", [1], seen=after)], LogBounds())
    assert [each.id for each in inhabited.recalls(HERE)] == ["new"]
    assert inhabited.purge_namespace(THERE) == 1
    inhabited.add([entry("x", "x", namespace=THERE)])
    inhabited.log_recalls([logged("of the former", [0], THERE, seen=after)], LogBounds())
    assert inhabited.recalls(THERE) == []
