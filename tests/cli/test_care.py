"""Check, stats, vacuum and backup."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.cli.care import size
from memorata.embed.lexical import LexicalEmbedder
from memorata.store import approximation
from memorata.store.sqlite import connection

Run = Callable[..., Any]

NAME = LexicalEmbedder().name


def damage(path: Path) -> None:
    """Take the words of the first memory out of the index."""
    with sqlite3.connect(path) as database:
        database.execute("UPDATE records SET terms = NULL WHERE slot = 0")
    database.close()


def test_a_sound_file(cli: Run, tea: str) -> None:
    assert cli("check").out == "sound\n"
    assert cli("check", "--json").json == {
        "sound": True,
        "problems": [],
        "remaining": [],
        "repaired": False,
    }


def test_a_damaged_index_is_found_with_code_5_and_repaired(cli: Run, tea: str, home: Path) -> None:
    damage(home / "memories.db")
    found = cli("check")
    assert found.code == 5
    assert found.out.startswith("default: ")
    assert "memorata check --repair" in found.err
    repaired = cli("check", "--repair")
    assert (repaired.code, repaired.lines[-1]) == (0, "repaired")
    assert cli("check").out == "sound\n"
    assert cli("recall", "green tea").code == 0


def test_stats_in_words_and_as_json(cli: Run, tea: str) -> None:
    cli("forget", tea)
    data = cli("stats", "--json").json
    assert (data["memories"], data["forgotten"], data["vectors"]) == (3, 1, {NAME: 3})
    plain = dict(line.split("\t") for line in cli("stats").lines)
    assert (plain["memories"], plain["forgotten"], plain["vectors"]) == ("3", "1", f"3 of {NAME}")
    assert plain["searched by"].startswith("vector: exact scan up to 20,000 vectors")
    assert data["methods"]["lexical"] == "own posting lists, BM25"
    assert any("memories            " in line for line in cli("stats", terminal=True).lines)


def test_stats_are_wrapped_in_their_column_at_a_terminal(cli: Run, tea: str) -> None:
    lines = [re.sub(r"\x1b\[\d+m", "", line) for line in cli("stats", terminal=True).lines]
    assert all(len(line) <= 100 for line in lines)
    how = next(place for place, line in enumerate(lines) if line.startswith("searched by"))
    assert lines[how + 1].startswith(" " * 22)


def test_vacuum_gives_space_back(cli: Run, tea: str, home: Path) -> None:
    with sqlite3.connect(home / "memories.db") as database:
        database.execute("CREATE TABLE notes AS SELECT zeroblob(1000000) AS note")
        database.execute("DROP TABLE notes")
    database.close()
    sizes = cli("vacuum", "--json").json
    assert sizes["bytes_after"] < sizes["bytes_before"] / 2
    assert cli("recall", "green tea").code == 0


def test_vacuum_finishes_a_purge_that_a_reader_held_up(
    cli: Run, tea: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_BUSY_SECONDS", 0.01)
    reader = sqlite3.connect(home / "memories.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM memories").fetchall()
    purged = cli("purge", "--yes", tea)
    assert purged.code == 3
    assert "`memorata vacuum` erases them" in " ".join(purged.err.split())
    assert "purge to be finished\tyes, by memorata vacuum" in cli("stats").lines
    reader.close()
    assert cli("vacuum").code == 0
    assert "purge to be finished\tno" in cli("stats").lines
    assert b"green tea" not in (home / "memories.db").read_bytes()


def test_a_backup_is_a_database_that_answers(cli: Run, tea: str, home: Path) -> None:
    assert cli("backup", "copy.db").out == "copy.db\n"
    assert cli("--db", "copy.db", "recall", "tea").out == cli("recall", "tea").out
    refused = cli("backup", "copy.db")
    assert refused.code == 2
    assert "a file that is not there yet, or --force given" in refused.err
    assert cli("backup", "copy.db", "--force", "--json").json["file"] == "copy.db"
    itself = cli("backup", "memories.db", "--force")
    assert itself.code == 2
    assert "another file than the database itself" in itself.err
    assert cli("backup", "no/copy.db").code == 3
    assert "FILE must be a file; this is a folder, got '.'" in cli("backup", ".", "--force").err


def test_sizes_as_people_say_them() -> None:
    assert [size(n) for n in (0, 999, 1000, 1_250_000, 3e9)] == [
        *("0 bytes", "999 bytes", "1.0 kB", "1.2 MB", "3.0 GB"),
    ]


def test_stats_say_how_vectors_are_searched(cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = dict(line.split("\t") for line in cli("stats").out.splitlines())
    assert plain["searches of meaning"] == "exact in 1 namespace"
    assert "they would be faster" not in plain
    monkeypatch.setattr(approximation, "EXACT", 1)
    monkeypatch.setenv("MEMORATA_APPROXIMATE_FROM", "3")
    plain = dict(line.split("\t") for line in cli("stats").out.splitlines())
    assert plain["searches of meaning"] == "sign bits in 1 namespace"
    assert plain["they would be faster"].endswith("memorata maintain makes it")


def test_a_file_that_cannot_be_opened_is_not_told_to_be_checked(cli: Run, tea: str, home: Path) -> None:
    path = home / "memories.db"
    path.write_bytes(path.read_bytes()[:9_000])
    for leftover in home.glob("memories.db-*"):
        leftover.unlink()
    told = cli("check")
    assert told.code == 3
    assert "too damaged to be checked" in told.err
    assert "restore a backup" in told.err
    assert "memorata check" not in told.err
