"""Copy a whole database on the command line."""

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]


def test_a_file_is_copied_into_another(cli: Run, tea: str) -> None:
    first = cli("copy", "memories.db", "copy.db")
    assert (first.code, first.out) == (0, "3 memories, 3 new, 0 changed: the same on both sides\n")
    again = cli("copy", "memories.db", "copy.db", "--json").json
    assert (again["new"], again["memories"], again["differing"]) == (0, 3, [])
    assert len(again["checksum"]) == 64
    assert cli("recall", "green tea", "--db", "copy.db").code == 0


def test_what_is_not_there_cannot_be_copied(cli: Run) -> None:
    assert cli("copy", "nothing.db", "copy.db").code == 3
    assert cli("copy", "postgresql://u:hunter2@127.0.0.1:1/x", "copy.db").code == 3
    assert "hunter2" not in cli("copy", "postgresql://u:hunter2@127.0.0.1:1/x", "copy.db").err
