from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from memorata.engine.write.drafts import Drafts, has_id
from memorata.model import InvalidArgument, Memory, Place, Source

NOW = datetime(2026, 5, 7, tzinfo=UTC)
Asked = tuple[str, str, tuple[str, ...]]
DRAFTS = Drafts(clock=lambda: NOW, random_bits=lambda bits: 5)


def test_time_and_id_are_given_where_there_are_none() -> None:
    draft = DRAFTS.draft("tea", "default", {})
    assert draft.created_at == NOW
    assert draft.id == "019dffbb-f000-7000-8000-000000000005"
    assert DRAFTS.draft("tea", "default", {"id": "mine"}).id == "mine"


def test_plain_mappings_become_sources_and_places() -> None:
    draft = DRAFTS.draft("tea", "default", {"source": {"speaker": "Anna"}, "place": {"lat": 1, "lon": 2}})
    assert (draft.source, draft.place) == (Source("Anna"), Place(1, 2))


def test_what_was_given_is_not_changed() -> None:
    details: dict[str, Any] = {"source": {"speaker": "Anna"}}
    DRAFTS.draft("tea", "default", details)
    assert details == {"source": {"speaker": "Anna"}}


def test_items_of_a_batch() -> None:
    memory = Memory(id="m1", content="x", created_at=NOW)
    told = {"content": "tea", "namespace": "c", "tags": ["x"]}
    same, text, elsewhere = DRAFTS.from_items([memory, "tea", told], "a/b")
    assert same is memory
    assert (text.content, text.namespace) == ("tea", "a/b")
    assert (elsewhere.namespace, elsewhere.tags) == ("c", ("x",))
    assert [has_id(item) for item in (memory, "tea", {"content": "x"}, {"content": "x", "id": "i"})] == [
        True,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("item", [5, None, {"category": "tea"}, ["tea"]])
def test_an_item_that_is_none_of_these_is_refused(item: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"items\[1\] must be a memory, a mapping with a content"):
        DRAFTS.from_items(["tea", item], "default")


def test_names_in_the_text_join_those_given_and_ready_made_memories_keep_their_own() -> None:
    def shouted(asked: Sequence[Asked]) -> list[tuple[str, ...]]:
        return [(*given, *filter(str.isupper, text.split())) for text, _, given in asked]

    drafts = Drafts(clock=lambda: NOW, random_bits=lambda bits: 5, mentioned=shouted)
    assert drafts.draft("ask ANNA", "default", {}).entities == ("ANNA",)
    assert drafts.draft("ask ANNA", "default", {"entities": ["Ben"]}).entities == ("Ben", "ANNA")
    bare = Memory(id="m1", content="ask ANNA", created_at=NOW)
    named = Memory(id="m1", content="ask ANNA", created_at=NOW, entities=("Ben",))
    read, kept = drafts.from_items([bare, named], "default")
    assert (read.entities, kept is named) == (("ANNA",), True)
    with pytest.raises(InvalidArgument, match="entities must be"):
        drafts.draft("ask ANNA", "default", {"entities": "Ben"})


def test_a_batch_is_read_in_one_go_but_for_what_names_its_entities_itself() -> None:
    calls: list[list[Asked]] = []

    def read(asked: Sequence[Asked]) -> list[tuple[str, ...]]:
        calls.append(list(asked))
        return [(*given, "Read") for _, _, given in asked]

    drafts = Drafts(clock=lambda: NOW, random_bits=lambda bits: 5, mentioned=read)
    named = Memory(id="m1", content="named", created_at=NOW, entities=("Ben",))
    plain = Memory(id="m2", content="plain", created_at=NOW, namespace="own")
    items: list[Memory | dict[str, Any] | str] = [named, plain, "text", {"content": "told", "namespace": "c"}]
    found = drafts.from_items(items, "a")
    assert calls == [[("plain", "own", ()), ("text", "a", ()), ("told", "c", ())]]
    assert [memory.entities for memory in found] == [("Ben",), ("Read",), ("Read",), ("Read",)]
    assert found == [drafts.from_items([item], "a")[0] for item in items]
    calls.clear()
    verbatim = drafts.from_items(items, "a", verbatim=True)
    assert calls == [[("text", "a", ()), ("told", "c", ())]]
    assert verbatim[:2] == [named, plain]
