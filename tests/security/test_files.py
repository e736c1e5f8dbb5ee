"""What is written is readable by its owner alone, whatever the umask says."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import memorata
from memorata.cli.app import app
from memorata.store.sqlite.encryption import convert
from memorata_server.http.server import listening_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="rights of files are another matter there")


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def rights(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_a_database_its_logs_and_its_copies_are_their_owners(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with memorata.open(folder / "m.db", embedder="lexical") as memory:
        memory.remember("Anna prefers green tea.")
        memory.admin.backup(folder / "copy.db")
        assert set(rights(folder)) == {"m.db", "m.db-wal", "m.db-shm", "copy.db"}
        assert set(rights(folder).values()) == {0o600}


def test_what_the_command_line_makes_is_its_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")
    run = CliRunner()
    assert run.invoke(app, ["remember", "Anna prefers green tea."]).exit_code == 0
    (folder,) = (tmp_path / "home").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert run.invoke(app, ["export", str(folder / "all.jsonl")]).exit_code == 0
    assert set(rights(folder).values()) == {0o600}


def test_sockets_are_their_owners(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with listening_file(str(tmp_path / "run" / "s")):
        assert rights(tmp_path / "run") == {"s": 0o600}


def test_what_is_encrypted_is_its_owners(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with memorata.open(folder / "m.db", embedder="lexical", config={"encryption_key": "5f" * 32}) as memory:
        memory.remember("Anna prefers green tea.")
        memory.admin.backup(folder / "copy.db")
        assert set(rights(folder).values()) == {0o600}
    convert(folder / "m.db", folder / "plain.db", "5f" * 32, encrypt=False)
    assert set(rights(folder).values()) == {0o600}
