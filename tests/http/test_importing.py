"""Lines of an export, taken in; the routes are in test_exchange.py."""

from collections.abc import Iterator

import pytest

import recollect
from recollect import Engine
from recollect.http.importing import Importer


@pytest.fixture
def importer(engine: Engine) -> Importer:
    return Importer(engine, "acme")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with recollect.open(":memory:", embedder="lexical") as opened:
        yield opened


def test_a_chain_comes_in_with_its_times(importer: Importer, engine: Engine) -> None:
    importer.take(
        [
            (1, b'{"id": "a", "content": "old", "created_at": "2026-01-01T00:00:00Z", "version": 2,'
                b' "superseded_by": "b", "superseded_at": "2026-02-02T00:00:00Z"}'),
            (2, b'{"id": "b", "content": "new", "created_at": "2026-02-01T00:00:00Z", "supersedes": ["a"],'
                b' "forgotten_at": "2026-03-01T00:00:00Z"}'),
        ]
    )  # fmt: skip
    assert (importer.tally.imported, importer.tally.problems) == (2, [])
    old, new = engine.store.get("acme", ["a", "b"])
    assert (old.superseded_by, old.version, new.supersedes) == ("b", 2, ("a",))
    hidden = {each.memory_id: each for each in engine.store.hidden("acme")}
    assert [str(hidden["a"].superseded_at), str(hidden["b"].forgotten_at)] == [
        "2026-02-02 00:00:00+00:00",
        "2026-03-01 00:00:00+00:00",
    ]


def test_what_was_read_before_is_not_read_again(importer: Importer, engine: Engine) -> None:
    importer.take(
        [(1, b'{"id": "a", "content": "Anna met Bob yesterday", "entities": [], "valid_from": null}')]
    )
    (taken,) = engine.store.get("acme", ["a"])
    assert (taken.entities, taken.valid_from) == ((), None)


def test_what_is_there_is_left_as_it_is(importer: Importer, engine: Engine) -> None:
    engine.remember("mine", id="a", namespace="acme")
    engine.describe_entity("Anna", type="person", namespace="acme")
    engine.relate("Anna", "knows", "Bob", namespace="acme")
    relation = engine.store.relations("acme")[0]
    assert relation.created_at is not None
    importer.take(
        [
            (1, b'{"id": "a", "content": "theirs"}'),
            (2, b'{"kind": "entity", "name": "anna", "type": "dog"}'),
            (3, b'{"kind": "relation", "source": "Anna", "type": "knows", "target": "Bob", '
                b'"created_at": "%s"}' % relation.created_at.isoformat().encode()),
        ]
    )  # fmt: skip
    assert (importer.tally.known, importer.tally.taken, importer.tally.failed) == (3, 3, 0)
    assert engine.get("a", namespace="acme").content == "mine"
    assert engine.entity("Anna", namespace="acme").entity.type == "person"


def test_no_more_problems_are_listed_than_can_be_read(importer: Importer) -> None:
    importer.take([(number, b"{") for number in range(150)])
    assert (importer.tally.failed, len(importer.tally.problems)) == (150, 100)


def test_a_line_that_takes_a_place_which_is_taken_fails_alone(importer: Importer, engine: Engine) -> None:
    old = engine.remember("Anna lives in Rome", namespace="acme")
    new = engine.correct(old.id, "Anna lives in Paris", namespace="acme")
    supersedes = f'"supersedes": ["{old.id}"]'
    importer.take(
        [
            (1, b'{"id": "a", "content": "Bob sails"}'),
            (2, f'{{"id": "b", "content": "Anna lives in Oslo", {supersedes}}}'.encode()),
            (3, b'{"id": "c", "content": "Bob rows", "supersedes": ["a"]}'),
            (4, b'{"id": "d", "content": "Bob swims", "supersedes": ["a"]}'),
        ]
    )
    assert (importer.tally.imported, importer.tally.failed) == (2, 2)
    assert [(each["line"], each["problem"].split(", but ")[1][:10]) for each in importer.tally.problems] == [
        (2, repr(new.id)[:10]),
        (4, "'c' has ta"),
    ]
    assert {each.id for each in engine.list(namespace="acme").memories} == {new.id, "c"}
