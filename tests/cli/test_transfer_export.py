"""Export: every field, in a form that import takes back exactly."""

import json
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.model import Memory, Place, Source, Tier
from memorata_graph import Graph

Run = Callable[..., Any]


def exported(cli: Run, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cli("export", *arguments).lines]


def test_an_export_comes_back_as_it_was(cli: Run, tea: str, home: Path) -> None:
    cli("remember", "naïve 🍵\nשלום", "--place", "1.5,2.25", "--metadata", '{"a": [1, null]}', "-n", "ada")
    cli("correct", tea, "Anna prefers black tea")
    newest = cli(
        "correct", cli("list", "--limit", "1", "--json").json["memories"][0]["id"], "Anna likes no tea"
    )
    gone = cli("remember", "to be forgotten").out.strip()
    cli("forget", gone)
    cli("forget", newest.out.strip())
    cli("restore", newest.out.strip())
    rows = exported(cli, "--all-namespaces")
    assert len(rows) == 7
    assert [row["id"] for row in rows if row["forgotten_at"]] == [gone]
    (home / "all.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert cli("--db", "copy.db", "import", "all.jsonl").out == "imported 7 memories\n"
    assert exported(cli, "--db", "copy.db", "--all-namespaces") == rows
    assert cli("--db", "copy.db", "admin", "check").out == "sound\n"
    assert cli("--db", "copy.db", "import", "all.jsonl").out == "imported 0 memories, 7 known already\n"
    assert cli("recall", "tea").out == cli("--db", "copy.db", "recall", "tea").out


def test_everything_comes_back_exactly_with_its_times(cli: Run, home: Path) -> None:
    days = iter(range(1, 1000))

    def clock() -> datetime:
        return datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=UTC) + timedelta(days=next(days))

    with memorata.open(home / "memories.db", embedder="lexical", clock=clock) as memory:
        first = memory.remember(
            "Anna lives in Bern", source={"session": "s", "position": 3, "speaker": "Anna"}
        )
        second = memory.correct(first.id, "Anna lives in Basel", confidence=0.25)
        third = memory.correct(second.id, "Anna lives in Biel", metadata={"π": [1.5, None, {"a": "🍵"}]})
        # What stood between them is gone: the first has been superseded since before the third was said.
        memory.purge(second.id)
        gone, back = memory.remember("to be forgotten"), memory.remember("to be restored")
        memory.forget(gone.id, back.id)
        memory.restore(back.id)
        memory.forget(first.id)
        memory.remember("short-lived", expires_at=datetime(2026, 1, 9, 1, 2, 3, 4, tzinfo=UTC))
        memory.remember("true for a while", valid_from=third.created_at, valid_to=clock(), namespace="ada")
        memory.remember("Yesterday Carl met Dora in Oslo", place={"lat": 1.5, "lon": 2.25, "name": "Oslo"})
        Graph(memory).entities.describe("Anna", type="person", aliases=["Annie"], description="of Biel")
        Graph(memory).entities.relate(
            "Anna", "lives_in", "Biel", weight=0.5, memory=third.id, valid_from=third.created_at
        )
        Graph(memory).entities.relate("x", "knows", "y", namespace="ada")
        told = {path: memory.store.hidden(path) for path in memory.store.namespaces()}
    assert [each.memory_id for each in told["default"]] == [first.id, gone.id]
    assert told["default"][0].superseded_at == second.created_at < third.created_at
    with memorata.open(
        home / "memories.db", embedder="lexical", config={"extractor": None, "read_dates": False}
    ) as memory:
        # Nobody has read this one, and nobody will.
        memory.remember("Yesterday Carl met Dora in Oslo", id="unread")
    before = cli("export", "--all-namespaces").lines
    (home / "all.jsonl").write_text("\n".join(before), encoding="utf-8")
    assert cli("--db", "copy.db", "import", "all.jsonl").code == 0
    assert sorted(cli("--db", "copy.db", "export", "--all-namespaces").lines) == sorted(before)
    with memorata.open(home / "copy.db", embedder="lexical") as memory:
        assert {path: memory.store.hidden(path) for path in memory.store.namespaces()} == told
        assert memory.get("unread").entities == ()
        assert memory.admin.check() == []
        assert [said.content for said in memory.history(third.id)] == [first.content, third.content]
    assert cli("--db", "copy.db", "import", "all.jsonl").out.startswith("imported 0 memories")


