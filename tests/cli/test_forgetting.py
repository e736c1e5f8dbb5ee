"""Forget, restore and purge."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_what_is_forgotten_is_not_recalled_until_it_is_restored(cli: Run, tea: str) -> None:
    assert cli("forget", tea[-12:], "--json").json == {"forgotten": [tea]}
    assert cli("recall", "green tea").code == 1
    assert cli("restore", tea).out == f"{tea}\n"
    assert cli("recall", "green tea").code == 0
    assert cli("forget", tea, terminal=True).out == "Forgot 1 memory.\n"


def test_an_unknown_id_forgets_nothing(cli: Run, tea: str) -> None:
    assert cli("forget", tea, "0123456789").code == 1
    assert cli("recall", "green tea").code == 0


def test_without_a_terminal_purge_refuses_unless_told(cli: Run, tea: str) -> None:
    refused = cli("purge", tea)
    assert refused.code == 2
    assert refused.err == "memorata: --yes must be given where there is no terminal to ask at\n"
    assert cli("show", tea).code == 0


def test_with_yes_purge_wants_whole_ids_and_leaves_no_trace(cli: Run, tea: str, home: Path) -> None:
    piece = cli("purge", tea[-12:], "--yes")
    assert piece.code == 2
    assert f"ID must be the whole id, {tea}, where nobody is asked" in piece.err
    assert cli("purge", tea, "--yes", "--json").json == {"purged": [tea]}
    assert cli("show", tea).code == 1
    assert b"green tea" not in (home / "memories.db").read_bytes()
