"""A memory as a row of the table on a server."""

import json
from datetime import UTC, datetime

import pytest

from memorata.model.memory import Memory, Source, Tier
from memorata.model.place import Place
from memorata.store.postgres.rows import COLUMNS, facets, memory, row

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
PLAIN = Memory(id="a", content="tea", created_at=NOW, namespace="acme")
RICH = Memory(
    id="b",
    content="tea \0",
    created_at=NOW,
    namespace="acme",
    tier=Tier.PROCEDURAL,
    confidence=1 / 3,
    tags=("x", "\0"),
    metadata={"n": 2**70, "deep": {"\0": ["\0", None, 0.1]}},
    source=Source("Anna", "s", 0, "https://example.org"),
    entities=("Zoë",),
    place=Place(90, -180, "the pole"),
    valid_from=datetime(1, 1, 1, tzinfo=UTC),
    valid_to=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    pinned=True,
    version=7,
)


def read_back(given: Memory) -> Memory:
    named = dict(zip(COLUMNS, row(given), strict=True))
    return memory([value for name, value in named.items() if name != "facets"], given.namespace)


@pytest.mark.parametrize("given", [PLAIN, RICH])
def test_it_comes_back_as_it_was(given: Memory) -> None:
    assert read_back(given) == given


@pytest.mark.parametrize(
    "source", [Source(position=0), Source(link="x"), Source("Anna"), Source(session="s")]
)
def test_a_source_with_one_part_is_no_empty_one(source: Source) -> None:
    given = Memory(id="a", content="tea", created_at=NOW, source=source)
    assert read_back(given).source == source


def test_metadata_is_kept_as_given_and_once_more_for_conditions() -> None:
    named = dict(zip(COLUMNS, row(RICH), strict=True))
    assert json.loads(named["metadata"]) == dict(RICH.metadata)
    # The server's own JSON holds no NUL, and reads numbers of any size.
    assert "\\u0000" not in named["facets"]
    assert json.loads(named["facets"])["n"] == 2**70
    plain = dict(zip(COLUMNS, row(PLAIN), strict=True))
    assert (plain["metadata"], plain["facets"]) == ("{}", None)


def test_facets_keep_keys_apart_that_differ_in_nul_alone() -> None:
    assert len(facets({"a": 1, "a\0": 2, "a\x01": 3})) == 3  # type: ignore[arg-type]
