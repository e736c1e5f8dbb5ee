"""Check, stats, vacuum and backup."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memorata.cli.admin import sentences
from memorata.cli.output import size
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.embed.selection import Choice
from memorata.model.errors import EmbedderError
from memorata.store.sqlite import connection as sqlite_connection

Run = Callable[..., Any]

NAME = LexicalEmbedder().name


def damage(path: Path) -> None:
    """Take the words of the first memory out of the index."""
    with sqlite3.connect(path) as database:
        database.execute("UPDATE records SET terms = NULL WHERE slot = 0")
    database.close()


def test_a_sound_file(cli: Run, tea: str) -> None:
    assert cli("admin", "check").out == "sound\n"
    assert cli("admin", "check", "--json").json == {
        "sound": True,
        "problems": [],
        "remaining": [],
        "repaired": False,
    }


def test_a_damaged_index_is_found_with_code_5_and_repaired(cli: Run, tea: str, home: Path) -> None:
    damage(home / "memories.db")
    found = cli("admin", "check")
    assert found.code == 5
    assert found.out.startswith("default: ")
    assert "memorata admin check --repair" in found.err
    repaired = cli("admin", "check", "--repair")
    assert (repaired.code, repaired.lines[-1]) == (0, "repaired")
    assert cli("admin", "check").out == "sound\n"
    assert cli("recall", "green tea").code == 0


def test_stats_in_words_and_as_json(cli: Run, tea: str) -> None:
    cli("forget", tea)
    data = cli("admin", "stats", "--json").json
    assert (data["memories"], data["forgotten"], data["vectors"]) == (3, 1, {NAME: 3})
    plain = dict(line.split("\t") for line in cli("admin", "stats").lines)
    assert (plain["memories"], plain["forgotten"], plain["vectors"]) == ("3", "1", f"3 of {NAME}")
    assert plain["searched by"].startswith("vector: exact scan up to 20,000 vectors")
    assert data["methods"]["lexical"] == "own posting lists, BM25"
    assert any("memories            " in line for line in cli("admin", "stats", terminal=True).lines)


def test_stats_are_wrapped_in_their_column_at_a_terminal(cli: Run, tea: str) -> None:
    lines = [re.sub(r"\x1b\[\d+m", "", line) for line in cli("admin", "stats", terminal=True).lines]
    assert all(len(line) <= 100 for line in lines)
    how = next(place for place, line in enumerate(lines) if line.startswith("searched by"))
    assert lines[how + 1].startswith(" " * 22)


def test_vacuum_gives_space_back(cli: Run, tea: str, home: Path) -> None:
    with sqlite3.connect(home / "memories.db") as database:
        database.execute("CREATE TABLE notes AS SELECT zeroblob(1000000) AS note")
        database.execute("DROP TABLE notes")
    database.close()
    sizes = cli("admin", "vacuum", "--json").json
    assert sizes["bytes_after"] < sizes["bytes_before"] / 2
    assert cli("recall", "green tea").code == 0


def test_vacuum_finishes_a_purge_that_a_reader_held_up(
    cli: Run, tea: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connection, "BUSY_SECONDS", 0.01)
    reader = sqlite3.connect(home / "memories.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM memories").fetchall()
    purged = cli("purge", "--yes", tea)
    assert purged.code == 3
    assert "`memorata admin vacuum` erases them" in " ".join(purged.err.split())
    assert "purge to be finished\tyes, by memorata admin vacuum" in cli("admin", "stats").lines
    reader.close()
    assert cli("admin", "vacuum").code == 0
    assert "purge to be finished\tno" in cli("admin", "stats").lines
    assert b"green tea" not in (home / "memories.db").read_bytes()


def test_a_backup_is_a_database_that_answers(cli: Run, tea: str, home: Path) -> None:
    assert cli("admin", "backup", "copy.db").out == "copy.db\n"
    assert cli("--db", "copy.db", "recall", "tea").out == cli("recall", "tea").out
    refused = cli("admin", "backup", "copy.db")
    assert refused.code == 2
    assert "a file that is not there yet, or --force given" in refused.err
    assert cli("admin", "backup", "copy.db", "--force", "--json").json["file"] == "copy.db"
    itself = cli("admin", "backup", "memories.db", "--force")
    assert itself.code == 2
    assert "another file than the database itself" in itself.err
    assert cli("admin", "backup", "no/copy.db").code == 3
    assert "FILE must be a file; this is a folder, got '.'" in cli("admin", "backup", ".", "--force").err


def test_sizes_as_people_say_them() -> None:
    assert [size(n) for n in (0, 999, 1000, 1_250_000, 3e9)] == [
        *("0 bytes", "999 bytes", "1.0 kB", "1.2 MB", "3.0 GB"),
    ]


def test_a_file_that_cannot_be_opened_is_not_told_to_be_checked(cli: Run, tea: str, home: Path) -> None:
    path = home / "memories.db"
    path.write_bytes(path.read_bytes()[:9_000])
    for leftover in home.glob("memories.db-*"):
        leftover.unlink()
    told = cli("admin", "check")
    assert told.code == 3
    assert "too damaged to be checked" in told.err
    assert "restore a backup" in told.err
    assert "memorata admin check" not in told.err


class Small(LexicalEmbedder):
    """Another embedder, which cannot read about headaches, and can be interrupted."""

    interrupts = False

    def __init__(self) -> None:
        super().__init__(dimension=64)

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        if self.interrupts and len(texts) == 1:
            raise KeyboardInterrupt
        if any("headaches" in text for text in texts):
            raise EmbedderError("a headache")
        return super().embed_passages(texts)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> type[Small]:
    """Let the embedder "small" be known."""

    from memorata.embed import selection

    usual = selection.choose

    def choose(specification: str, resources: selection.Resources | None = None) -> Choice:
        return Choice(Small(), "small") if specification == "small" else usual(specification, resources)

    monkeypatch.setattr(selection, "choose", choose)
    return Small


@pytest.mark.usefixtures("tea")
def test_nothing_to_do_is_said(cli: Run) -> None:
    done = cli("admin", "reembed")
    assert (done.code, done.out) == (0, "every memory has its vector\n")


@pytest.mark.usefixtures("small", "tea")
def test_a_change_of_embedder_from_beginning_to_end(cli: Run) -> None:
    headache = cli("list", "--json").json["memories"][0]["id"]
    asked = cli("recall", "green tea", "--embedder", "small")
    assert "3 memories have no vector of lexical-64" in asked.err
    planned = cli("admin", "reembed", "--embedder", "small", "--dry-run")
    assert (planned.code, planned.out) == (4, "")
    assert "a headache" in planned.err
    cli("purge", headache, "--yes")
    planned = cli("admin", "reembed", "--embedder", "small", "--dry-run")
    assert (planned.code, planned.out) == (0, "would embed 2 memories, in about a second\n")
    done = cli("admin", "reembed", "--embedder", "small", "--batch", "1")
    assert (done.code, done.out) == (0, "embedded 2 memories in a second, removed 2 old vectors\n")
    assert cli("admin", "check").out == "sound\n"
    # From then on it is the store's own; naming the old one is what has to be explained.
    assert "no vector" not in cli("recall", "green tea", "--embedder", "auto").err
    assert cli("admin", "stats", "--json").json["vectors"][Small().name] == 2


@pytest.mark.usefixtures("small", "tea")
def test_what_cannot_be_embedded_is_listed_and_ends_with_4(cli: Run) -> None:
    done = cli("admin", "reembed", "--embedder", "small", "--keep-old", "--json")
    assert done.code == 4
    assert (done.json["embedded"], done.json["waiting"], done.json["dropped"]) == (2, 3, 0)
    assert [each["reason"] for each in done.json["failed"]] == ["a headache"]
    assert list(done.json["others"].values()) == [3]
    said = cli("admin", "reembed", "--embedder", "small")
    assert said.code == 4
    assert "a headache" in said.err
    assert cli("admin", "check").out == "sound\n"


@pytest.mark.usefixtures("tea")
def test_an_interruption_says_how_to_go_on(
    cli: Run, small: type[Small], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small, "interrupts", True)
    monkeypatch.setattr("memorata.engine.admin.Admin.notes", ())
    done = cli("admin", "reembed", "--embedder", "small", "--batch", "1")
    assert done.code == 130
    assert "3 memories to go; run the same again to continue." in done.err
    assert cli("admin", "check").out == "sound\n"


def test_more_failures_than_can_be_shown_are_counted(
    cli: Run, small: type[Small], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memorata.cli.admin._MAX_FAILURES", 1)
    for text in ("headaches again", "Anna likes tea", "more headaches"):
        cli("remember", text)
    done = cli("admin", "reembed", "--embedder", "small")
    assert "… and 1 more; --json lists them all" in done.err


@pytest.mark.usefixtures("tea")
def test_at_a_terminal_the_progress_is_drawn_and_gone(cli: Run, small: type[Small]) -> None:
    done = cli("admin", "reembed", "--embedder", "small", terminal=True)
    assert "embedded 2 memories" in done.out


def test_bench_measures_in_a_database_of_its_own(cli: Run, home: Path) -> None:
    data = cli("admin", "bench", "--memories", "60", "--queries", "5", "--json").json
    assert (data["embedder"], data["memories"], data["queries"]) == ("lexical-512", 60, 5)
    assert data["writes_per_second"] > 0
    assert data["batched_writes_per_second"] > 0
    assert 0 < data["search_ms"]["p50"] <= data["recall_ms"]["p50"] <= data["recall_ms"]["p95"]
    assert not list(home.iterdir())


def test_bench_says_what_it_is_worth(cli: Run) -> None:
    shown = cli("admin", "bench", "--memories", "3", "--queries", "2")
    assert "remember, in batches\tmeasured with more than 50 memories" in shown.lines
    assert "an impression, not a benchmark" in shown.err


def test_bench_refuses_numbers_that_make_no_sense(cli: Run) -> None:
    assert cli("admin", "bench", "--memories", "0").code == 2
    assert cli("admin", "bench", "--queries", "1").code == 2


def test_the_sentences_are_the_same_every_time_and_all_different() -> None:
    assert list(sentences(200)) == list(sentences(200))
    assert len(set(sentences(200))) == 200


def test_the_same_sentences_every_time() -> None:
    assert list(sentences(1)) == ["Fatou lost mint soup in the attic, number 0"]
