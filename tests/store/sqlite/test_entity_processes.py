"""Two processes, one file: what one declares the other knows at once."""

from pathlib import Path

from memorata.model import Relation
from memorata.store.dialects import SqliteStore
from memorata.testing.samples import HERE, NOW


def test_another_process_sees_what_was_declared(tmp_path: Path) -> None:
    one, other = (SqliteStore(tmp_path / "m.db", durable=False) for _ in range(2))
    assert other.naming_change(HERE) == 0
    one.entities.describe(HERE, "Anna", aliases=["Annie"])
    assert other.naming_change(HERE) == one.naming_change(HERE) > 0
    other.relations.add(HERE, [Relation("ANNIE", "knows", "Ben")], NOW)
    assert [relation.source for relation in one.relations.list(HERE, now=NOW)] == ["Anna"]
    one.close()
    other.close()


def test_looking_writes_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db", durable=False)
    assert store.entities.list("nobody") == []
    assert store.relations.list("nobody") == []
    assert list(store.graph.links("nobody", 0)) == []
    assert store.relations.next_change("nobody", NOW) is None
    assert store.graph.delta("nobody", 0).change == 0
    assert store.namespaces() == {}
    store.close()
