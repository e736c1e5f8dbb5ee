"""The ports between the engine, the store and a database stay small."""

from memorata.index.search import NamespaceIndex
from memorata.store.database import Database, Session


def members(port: type) -> set[str]:
    return {name for name in vars(port) if not name.startswith("_")}


def test_the_ports_have_few_members() -> None:
    """They had 103 once: whoever adds one looks for one to merge with."""
    assert sum(len(members(port)) for port in (Database, Session, NamespaceIndex)) <= 30


def test_an_index_has_every_member_of_its_port() -> None:
    assert members(NamespaceIndex) <= set(dir(NamespaceIndex))
