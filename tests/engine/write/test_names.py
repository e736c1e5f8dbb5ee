"""Who is who: which entity a name means, and which names a text mentions."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata.engine.write.names import NameIndex, Names
from memorata.model import Entity, InvalidArgument, Relation
from memorata.store.dialects import SqliteStore
from memorata.store.entities import EntityRecord
from memorata.text.entities import Extraction, Mention, RuleExtractor
from memorata.text.known_names import Gazetteer
from memorata_graph import Graph

NOW = datetime(2026, 5, 7, tzinfo=UTC)
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
    book = NameIndex(store, None)
    store.entities.describe("default", "Anna")
    first = book.of("default")
    assert book.of("default") is first
    store.entities.describe("default", "Anna", aliases=["Annie"])
    assert book.of("default").key("annie") == "anna"
    monkeypatch.setattr("memorata.engine.write.names._MAX_NAMESPACES", 1)
    book.of("other")
    assert len(book._cache) == 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["declare", "relate", "alias", "merge", "undo", "unrelate"]),
            st.sampled_from(["Anna", "ANNA", "Ben", "Cyd", "北京", "上海"]),
            st.sampled_from(["Anna", "Ben", "Dora", "東京"]),
        ),
        max_size=12,
    )
)
def test_names_that_catch_up_are_those_that_are_read_anew(steps: list[tuple[str, str, str]]) -> None:
    store = SqliteStore(":memory:")
    book = NameIndex(store, RuleExtractor())
    text = "Anna saw ben, cyd and dora in 北京 or 東京 or 上海."
    for kind, one, other in steps:
        with suppress(InvalidArgument):
            if kind == "declare":
                store.entities.describe("default", one)
            elif kind == "relate":
                store.relations.add("default", [Relation(one, "knows", other)], NOW)
            elif kind == "alias":
                store.entities.describe("default", one, aliases=[other])
            elif kind == "merge":
                store.entities.merge("default", one, other)
            elif kind == "undo":
                store.entities.undo_merge("default", other)
            else:
                store.relations.remove("default", [one.casefold()], "knows", [other.casefold()])
        fresh = NameIndex(store, RuleExtractor())
        caught_up, anew = book.of("default"), fresh.of("default")
        assert caught_up.declared() == anew.declared()
        for name in ("Anna", "Ben", "Cyd", "Dora", "北京", "東京", "上海"):
            key = anew.key(name)
            assert caught_up.key(name) == key
            assert caught_up.spellings(key) == anew.spellings(key)
            assert caught_up.merged(key) == anew.merged(key)
        assert book.mentioned(text, "default") == fresh.mentioned(text, "default")
    store.close()


def test_names_in_a_text_come_after_those_given_each_once(store: SqliteStore) -> None:
    book = NameIndex(store, RuleExtractor())
    store.entities.describe("default", "Anna Keller", aliases=["AK-47"])
    text = "We met Ben and BEN and anna keller with ak-47."
    assert book.mentioned(text, "default", ("ben", "X")) == ("ben", "X", "Anna Keller", "AK-47")
    assert book.mentioned(text, "other")[0] == "Ben"
    assert book.mentioned("i like tea", "default") == ()
    assert NameIndex(store, None).mentioned(text, "default", ("X",)) == ("X",)


class Counting:
    """Reads the first word of every text as a name, and counts how often it is asked."""

    name = "first word"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        self.asked.append(list(texts))
        return [Extraction((Mention(text.split()[0], "person", 0, len(text.split()[0])),)) for text in texts]


def test_a_batch_is_read_in_one_go_each_text_of_a_namespace_once(store: SqliteStore) -> None:
    reader = Counting()
    book = NameIndex(store, reader)
    asked = [("Ada ran", "a", ()), ("Ben sat", "a", ("X",)), ("Ada ran", "b", ()), ("Ada ran", "a", ("ada",))]
    assert book.mentioned_by_all(asked) == [("Ada",), ("X", "Ben"), ("Ada",), ("ada",)]
    assert reader.asked == [["Ada ran", "Ben sat"], ["Ada ran"]]
    assert book.mentioned_by_all([]) == []
    assert NameIndex(store, None).mentioned_by_all(asked) == [(), ("X",), (), ("ada",)]


def test_a_batch_is_read_by_the_names_of_each_namespace(store: SqliteStore) -> None:
    book = NameIndex(store, RuleExtractor())
    store.entities.describe("a", "Zyx")
    assert book.mentioned_by_all([("ask zyx", "a", ()), ("ask zyx", "b", ())]) == [("Zyx",), ()]


def test_a_question_that_begins_with_a_name_s_letters_mentions_nobody() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        Graph(memory).entities.describe("Will", type="person")
        for text in ("Will you come?", "I asked. Will they be late?", "Will the train be late?"):
            assert "Will" not in memory.remember(text).entities
        for text in ("Will drinks tea.", "I met Will.", "Will fixed the sink.", "Will you ask Will?"):
            assert "Will" in memory.remember(text).entities
