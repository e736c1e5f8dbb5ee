"""The demo as a command; what it shows is specified in test_demo.py."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_it_walks_through_without_touching_your_own_database(cli: Run, home: Path) -> None:
    shown = cli("demo")
    assert shown.code == 0
    assert len(shown.lines) > 50
    assert not list(home.iterdir())


def test_what_was_recalled_as_json_with_the_walk_beside_it(cli: Run) -> None:
    ran = cli("demo", "--json")
    assert ran.json["steps"]["nonsense"]["hits"] == []
    assert any(step["hits"] for step in ran.json["steps"].values())
    assert "Meaning is measured by lexical-512" in ran.err


def test_it_can_be_kept_in_a_new_file_only(cli: Run, home: Path) -> None:
    assert cli("demo", "--keep", "demo.db").code == 0
    assert cli("recall", "job queue", "--db", "demo.db").code == 0
    again = cli("demo", "--keep", "demo.db")
    assert again.code == 2
    assert "--keep must be a file that does not exist yet, got 'demo.db'" in again.err
