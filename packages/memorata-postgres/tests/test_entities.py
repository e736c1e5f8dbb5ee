"""Names on a server: as long as an index has room for, and merged however they were."""

import pytest

from memorata.model.entity import Relation
from memorata.model.errors import InvalidArgument
from memorata.testing.samples import HERE, NOW, entry
from memorata_postgres.store import PostgresStore

LONG = "日" * 667


def test_a_name_has_an_end_and_leaves_nothing_if_it_is_beyond(store: PostgresStore) -> None:
    store.entities.describe(HERE, LONG[:-1])
    for wrong in ({"name": LONG}, {"name": "Zoë", "aliases": ["Z", LONG]}):
        with pytest.raises(InvalidArgument, match="name must be at most 2000 bytes"):
            store.entities.describe(HERE, **wrong)
    assert [record.entity.name for record in store.entities.list(HERE)] == [LONG[:-1]]


def test_a_memory_may_mention_a_longer_one_and_be_purged(store: PostgresStore) -> None:
    store.add([entry("a", "tea", entities=(LONG,))])
    store.purge(HERE, ["a"])
    assert store.namespaces() == {HERE: 0}


def test_a_relation_of_a_type_that_is_too_long_is_not_written(store: PostgresStore) -> None:
    store.relations.add(HERE, [Relation("Anna", LONG[:-1], "Ben")], NOW)
    with pytest.raises(InvalidArgument, match="type must be at most 2000 bytes"):
        store.relations.add(HERE, [Relation("Anna", "knows", "Tom"), Relation("Anna", LONG, "Tom")], NOW)
    assert [relation.type for relation in store.relations.list(HERE)] == [LONG[:-1]]
    assert [record.entity.name for record in store.entities.list(HERE)] == ["Anna", "Ben"]


def test_what_was_merged_into_a_name_that_is_purged_goes_with_it_and_nothing_else(
    store: PostgresStore,
) -> None:
    for keep, other in (("Robert", "Bob"), ("Robert Miles", "Robert"), ("Anna", "Annie")):
        store.entities.merge(HERE, keep, other)
    store.purge(HERE, [], ["robert"])
    left = {record.entity.name: record.merged_into for record in store.entities.list(HERE)}
    assert left == {"Robert Miles": None, "Anna": None, "Annie": "Anna"}
