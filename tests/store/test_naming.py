"""What a store tells about names and links is plain data that compares by value."""

import pytest

from memorata.model import Entity, InvalidArgument, Relation
from memorata.store.entities import EntityRecord, name_key
from memorata.store.graph import GraphDelta, Link
from memorata.store.instants import EPOCH
from memorata.store.relations import _relation


def test_records_compare_by_what_they_say() -> None:
    assert EntityRecord(Entity("Anna")) == EntityRecord(Entity("Anna"), merged_into=None)
    assert EntityRecord(Entity("Anna")) != EntityRecord(Entity("Anna"), merged_into="Ben")
    links = {Link(0, ("Anna",), "s", 1, (), True, None, False) for _ in range(2)}
    assert len(links) == 1
    assert GraphDelta(1, 1, (0,), frozenset({"forget"})) != GraphDelta(1, 1, (), frozenset())


def test_a_blank_name_is_refused_as_the_argument_it_was_given_for() -> None:
    assert name_key("name", "ANNA") == name_key("name", " anna ")
    with pytest.raises(InvalidArgument, match=r"aliases\[1\]"):
        name_key("aliases[1]", " \t")


def test_a_relation_has_the_times_of_its_row() -> None:
    said = _relation(("Anna", "lives in", "Lisbon", 0.5, "m1", None, 0, 0))
    assert said == Relation("Anna", "lives in", "Lisbon", 0.5, "m1", None, EPOCH, EPOCH)
