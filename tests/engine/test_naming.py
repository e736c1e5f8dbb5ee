"""Who is who: which entity a name means, and which names a text mentions."""

from collections.abc import Iterator

import pytest

from recollect.engine.naming import NameBook, Names
from recollect.model import Entity
from recollect.store.naming import EntityRecord
from recollect.store.sqlite.store import SqliteStore
from recollect.text.entities import RuleExtractor

NAMES = Names(
    [
        EntityRecord(Entity("José Álvarez", "person", ("Pepe",))),
        EntityRecord(Entity("Bob"), merged_into="Robert"),
        EntityRecord(Entity("Robert", aliases=("Bobby",)), merged_into="José Álvarez"),
    ]
)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:")
    yield opened
    opened.close()


def test_a_name_leads_over_aliases_and_merges_to_one_entity() -> None:
    for name in ("JOSE ALVAREZ", "pepe", "Bob", "bobby", "Robert"):
        assert NAMES.key(name) == "jose alvarez"
    assert NAMES.key("  Someone  Else ") == "someone else"
    assert set(NAMES.spellings("jose alvarez")) == {"jose alvarez", "pepe", "bob", "robert", "bobby"}
    assert NAMES.spellings("jose alvarez")[0] == "jose alvarez"
    assert NAMES.merged("jose alvarez") == ("Bob", "Robert")
    assert NAMES.declared() == ("jose alvarez",)
    assert NAMES.entity("jose alvarez", "x").type == "person"


def test_what_nobody_declared_stands_for_itself() -> None:
    assert Names().spellings("anna") == ("anna",)
    assert Names().entity("anna", "Anna") == Entity("Anna")
    assert not Names().is_declared("anna")
    assert Names().merged("anna") == Names().declared() == ()
    assert len(Names()) == 0


def test_the_book_reads_names_again_only_when_they_have_changed(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = NameBook(store, None)
    store.describe_entity("default", "Anna")
    first = book.of("default")
    assert book.of("default") is first
    store.describe_entity("default", "Anna", aliases=["Annie"])
    assert book.of("default").key("annie") == "anna"
    monkeypatch.setattr("recollect.engine.naming._KEPT", 1)
    book.of("other")
    assert len(book._kept) == 1


def test_names_in_a_text_come_after_those_given_each_once(store: SqliteStore) -> None:
    book = NameBook(store, RuleExtractor())
    store.describe_entity("default", "Anna Keller", aliases=["AK-47"])
    text = "We met Ben and BEN and anna keller with ak-47."
    assert book.mentioned(text, "default", ("ben", "X")) == ("ben", "X", "Anna Keller", "AK-47")
    assert book.mentioned(text, "other")[0] == "Ben"
    assert book.mentioned("i like tea", "default") == ()
    assert NameBook(store, None).mentioned(text, "default", ("X",)) == ("X",)
