"""An encrypted file: the same memory, and nothing of it in the bytes of any file."""

import subprocess
import sys
from pathlib import Path

import pytest

import memorata
from memorata.model.errors import (
    InvalidArgument,
    MissingExtra,
    NotSupportedHere,
    StoreCorrupt,
    StoreEncrypted,
)
from memorata.store.dialects import SqliteStore
from memorata.store.sqlite import encryption
from memorata.store.sqlite.encryption import convert, resolved_key

KEY = "0123456789abcdef" * 4
SECRET = "Anna keeps the blueprints in the attic"
RELEASED = Path(__file__).parent / "released" / "schema-2.db.gz"


def opened(path: Path, key: str | None = KEY, *, read_only: bool = False) -> memorata.Engine:
    config = memorata.Config(encryption_key=key, durable=False)
    return memorata.open(path, embedder="lexical", read_only=read_only, config=config)


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember(SECRET)
        memory.remember_many([f"note {number} on tea" for number in range(300)])
    return path


def test_nothing_of_it_can_be_read_from_the_files(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        memory.remember(SECRET)
        memory.recall("where are the blueprints?")
        # The log too, before it is brought to its place.
        assert (tmp_path / "m.db-wal").stat().st_size
        for word in (b"blueprints", b"attic", b"memories", b"SQLite format"):
            assert word not in bytes_of(tmp_path)
        assert memory.admin.check() == []
        assert memory.recall("where are the blueprints?").hits[0].memory.content == SECRET
    assert (tmp_path / "m.db").read_bytes()[:16] != bytes(16)


@pytest.mark.parametrize("key", ["f" * 64, "another passphrase", None])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_wrong_key_is_told_and_changes_nothing(file: Path, key: str | None, read_only: bool) -> None:
    before = file.read_bytes()
    with pytest.raises((StoreEncrypted, StoreCorrupt), match=r"cannot be read with this key|give its key"):
        opened(file, key, read_only=read_only)
    assert file.read_bytes() == before
    with opened(file, read_only=read_only) as memory:
        assert memory.recall("blueprints").hits[0].memory.content == SECRET


def test_a_page_that_was_changed_outside_is_refused(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 + 2000] ^= 1
    file.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="damaged"), opened(file) as memory:
        memory.list(limit=500)


def test_copies_and_purges_stay_encrypted(file: Path, tmp_path: Path) -> None:
    with opened(file) as memory:
        memory.store.backup(tmp_path / "copy.db")
        memory.store.backup(tmp_path / "copy.db")
        memory.purge(memory.recall("blueprints").hits[0].memory.id)
        assert not memory.store.statistics()["unfinished_purge"]
        assert memory.recall("blueprints", min_confidence=0).hits[0].memory.content != SECRET
    assert b"blueprints" not in bytes_of(tmp_path)
    with opened(tmp_path / "copy.db") as copy:
        assert copy.recall("blueprints").hits[0].memory.content == SECRET


def test_several_processes_use_it(file: Path) -> None:
    script = (
        "import memorata, sys\n"
        "config = {'encryption_key': sys.argv[2]}\n"
        "with memorata.open(sys.argv[1], embedder='lexical', config=config) as memory:\n"
        "    for number in range(20):\n"
        "        memory.remember(f'{sys.argv[3]} says {number}')\n"
    )
    command = [sys.executable, "-c", script, str(file), KEY]
    processes = [subprocess.Popen([*command, name]) for name in ("Bert", "Clara")]
    with opened(file) as memory:
        assert [process.wait(120) for process in processes] == [0, 0]
        assert len(memory.list(limit=500).memories) == 301 + 40
        assert memory.admin.check() == []


@pytest.mark.untraced
@pytest.mark.parametrize("key", [KEY, "it's a passphrase"])
def test_there_and_back(tmp_path: Path, key: str) -> None:
    plain, secret, back = tmp_path / "plain.db", tmp_path / "secret.db", tmp_path / "back.db"
    with opened(plain, None) as memory:
        memory.remember(SECRET)
        before = memory.list(limit=500).memories
    convert(plain, secret, key, encrypt=True)
    assert secret.stat().st_mode & 0o777 == 0o600
    assert secret.read_bytes()[:16] not in (bytes(16), b"SQLite format 3\0")
    assert b"blueprints" not in secret.read_bytes()
    convert(secret, back, key, encrypt=False)
    for path, its_key in ((secret, key), (back, None)):
        with opened(path, its_key) as memory:
            assert memory.list(limit=500).memories == before
            assert memory.admin.check() == []


def test_what_cannot_be_converted_is_told(file: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.db"
    convert(file, plain, KEY, encrypt=False)
    for origin, encrypt, key in ((file, True, KEY), (plain, False, KEY), (file, False, "f" * 64)):
        with pytest.raises(StoreEncrypted, match=r"already|not encrypted|with this key"):
            convert(origin, tmp_path / "new.db", key, encrypt=encrypt)
    with pytest.raises(InvalidArgument, match="not there yet"):
        convert(file, plain, KEY, encrypt=False)
    with pytest.raises(StoreEncrypted, match="memorata admin encrypt"):
        opened(plain)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.db", "plain.db"]


def test_a_key_comes_from_a_file_or_a_command(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    assert resolved_key(f"file:{tmp_path / 'key'}") == KEY
    assert resolved_key(f"command:cat '{tmp_path / 'key'}'") == KEY
    for wrong in (f"file:{tmp_path / 'none'}", "command:false", "command:/no/such/thing", "command:'"):
        with pytest.raises(StoreEncrypted, match="could not be had"):
            resolved_key(wrong)
    for wrong in ("", "short", "line\nbreak and more"):
        with pytest.raises(InvalidArgument, match="not shown"):
            resolved_key(wrong)


def test_without_the_package_the_line_to_install_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    encryption._cipher.cache_clear()
    with pytest.raises(MissingExtra, match=r"pip install 'memorata\[encryption\]'"):
        SqliteStore(tmp_path / "m.db", key=KEY)
    encryption._cipher.cache_clear()


def test_a_server_has_no_key_of_ours() -> None:
    with pytest.raises(NotSupportedHere, match="encrypts its own disk"):
        memorata.open("postgresql://localhost/none", config={"encryption_key": KEY})
