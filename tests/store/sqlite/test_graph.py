"""Links read from the file in pieces, however many there are."""

from contextlib import closing

import pytest

from memorata.model import Source
from memorata.model.errors import StoreCorrupt
from memorata.store.dialects import SqliteStore
from memorata.testing.samples import HERE, NOW, entry


def test_more_links_than_one_statement_can_ask_for() -> None:
    store = SqliteStore(":memory:")
    store.add([entry(f"m{n}", "tea", source=Source(session="s", position=n)) for n in range(1200)])
    slots = list(range(0, 1200, 2))
    assert [link.slot for link in store.graph.links(HERE, 1200, slots)] == slots
    assert [link.slot for link in store.graph.links(HERE, 600)] == list(range(600, 1200))
    before = store.changes(0, 10_000)[-1].number
    store.forget(HERE, [f"m{n}" for n in range(1100)], NOW)
    news = store.graph.delta(HERE, before)
    assert news.changed == tuple(range(1100))
    store.close()


def test_a_list_that_cannot_be_read_is_damage() -> None:
    with closing(SqliteStore(":memory:")) as store:
        store.add([entry("m1", "tea", entities=("Anna",))])
        store._connection.execute("UPDATE memories SET entities = '[' || entities")
        with pytest.raises(StoreCorrupt, match="a list in it cannot be read; run `memorata admin check`"):
            list(store.graph.links(HERE, 0))
