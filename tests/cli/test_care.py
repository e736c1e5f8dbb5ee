"""Check, stats, vacuum and backup."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollect.cli.care import size
from recollect.embed.lexical import LexicalEmbedder

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
    assert "recollect check --repair" in found.err
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
    assert cli("stats", terminal=True).lines[1] == f"{'memories':<22}3"


def test_vacuum_gives_space_back(cli: Run, home: Path) -> None:
    (home / "many.txt").write_text("".join(f"number {number} {'word ' * 200}\n\n" for number in range(300)))
    cli("import", "many.txt")
    ids = [row["id"] for row in cli("list", "--limit", "300", "--json").json["memories"]]
    cli("purge", "--yes", *ids)
    sizes = cli("vacuum", "--json").json
    assert sizes["bytes_after"] < sizes["bytes_before"] / 2


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


def test_sizes_as_people_say_them() -> None:
    assert [size(n) for n in (0, 999, 1000, 1_250_000, 3e9)] == [
        *("0 bytes", "999 bytes", "1.0 kB", "1.2 MB", "3.0 GB"),
    ]