def test_no_field_of_a_memory_is_left_behind(cli: Run, home: Path) -> None:
    """Every field has another value than the usual one; a field that is added to memories must be, too."""
    at = datetime(2026, 5, 7, 12, tzinfo=UTC)
    unusual = Memory(
        id="m2",
        content="Anna likes tea",
        created_at=at,
        namespace="ada",
        category="decision",
        tier=Tier.PROCEDURAL,
        confidence=0.1,
        importance=1 / 3,
        pinned=True,
        tags=("a",),
        metadata={"a": [1]},
        source=Source("Anna", "s", 3, "https://example.org"),
        entities=("Anna",),
        place=Place(1.5, 2.5, "Oslo"),
        valid_from=at - timedelta(days=9),
        valid_to=at + timedelta(days=9),
        expires_at=at + timedelta(days=36500),
        supersedes=("m1",),
        mentions=3,
        supported_at=at + timedelta(days=2),
        access_count=4,
        last_accessed_at=at + timedelta(days=3),
        version=7,
        untrusted=True,
    )
    plain = Memory(id="x", content="x", created_at=at)
    kept = {"superseded_by", "fingerprint", "embedder"}
    usual = {each.name for each in fields(Memory) if getattr(unusual, each.name) == getattr(plain, each.name)}
    assert usual - {"created_at"} == kept
    with memorata.open(home / "memories.db", embedder="lexical") as memory:
        memory.admin.transfer.import_records([replace(plain, id="m1", namespace="ada"), unusual])
        memory.remember("Anna likes milk", id="m3", namespace="ada", supersedes=("m2",))
        before = memory.get("m2", namespace="ada")
    (home / "all.jsonl").write_text(cli("export", "--all-namespaces").out)
    assert cli("--db", "copy.db", "import", "all.jsonl").out == "imported 3 memories\n"
    with memorata.open(home / "copy.db", embedder="lexical") as memory:
        assert memory.get("m2", namespace="ada") == before
        assert (before.superseded_by, before.version) == ("m3", 8)


def test_entities_and_relations_come_back_as_they_were(cli: Run, tea: str, home: Path) -> None:
    from memorata import open as opened

    with opened(home / "memories.db") as memory:
        Graph(memory).entities.describe(
            "Bob", type="person", aliases=["Bobby"], description="moved to Lisbon"
        )
        Graph(memory).entities.describe("Robert", type="person", place=Place(38.72, -9.14, "Lisbon"))
        Graph(memory).entities.merge("Robert", "Bob")
        Graph(memory).entities.relate("Anna", "knows", "Bob", weight=2, memory=tea)
        Graph(memory).entities.relate("Bob", "lives_in", "Lisbon", valid_from=memory.get(tea).created_at)
        Graph(memory).entities.relate("x", "y", "z", namespace="ada")
    rows = exported(cli, "--all-namespaces")
    kinds = [row.get("kind", "memory") for row in rows]
    assert kinds == ["memory"] * 3 + ["entity"] * 2 + ["relation"] + ["entity"] * 4 + ["relation"] * 2
    assert rows[8] == {
        "kind": "entity",
        "namespace": "default",
        "name": "Anna",
        "type": "thing",
        "aliases": [],
        "description": "",
        "place": None,
        "merged_into": None,
    }
    (home / "all.jsonl").write_text("\n".join(map(json.dumps, rows)))
    dry = cli("--db", "copy.db", "import", "all.jsonl", "--dry-run").out
    assert dry == "would import 3 memories, 6 entities, 3 relations\n"
    assert (
        cli("--db", "copy.db", "import", "all.jsonl").out == "imported 3 memories, 6 entities, 3 relations\n"
    )
    again = cli("--db", "copy.db", "import", "all.jsonl")
    assert again.out == "imported 0 memories, 3 known already, 6 entities and 3 relations known already\n"
    assert sorted(map(str, exported(cli, "--db", "copy.db", "--all-namespaces"))) == sorted(map(str, rows))
    assert cli("--db", "copy.db", "admin", "check").out == "sound\n"
    # What was known before gains what is said about it, and loses nothing.
    cli("--db", "other.db", "remember", "x")
    with opened(home / "other.db") as memory:
        Graph(memory).entities.relate("Bob", "knows", "Carl")
        Graph(memory).entities.describe("Robert", description="ours")
    assert cli("--db", "other.db", "import", "all.jsonl").code == 0
    with opened(home / "other.db") as memory:
        assert Graph(memory).entities.get("bobby").entity.description == "ours"
        assert Graph(memory).entities.get("Bob").merged == ("Bob",)


