"""What is asked of somebody, told in other words and in several languages."""

import tomllib
from pathlib import Path

import pytest

from memorata.text import relations
from memorata.text.relations import AskedRelations, asked_relations


def share(query: str, text: str, *names: str, speaker: str = "") -> float:
    relations = asked_relations(query)
    assert relations
    return AskedRelations.of(relations, names).told_share(speaker, text, text.lower().split())


@pytest.mark.parametrize(
    ("query", "text", "name"),
    [
        ("where does Ada live", "Ada moved to Cork", "Ada"),
        ("who is Ada's husband", "Ada wed Bo", "Ada"),
        ("how old is Ada", "Ada is turning thirty", "Ada"),
        ("Ada job", "Ada was hired by a bank", "Ada"),
        ("wo wohnt Uta", "Uta ist nach Ulm gezogen", "Uta"),
        ("où habite Odile", "Odile a déménagé à Lille", "Odile"),
        ("dónde trabaja Rocío", "contrataron a Rocío", "Rocío"),
        ("где живёт Полина", "Полину переехали в Казань", "Полина"),
        ("王芳住在哪里", "王芳搬到了昆明", "王芳住在哪里"),
        ("건우는 어디에서 일해요", "건우는 은행에 취직했다", "건우는"),
        # A question of one language finds a fact of another.
        ("where does Uta live", "Uta ist nach Ulm gezogen", "Uta"),
    ],
)
def test_a_relation_is_told_in_other_words(query: str, text: str, name: str) -> None:
    assert share(query, text, name) == 1


def test_of_somebody_else_it_is_not_told() -> None:
    assert share("where does Ada live", "Bo moved to Cork", "Ada") == 0
    assert share("where does Ada live", "I moved to Cork", "Ada", speaker="Ada") == 1
    assert share("where do I live", "I moved to Cork") == 1


def test_of_two_relations_half_may_be_told() -> None:
    assert share("where does Ada live and work", "Ada moved to Cork", "Ada") == 0.5


def test_a_query_that_asks_for_none_asks_nothing() -> None:
    assert asked_relations("What colour is the door?") == frozenset()


def test_every_entry_can_be_found() -> None:
    lists = tomllib.loads(Path(relations.__file__).with_suffix(".toml").read_text("utf-8"))
    entries = [
        entry
        for by_language in lists.values()
        for text in by_language.values()
        for entry in text.replace("|", " ").split()
    ]
    assert all(entry == entry.lower() for entry in entries)
    assert not [entry for entry in entries if entry.endswith("*") and (len(entry) < 4 or "+" in entry)]
    assert not [entry for entry in entries if not entry.replace("+", "").removesuffix("*").isalpha()]
