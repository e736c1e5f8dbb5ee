"""Entities and relations come in once, and what is there is left as it is."""

from datetime import UTC, datetime
from typing import Any

import pytest

import recollect
from recollect.cli.importing_entities import EntityImporter
from recollect.model import Entity
from recollect.model.errors import MemoryNotFound

NOW = datetime(2026, 5, 7, tzinfo=UTC)
ANNA: dict[str, Any] = {"kind": "entity", "name": "Anna", "type": "person", "merged_into": "Anna Keller"}
KNOWS: dict[str, Any] = {"kind": "relation", "source": "Anna", "type": "knows", "target": "Ben"}


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_second_time_adds_nothing(dry_run: bool) -> None:
    with recollect.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        importer = EntityImporter(memory, None, lambda id_, namespace: id_ == "m1", dry_run=dry_run)
        dated = KNOWS | {"created_at": "2020-01-01T00:00:00+00:00"}
        assert [importer.take(line) for line in (ANNA, ANNA, dated, dated)] == [True, False, True, False]
        assert importer.take({"kind": "entity", "name": "Anna Keller", "description": "x"})
        assert not importer.take({"kind": "entity", "name": "ben"})
        if dry_run:
            assert memory.store.changes(0, 10) == []
            return
        assert memory.entity("Anna").entity == Entity("Anna Keller", description="x")
        assert memory.store.relations("default")[0].created_at == datetime(2020, 1, 1, tzinfo=UTC)
        with pytest.raises(MemoryNotFound):
            importer.take(KNOWS | {"asserted_by": "nobody"})
        assert not EntityImporter(memory, None, lambda *_: True, dry_run=False).take(ANNA)


def test_the_namespace_given_wins_over_the_one_in_the_line() -> None:
    with recollect.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        EntityImporter(memory, "b", lambda *_: True, dry_run=False).take(KNOWS | {"namespace": "a"})
        EntityImporter(memory, None, lambda *_: True, dry_run=False).take(KNOWS | {"namespace": "c"})
        assert memory.store.namespaces().keys() == {"b", "c"}
        assert memory.store.relations("b")[0].created_at == NOW