def test_one_relation_is_one_relation(cli: Run, home: Path) -> None:
    cli("remember", "Anna works at the bank")
    cli("graph", "relate", "Anna", "works_at", "Acme")
    assert "1 memory, 2 entities, 1 relation written to all.jsonl ·" in cli("export", "all.jsonl").err


def test_lines_about_entities_that_cannot_be_read_are_reported(cli: Run, home: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"kind": "entity", "name": "Anna", "aliases": ["Annie"]},
        {"kind": "entity", "name": "Anna2", "aliases": ["annie"]},
        {"kind": "entity"},
        {"kind": "entity", "name": "Ben", "colour": 1},
        {"kind": "entity", "name": "Ben", "merged_into": 5},
        {"kind": "relation", "source": "Anna", "type": "knows"},
        {"kind": "relation", "source": "Anna", "type": "next", "target": "Ben"},
        {"kind": "relation", "source": "Anna", "type": "knows", "target": "Ben", "asserted_by": "nobody"},
        {"kind": "relation", "source": "Anna", "type": "knows", "target": "Ben", "valid_from": 5},
        {"kind": "relation", "source": "Anna", "type": "knows", "target": "Ben", "weight": -1},
        {"kind": "relation", "source": "Anna", "type": "knows", "target": "Ben", "namespace": "a//b"},
        {"kind": "thing"},
    ]
    (home / "e.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = cli("import", "e.jsonl", "--json")
    assert done.code == 2
    assert (done.json["entities"], done.json["relations"]) == (1, 0)
    assert [problem["line"] for problem in done.json["problems"]] == [*range(2, 13)]


def test_one_namespace_unless_all_are_wanted(cli: Run, tea: str) -> None:
    cli("remember", "x", "-n", "ada")
    assert [row["content"] for row in exported(cli, "-n", "ada")] == ["x"]
    assert "1 other namespace left out" in cli("export").err
    assert len(exported(cli, "--all-namespaces")) == 4


def test_to_a_file_whole_or_not_at_all(cli: Run, tea: str, home: Path) -> None:
    assert cli("export", "out.jsonl", "--json").json == {
        "exported": 3,
        "entities": 0,
        "relations": 0,
        "damaged": [],
        "file": "out.jsonl",
    }
    before = (home / "out.jsonl").read_text()
    assert len(before.splitlines()) == 3
    refused = cli("export", "out.jsonl")
    assert refused.code == 2
    assert "a file that is not there yet, or --force given" in refused.err
    cli("remember", "more")
    again = cli("export", "out.jsonl", "--force")
    assert again.code == 0
    assert again.err.startswith("4 memories written to out.jsonl · ")
    assert len((home / "out.jsonl").read_text().splitlines()) == 4
    assert cli("export", "no/out.jsonl").code == 2
    assert "FILE must be a file; this is a folder, got '.'" in cli("export", ".", "--force").err
    assert not list(home.glob(".out*"))


def test_a_folder_that_cannot_be_written_is_named_as_it_was_given(
    cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**_: Any) -> None:
        raise PermissionError(13, "Permission denied", "/elsewhere/.out.jsonl.x7")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    told = cli("export", "out.jsonl")
    assert told.code == 2
    assert "FILE must be in a folder that can be written (Permission denied), got 'out.jsonl'" in told.err


def test_an_export_that_fails_leaves_the_old_file(cli: Run, tea: str, home: Path, monkeypatch: Any) -> None:
    from memorata.store.dialects import SqliteStore

    (home / "out.jsonl").write_text("precious")

    def broken(self: SqliteStore, namespace: str | None, unreadable: object) -> Any:
        yield self.get("default", [tea])[0]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SqliteStore, "export", broken)
    assert cli("export", "out.jsonl", "--force").code == 2
    assert (home / "out.jsonl").read_text() == "precious"
    assert not list(home.glob(".out*"))


