"""Where a chain of memories leads; what links become is in the suite that every store passes."""

from memorata.store.dialects import SqliteStore
from memorata.store.memory.repeats import Linked
from memorata.store.memory.supersession import led_to
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import HERE, NOW, entry


def test_a_chain_is_followed_to_its_end() -> None:
    store = SqliteStore(":memory:")
    store.add([entry("a", "tea"), entry("b", "tea", supersedes=("a",)), entry("c", "tea", supersedes=("b",))])
    connection: SqliteSession = store._connection
    assert [led_to(connection, 1, id_) for id_ in ("a", "b", "c", "nobody")] == [[0, 1, 2], [1, 2], [2], []]
    store.duplicates.relink(HERE, [Linked("a"), Linked("b", "c", NOW), Linked("c", supersedes=("b",))])
    assert led_to(connection, 1, "a") == [0]
    store.close()
