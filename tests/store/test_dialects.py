"""A satellite declares the scheme of its addresses; whatever is no address is a file."""

from contextlib import closing
from importlib.metadata import EntryPoint

import pytest

from memorata import _satellites
from memorata.engine.factory import open_store
from memorata.model.errors import MissingExtra
from memorata.store.dialects import SqliteStore, StoreOptions
from memorata.store.store import Store

OPENED: list[tuple[str, bool, bool]] = []


def open_mine(path: str, how: StoreOptions) -> Store:
    OPENED.append((path, how.durable, how.must_exist))
    return SqliteStore(":memory:")


class Point(EntryPoint):
    def load(self) -> object:
        return open_mine


def test_an_address_is_opened_by_the_satellite_that_declares_its_scheme(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = Point("mine", "anywhere:open_mine", "memorata.stores")
    monkeypatch.setattr(_satellites, "declared", lambda kind: {"mine": point} if kind == "stores" else {})
    OPENED.clear()
    with closing(open_store("mine://here", config={"durable": False, "must_exist": True})):
        assert OPENED == [("mine://here", False, True)]
    with closing(open_store(":memory:")) as store:
        assert isinstance(store, SqliteStore)


def test_a_satellite_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_satellites, "declared", lambda kind: {})
    with pytest.raises(MissingExtra, match=r"pip install \. packages/memorata-postgres"):
        open_store("postgresql://here/memories")
