"""Which database a command opens, and when one is made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.cli.command import GlobalOptions, Session
from memorata.model.errors import StoreUnavailable

Run = Callable[..., Any]


def test_what_is_given_later_wins_and_what_is_not_given_stays() -> None:
    first = GlobalOptions(db="a.db", namespace="a", quiet=True)
    assert GlobalOptions(namespace="b", json=True).over(first) == GlobalOptions(
        db="a.db", namespace="b", json=True, quiet=True
    )
    assert GlobalOptions().over(first) == first


def test_the_usual_folder_is_made_by_the_first_memory_and_not_before(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORATA_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setattr("sys.platform", "linux")
    nothing = cli("recall", "tea")
    assert nothing.code == 3
    assert "remember something first" in nothing.err
    assert not (home / "data").exists()
    said = cli("remember", "tea")
    assert said.code == 0
    path = home / "data" / "memorata" / "memories.db"
    assert f"A new memory, in {path}" in said.err
    assert path.is_file()
    assert "A new memory" not in cli("remember", "milk").err


def test_a_usual_folder_that_cannot_be_made_is_named_with_a_way_out(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORATA_DB")
    (home / "data").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setattr("sys.platform", "linux")
    told = cli("remember", "tea")
    assert told.code == 3
    assert "cannot be made" in told.err
    assert "name another file with --db" in told.err


def test_reading_never_makes_a_database(home: Path) -> None:
    with pytest.raises(StoreUnavailable), Session(GlobalOptions(db="typo.db")).memory():
        pass
    assert not (home / "typo.db").exists()


def test_a_database_in_memory_lasts_as_long_as_the_block(home: Path) -> None:
    with Session(GlobalOptions(db=":memory:")).memory() as engine:
        assert engine.embedder is None
        assert engine.list().memories == ()
    assert not list(home.iterdir())


def test_nothing_is_written_where_one_asks_for_it(cli: Run, home: Path) -> None:
    assert cli("remember", "Anna prefers green tea").code == 0
    found = cli("recall", "tea", "--read-only", "--json")
    assert found.code == 0
    assert found.json["recall_id"] == ""
    for command in (("--read-only", "remember", "milk"), ("remember", "milk", "--read-only")):
        refused = cli(*command)
        assert refused.code == 3
        assert "nothing was changed: it was opened to be read only; open it without" in refused.err
    assert len(cli("list", "--json", "--read-only").json["memories"]) == 1


def test_a_store_is_made_with_the_analyser_that_is_named(cli: Run) -> None:
    assert cli("remember", "The server is down", "--analyser", "plain").code == 0
    assert cli("recall", "the", "--recipe", "fast", "--json").json["hits"]
    changed = cli("recall", "the", "--analyser", "snowball")
    assert (changed.code, "make a new store" in changed.err) == (2, True)
