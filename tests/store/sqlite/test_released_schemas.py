"""A file of every released schema is opened, brought up to date, and says what it said then."""

import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.model import Memory, Place, Relation, Source, Tier
from memorata.store.dialects import SqliteStore
from memorata.store.sqlite.migrations import MIGRATIONS

FOLDER = Path(__file__).parent / "released"
SCHEMAS = sorted(int(path.name.removeprefix("schema-").partition(".")[0]) for path in FOLDER.glob("*.db.gz"))
START = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture(params=SCHEMAS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / "m.db"
    made.write_bytes(gzip.decompress((FOLDER / f"schema-{request.param}.db.gz").read_bytes()))
    return made


def opened(path: Path) -> memorata.Engine:
    return memorata.open(
        path, embedder=LexicalEmbedder(dimension=16), clock=lambda: START + timedelta(days=1)
    )


def test_there_is_a_file_of_every_released_schema() -> None:
    """Nothing after number 2 has been released yet; a release adds its own (released/make.py)."""
    assert SCHEMAS[:2] == [1, 2]
    assert list(range(1, len(SCHEMAS) + 1)) == SCHEMAS
    assert len(SCHEMAS) <= len(MIGRATIONS)


def test_every_memory_says_what_it_said(path: Path) -> None:
    with opened(path) as memory:
        assert "the file as it was is kept at" in memory.notes[0]
        every = {each.id: each for each in memory.store.export(None)}
        assert len(every) == 266
        tea = every["tea"]
        assert tea == Memory(
            id="tea",
            content="Anna prefers green tea in the morning.",
            created_at=tea.created_at,
            category="preference",
            confidence=0.75,
            importance=1 / 3,
            tags=("drinks",),
            metadata={"cup": {"size": [1, None, 0.1]}},
            source=Source("Anna", "breakfast", 0, "https://example.org/1", via=""),
            entities=("Anna",),
            fingerprint=tea.fingerprint,
            embedder=LexicalEmbedder(dimension=16).name,
        )
        assert START <= tea.created_at < START + timedelta(hours=1)
        assert every["zoe"].content == "Zoë wrote: «naïve» 👩‍🚀 שלום"
        assert every["zoe"].expires_at == START + timedelta(days=36500)
        assert every["other"].namespace == "acme/alice"
        assert (every["lisbon"].tier, every["lisbon"].place) == (Tier.EPISODIC, Place(38.72, -9.14, "Lisbon"))
        assert every["lisbon"].superseded_by == "porto"
        assert [each.id for each in memory.history("porto")] == ["lisbon", "porto"]
        hidden = {each.memory_id: each for each in memory.store.hidden("default")}
        assert set(hidden) == {"gone", "lisbon"}
        assert hidden["gone"].forgotten_at is not None
        assert b"secret that was purged" not in path.read_bytes()


def test_entities_are_there_since_the_schema_that_has_them(path: Path) -> None:
    with opened(path) as memory:
        migration = cast("SqliteStore", memory.store).migration
        assert migration is not None
        if migration.before == 1:
            assert memory.store.entities.list("default") == []
            return
        records = {each.entity.name: each for each in memory.store.entities.list("default")}
        assert records["Bob"].entity.aliases == ("Robert",)
        assert records["Annie"].merged_into == "Anna"
        [said] = memory.entities.relations("Annie")
        assert isinstance(said, Relation)
        assert (said.source, said.type, said.target, said.asserted_by) == (
            "Anna", "works_at", "Bank of England", "tea",
        )  # fmt: skip


def test_it_is_searched_by_words_and_meaning_and_passes_the_check(path: Path) -> None:
    with opened(path) as memory:
        assert [hit.memory.id for hit in memory.recall("what tea does Anna like?", limit=1)] == ["tea"]
        assert [hit.memory.id for hit in memory.recall("green tea", limit=1, recipe="bm25")] == ["tea"]
        assert [hit.memory.id for hit in memory.recall("Lisbon", recipe="bm25")] == ["porto"]
        assert memory.recall("garden note").degraded == ()
        # Words are read better than they were then; what is derived from them is made anew.
        memory.admin.check(repair=True)
        assert memory.admin.check() == []
        said = memory.remember("And something new, too.")
        assert memory.get(said.id).content == "And something new, too."
        assert memory.admin.check() == []
