"""What a store tells about names and links is plain data that compares by value."""

from recollect.model import Entity
from recollect.store.naming import EntityRecord, GraphNews, Link


def test_records_compare_by_what_they_say() -> None:
    assert EntityRecord(Entity("Anna")) == EntityRecord(Entity("Anna"), merged_into=None)
    assert EntityRecord(Entity("Anna")) != EntityRecord(Entity("Anna"), merged_into="Ben")
    links = {Link(0, ("Anna",), "s", 1, (), True, None, False) for _ in range(2)}
    assert len(links) == 1
    assert GraphNews(1, 1, (0,), frozenset({"forget"})) != GraphNews(1, 1, (), frozenset())
