"""Dialects register by the scheme of their addresses."""

from contextlib import closing

import pytest

from memorata.engine.factory import open_store
from memorata.store import dialects
from memorata.store.dialects import SqliteStore, StoreOptions, register_dialect
from memorata.store.store import Store


def test_an_address_is_opened_by_whoever_registered_its_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "_DIALECTS", dict(dialects._DIALECTS))
    opened = []

    def opener(path: str, how: StoreOptions) -> Store:
        opened.append((path, how.durable))
        return SqliteStore(":memory:")

    register_dialect("Mine", opener)
    with closing(open_store("mine://here", durable=False)):
        assert opened == [("mine://here", False)]
    with closing(open_store(":memory:")) as store:
        assert isinstance(store, SqliteStore)


@pytest.mark.parametrize(
    ("name", "address"), [("SqliteStore", ":memory:"), ("PostgresStore", "postgresql://here")]
)
def test_an_approximate_index_begins_where_it_is_told_to_whatever_the_database(
    monkeypatch: pytest.MonkeyPatch, name: str, address: str
) -> None:
    passed: list[object] = []

    def opened(where: str, *, approximate_from: int, **_: object) -> Store:
        passed.append((where, approximate_from))
        return SqliteStore(":memory:")

    monkeypatch.setattr(dialects, name, opened)
    with closing(open_store(address, approximate_from=1_000)):
        assert passed == [(address, 1_000)]
