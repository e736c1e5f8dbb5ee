"""Lines of an export, checked; the routes are in test_exchange.py, the import itself in tests/exchange."""

from collections.abc import Iterator

import pytest

import memorata
from memorata import Engine
from memorata.exchange.taking_in import Taken
from memorata.http.importing import Importer


@pytest.fixture
def importer(engine: Engine) -> Importer:
    return Importer(engine, "acme")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as opened:
        yield opened


def test_every_kind_of_line_comes_in_with_its_times(importer: Importer, engine: Engine) -> None:
    importer.take(
        [
            (1, b'{"id": "a", "content": "old", "created_at": "2026-01-01T00:00:00Z", "version": 2,'
                b' "superseded_by": "b", "superseded_at": "2026-02-02T00:00:00Z", "namespace": "elsewhere"}'),
            (2, b'{"id": "b", "content": "new", "created_at": "2026-02-01T00:00:00Z", "supersedes": ["a"],'
                b' "forgotten_at": "2026-03-01T00:00:00Z"}'),
            (3, b'{"kind": "entity", "name": "Anna", "aliases": ["Annie"], "merged_into": "Anna Keller"}'),
            (4, b'{"kind": "relation", "source": "Anna", "type": "knows", "target": "Bob",'
                b' "asserted_by": "b", "created_at": "2026-02-01T00:00:00Z", "namespace": "elsewhere"}'),
        ]
    )  # fmt: skip
    assert importer.taken == Taken(imported=2, entities=1, relations=1)
    assert (importer.problems.failed, importer.problems.listed) == (0, [])
    old, new = engine.store.get("acme", ["a", "b"])
    assert (old.superseded_by, old.version, new.supersedes) == ("b", 2, ("a",))
    hidden = {each.memory_id: each for each in engine.store.hidden("acme")}
    assert [str(hidden["a"].superseded_at), str(hidden["b"].forgotten_at)] == [
        "2026-02-02 00:00:00+00:00",
        "2026-03-01 00:00:00+00:00",
    ]
    assert engine.entity("annie", namespace="acme").entity.name == "Anna Keller"
    assert str(engine.store.relations("acme")[0].created_at) == "2026-02-01 00:00:00+00:00"


def test_what_was_read_before_is_not_read_again(importer: Importer, engine: Engine) -> None:
    importer.take(
        [(1, b'{"id": "a", "content": "Anna met Bob yesterday", "entities": [], "valid_from": null}')]
    )
    (taken,) = engine.store.get("acme", ["a"])
    assert (taken.entities, taken.valid_from) == ((), None)


def test_problems_are_listed_by_their_lines_whoever_finds_them(importer: Importer) -> None:
    importer.take(
        [
            (3, b'{"kind": "relation", "source": "a", "type": "b", "target": "c", "asserted_by": "nobody"}'),
            (4, b'{"content": "x", "supersedes": ["nobody"]}'),
            (7, b'{"content": "x", "confidence": "high"}'),
            (8, b"{"),
            (9, b'{"content": "x"}'),
        ]
    )
    assert (importer.taken.imported, importer.problems.failed) == (1, 4)
    assert [(each["line"], each["problem"][:12]) for each in importer.problems.listed] == [
        (3, "no memory 'n"),
        (4, "supersedes m"),
        (7, "confidence: "),
        (8, "the line mus"),
    ]


def test_no_more_problems_are_listed_than_can_be_read(importer: Importer) -> None:
    importer.take([(number, b"{") for number in range(70)])
    importer.take([(number, b"{") for number in range(70, 150)])
    assert (importer.problems.failed, len(importer.problems.listed)) == (150, 100)
