"""Memories are taken over as they were, hidden ones hidden, whole or not at all."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.model.errors import MemoryNotFound
from memorata.model.memory import Memory
from memorata.store.entries import Hidden

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def memory(id: str, **fields: object) -> Memory:
    given: dict[str, object] = {"content": f"Anna said {id} yesterday", "created_at": NOW}
    return Memory(id=id, **(given | fields))  # type: ignore[arg-type]


@pytest.fixture
def engine() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder=LexicalEmbedder(dimension=16)) as opened:
        yield opened


def test_nothing_is_read_from_them_and_they_are_found_at_once(engine: memorata.Engine) -> None:
    [taken] = engine.admin.transfer.import_records([memory("tea")])
    assert (taken.entities, taken.valid_from) == ((), None)
    assert engine.get("tea") == taken
    assert engine.recall("what did Anna say?").hits[0].memory.id == "tea"
    assert engine.admin.check() == []


def test_one_that_is_known_is_left_as_it_is(engine: memorata.Engine) -> None:
    engine.admin.transfer.import_records([memory("tea")])
    assert (
        engine.admin.transfer.import_records([memory("tea", content="something else"), memory("milk")])[0].id
        == "milk"
    )
    assert engine.get("tea").content == "Anna said tea yesterday"
    assert engine.admin.transfer.import_records([]) == []


def test_what_was_hidden_is_hidden_from_the_first_moment(engine: memorata.Engine) -> None:
    later = NOW + timedelta(days=1)
    both = [memory("tea"), memory("milk", supersedes=("tea",)), memory("gone")]
    hidden = [Hidden("tea", None, later, True), Hidden("gone", later, None)]
    engine.admin.transfer.import_records(both, hidden={"default": hidden})
    assert engine.store.hidden("default") == hidden
    assert [each.id for each in engine.list().memories] == ["milk"]


def test_if_something_cannot_be_hidden_nothing_comes_in(engine: memorata.Engine) -> None:
    with pytest.raises(MemoryNotFound):
        engine.admin.transfer.import_records(
            [memory("tea")], hidden={"default": [Hidden("nobody", NOW, None)]}
        )
    assert engine.list(hidden=True).memories == ()
    assert engine.admin.transfer.import_records([memory("tea")])[0].id == "tea"
    assert engine.admin.check() == []
