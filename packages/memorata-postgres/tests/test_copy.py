"""A memory is copied from a file to a server and back, goes on where it was, and is compared."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memorata
from memorata.cli.app import app
from memorata.engine import transfer as copying
from memorata.engine.engine import Engine
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Source
from memorata.store.dialects import SqliteStore
from memorata_graph import Graph
from memorata_postgres.store import PostgresStore
from memorata_postgres.testing import with_password

NOW = datetime(2026, 5, 7, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Engine]:
    """A memory in a file, with everything that can happen to one."""
    with memorata.open(tmp_path / "m.db", embedder="lexical", clock=lambda: NOW) as engine:
        engine.remember_many(
            [
                {
                    "content": f"Anna said thing {number} about tea \x00 ß",
                    "id": f"m{number}",
                    "metadata": {"n": 2**70 + number, "x": 0.1},
                    "source": Source("Anna", f"s{number % 3}", number),
                    "place": Place(1.5, number),
                }
                for number in range(30)
            ]
        )
        engine.remember("Ben likes milk.", id="milk", namespace="other/place")
        engine.correct("m3", "Anna never said thing 3.")
        engine.forget("m5")
        Graph(engine).entities.describe("Anna", type="person", aliases=["Annie"])
        Graph(engine).entities.describe("Ann")
        Graph(engine).entities.merge("Anna", "Ann")
        Graph(engine).entities.relate("Anna", "knows", "Ben")
        yield engine


def asked(where: Any) -> list[tuple[str, float]]:
    with memorata.open(where, embedder="lexical", clock=lambda: NOW) as engine:
        return [
            (hit.memory.content, round(hit.score, 9)) for hit in engine.recall("what did Anna say?", limit=50)
        ]


@pytest.mark.untraced
def test_a_file_goes_to_a_server_and_back(
    file: Engine, store: PostgresStore, used: str, tmp_path: Path
) -> None:
    there = file.admin.transfer.copy(store)
    assert (there.namespaces, there.memories, there.new, there.differing) == (2, 32, 32, ())
    assert (there.entities, there.relations) == (3, 1)
    again = file.admin.transfer.copy(store)
    assert (again.new, again.changed, again.checksum, again.differing) == (0, 0, there.checksum, ())
    back = SqliteStore(tmp_path / "back.db")
    with memorata.open(used, embedder="lexical", clock=lambda: NOW) as server:
        assert server.admin.check() == []
        home = server.admin.transfer.copy(back)
        assert server.store.count_waiting() == 0
    assert (home.new, home.differing) == (32, ())
    back.close()
    assert asked(tmp_path / "back.db") == asked(tmp_path / "m.db") == asked(used)


def test_a_copy_that_was_interrupted_goes_on_where_it_was(
    file: Engine, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH", 7)
    seen = count()

    def stop(done: int) -> None:
        if next(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        file.admin.transfer.copy(store, progress=stop)
    assert sum(store.namespaces().values()) == 21
    rest = file.admin.transfer.copy(store)
    assert (rest.new, rest.differing) == (11, ())


def test_what_changes_meanwhile_is_caught_up(
    file: Engine, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH", 10)
    changes = iter(
        (
            lambda: file.remember("Something new.", id="new"),
            lambda: file.forget("m0"),
            lambda: file.restore("m5"),
            lambda: file.update("m1", confidence=0.25, tags=["changed"]),
            lambda: file.correct("m2", "Anna never said thing 2."),
        )
    )

    def meanwhile(done: int) -> None:
        next(changes, lambda: None)()

    done = file.admin.transfer.copy(store, progress=meanwhile)
    assert done.differing == ()
    assert done.memories == 34
    assert store.get("default", ["m1"])[0].tags == ("changed",)
    assert store.check(file.runtime.terms_of) == []


def test_a_target_that_reads_words_in_another_way_is_refused(file: Engine, store: PostgresStore) -> None:
    store.remember_setting("analyser", "plain")
    with pytest.raises(InvalidArgument, match="a store whose analyser is 'snowball', and not 'plain'"):
        file.admin.transfer.copy(store)


def test_what_differs_after_all_is_said(
    file: Engine, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.admin.transfer.copy(store)
    monkeypatch.setattr(copying, "_pass", lambda *given: (0, 0))
    file.forget("m7")
    file.remember("Not copied.", id="left")
    assert file.admin.transfer.copy(store).differing == ("default: m7", "default: left")


def test_the_command_copies_and_tells(
    file: Engine, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")
    address, password = with_password(url)
    result = CliRunner().invoke(app, ["admin", "copy", "m.db", address, "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["new"] == 32
    result = CliRunner().invoke(app, ["admin", "copy", address, "back.db"])
    assert result.stdout == "32 memories, 32 new, 0 changed: the same on both sides\n"
    assert password not in result.output
    result = CliRunner().invoke(app, ["admin", "copy", "nothing.db", address])
    assert result.exit_code == 3