def test_what_can_be_read_of_a_damaged_file_can_be_saved(cli: Run, tea: str, home: Path) -> None:
    newer = cli("correct", tea, "Anna prefers black tea").out.strip()
    with closing(sqlite3.connect(home / "memories.db")) as file, file:
        file.execute("UPDATE memories SET content = CAST(x'c3c3' AS TEXT) WHERE id = ?", (tea,))
    assert cli("list", "--hidden").code == 3
    ran = cli("export", "saved.jsonl")
    assert ran.code == 3
    assert f"memorata: left out: the row of memory {tea} cannot be read" in ran.err
    assert cli("export", "saved.jsonl", "--force", "--json").json["exported"] == 3
    assert cli("--db", "new.db", "import", "saved.jsonl").out == "imported 3 memories\n"
    assert cli("--db", "new.db", "admin", "check").out == "sound\n"
    assert cli("--db", "new.db", "show", newer, "--json").json[0]["supersedes"] == []


def test_a_pipe_is_written_into_and_stays_one(cli: Run, tea: str, home: Path) -> None:
    os.mkfifo(home / "pipe")
    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit((home / "pipe").read_text)
        assert cli("export", "pipe", "--force").code == 0
        assert len(reader.result().splitlines()) == 3
    assert (home / "pipe").is_fifo()


def test_a_link_stays_one_and_leads_to_what_was_written(cli: Run, tea: str, home: Path) -> None:
    (home / "there").mkdir()
    (home / "there" / "all.jsonl").write_text("old")
    (home / "link.jsonl").symlink_to("there/all.jsonl")
    assert cli("export", "link.jsonl", "--force").code == 0
    assert (home / "link.jsonl").is_symlink()
    assert len((home / "there" / "all.jsonl").read_text().splitlines()) == 3


def test_what_is_left_of_a_file_that_lost_a_memory_can_be_saved(cli: Run, tea: str, home: Path) -> None:
    newer = cli("correct", tea, "Anna prefers black tea").out.strip()
    with closing(sqlite3.connect(home / "memories.db")) as file, file:
        file.execute("DELETE FROM memories WHERE id = ?", (tea,))
    checked = cli("admin", "check", "--repair")
    assert checked.code == 5
    assert cli("admin", "check").lines == [
        "default: 1 memories are missing, though they were not purged; restore a backup",
        f"default: memory {newer} superseded {tea}, which does not name it or is not there",
    ]
    assert cli("export", "saved.jsonl").code == 0
    assert cli("--db", "new.db", "import", "saved.jsonl").out == "imported 3 memories\n"
    assert cli("--db", "new.db", "admin", "check").out == "sound\n"


def test_a_database_is_not_copied_onto_itself(cli: Run, tea: str, home: Path) -> None:
    for target in ("memories.db", "./memories.db", str(home / "memories.db")):
        refused = cli("admin", "copy", "memories.db", target)
        assert (refused.code, refused.out) == (2, "")
        assert "another database than" in refused.err
