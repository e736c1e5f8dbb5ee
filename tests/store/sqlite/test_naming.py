"""Two processes, one file: what one declares the other knows at once."""

from pathlib import Path

from memorata.model import Relation
from memorata.store.conformance import HERE, NOW
from memorata.store.sqlite.store import SqliteStore


def test_another_process_sees_what_was_declared(tmp_path: Path) -> None:
    one, other = (SqliteStore(tmp_path / "m.db", durable=False) for _ in range(2))
    assert other.naming(HERE) == 0
    one.describe_entity(HERE, "Anna", aliases=["Annie"])
    assert other.naming(HERE) == one.naming(HERE) > 0
    other.relate(HERE, [Relation("ANNIE", "knows", "Ben")], NOW)
    assert [relation.source for relation in one.relations(HERE, now=NOW)] == ["Anna"]
    one.close()
    other.close()


def test_looking_writes_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db", durable=False)
    assert store.entities("nobody") == []
    assert store.relations("nobody") == []
    assert list(store.links("nobody", 0)) == []
    assert store.next_turn("nobody", NOW) is None
    assert store.graph_news("nobody", 0).change == 0
    assert store.namespaces() == {}
    store.close()
