"""Encryption at rest: the same file, read and written through SQLCipher (the extra ``encryption``).

Every page of the database and of its log is encrypted (AES-256) and authenticated (HMAC-SHA-512), so that a
page that was changed outside is refused when it is read. A key of 64 hexadecimal digits is used as it is;
anything else is a passphrase, which SQLCipher stretches (PBKDF2, 256,000 rounds): that takes a moment
whenever the file is opened. Lost keys cannot be recovered.

Source: https://www.zetetic.net/sqlcipher/design/
"""

from __future__ import annotations

import re
import secrets
import sqlite3
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final

from memorata.model.errors import InvalidArgument, MissingExtra, StoreEncrypted, StoreUnavailable
from memorata.store.sqlite.files import OWNER_ONLY, remove_leftovers, whole_file
from memorata.store.sqlite.schema import APPLICATION_ID, COPY_ID

_PLAIN: Final = b"SQLite format 3\0"
_RAW: Final = re.compile(r"[0-9a-fA-F]{64}")
_MIN_KEY_LENGTH: Final = 8
_COMMAND_SECONDS: Final = 60.0
_HIDDEN: Final = "(not shown)"
_DRIVER: Final = "sqlcipher3.dbapi2"
KEY_ADVICE: Final = "give its key (encryption_key, MEMORATA_ENCRYPTION_KEY)"


def resolved_key(setting: str) -> str:
    """Return the key that a setting holds, or names as ``file:PATH`` or ``command:COMMAND`` (its output)."""
    # Every store loads this module, and few have a key.
    import shlex
    import subprocess

    kind, _, rest = setting.partition(":")
    key = setting
    try:
        if kind == "file":
            key = Path(rest).expanduser().read_text(encoding="utf-8").strip()
        elif kind == "command":
            key = subprocess.run(
                shlex.split(rest), capture_output=True, text=True, check=True, timeout=_COMMAND_SECONDS
            ).stdout.strip()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        # Not its output, which may be a part of the key.
        why = type(error).__name__ if not isinstance(error, OSError) else error.strerror
        raise StoreEncrypted(f"the key could not be had from {kind}:{rest} ({why})") from error
    if len(key) < _MIN_KEY_LENGTH or not key.isprintable():
        expected = (
            "64 hexadecimal digits, a passphrase of at least 8 characters, file:PATH or command:COMMAND"
        )
        raise InvalidArgument("encryption_key", _HIDDEN, expected)
    return key


def connected(path: str | Path, key: str | None = None, *, encrypted: type | None = None, **how: Any) -> Any:  # noqa: ANN401
    """Open a connection: Python's own, or SQLCipher's if there is a key, as the class `encrypted`."""
    if key is None:
        return sqlite3.connect(path, **how)
    if encrypted is not None:
        how["factory"] = encrypted
    is_new = not how.get("uri") and is_empty(Path(path))
    connection = _cipher().connect(str(path), **how)
    try:
        # A wrong key raises an error; SQLCipher's lines on the error output are not wanted besides.
        connection.execute("PRAGMA cipher_log_level = NONE")
        connection.execute(f"PRAGMA key = {_quoted(key)}")
        if is_new:
            # SQLCipher takes the start of a file that is there and empty for a salt of zeros.
            connection.execute(f"PRAGMA cipher_salt = \"x'{secrets.token_hex(16)}'\"")
    except BaseException:
        connection.close()
        raise
    return connection


@cache
def session_class(plain: type) -> type:
    """Return the class of an encrypted session: all that a plain one has, over SQLCipher's connections.

    The two drivers have no class in common, so what a session adds to a connection is put on top of each.
    """
    base = _cipher().Connection
    own = {name: value for name, value in vars(plain).items() if name not in ("__dict__", "__init__")}

    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as sqlite3 has them
        base.__init__(self, *args, **kwargs)
        self.begin()

    return type("EncryptedSession", (base,), {**own, "__init__": initialise})


def check_encryption(file: Path, key: str | None) -> None:
    """Raise if there is a key and the file exists without being encrypted."""
    if key is not None and _is_plain(file):
        raise StoreEncrypted(
            f"{file} is not encrypted, and a key was given; leave the key out, or make an encrypted copy "
            "with `memorata admin encrypt COPY`"
        )


def convert(origin: Path, target: Path, key: str, *, encrypt: bool) -> None:
    """Copy a database into an encrypted file, or out of one; `target` must not exist.

    Nothing else may write to it. Every table is written anew, in one transaction. Only SQLCipher opens the
    file meanwhile: two SQLite libraries in one process would undo each other's locks.
    """
    if not origin.is_file():
        raise StoreUnavailable(f"there is no database at {origin}; check the path")
    if target.exists():
        raise InvalidArgument("target", str(target), "a file that is not there yet")
    if _is_plain(origin) != encrypt:
        state = "encrypted already" if encrypt else "not encrypted"
        raise StoreEncrypted(f"{origin} is {state}; nothing was copied")
    remove_leftovers(target)
    with (
        whole_file(target) as partial,
        closing(_cipher().connect(str(origin), isolation_level=None)) as source,
    ):
        source.execute("PRAGMA cipher_log_level = NONE")
        if not encrypt:
            source.execute(f"PRAGMA key = {_quoted(key)}")
        try:
            source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except database_errors() as error:
            if is_no_database(error):
                raise wrong_key(str(origin)) from error
            raise
        attached = _quoted(key) if encrypt else "''"
        source.execute(f"ATTACH DATABASE ? AS target KEY {attached}", (str(partial),))
        partial.chmod(OWNER_ONLY)
        source.execute("BEGIN IMMEDIATE")
        source.execute("SELECT sqlcipher_export('target')").fetchall()
        (version,) = source.execute("PRAGMA user_version").fetchone()
        (application,) = source.execute("PRAGMA application_id").fetchone()
        source.execute(f"PRAGMA target.user_version = {version}")
        mark = COPY_ID if application == APPLICATION_ID else application
        source.execute(f"PRAGMA target.application_id = {mark}")
        source.execute("COMMIT")


def is_no_database(error: Any) -> bool:  # noqa: ANN401 - of either driver
    """Return whether an error means that a file is no database, which a wrong key looks like too."""
    return bool(error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_NOTADB)


def wrong_key(name: str) -> StoreEncrypted:
    """Return the error of a file that a key does not open."""
    return StoreEncrypted(
        f"{name} cannot be read with this key: it is of another key, or its start is damaged"
    )


def database_errors(kind: str = "DatabaseError") -> tuple[Any, ...]:
    """Return the errors of a kind, of the drivers that are loaded."""
    drivers = (sqlite3, sys.modules.get(_DRIVER))
    return tuple(getattr(driver, kind) for driver in drivers if driver is not None)


def is_empty(file: Path) -> bool:
    """Return whether nothing is in a file yet, or there is none."""
    return not file.exists() or not file.stat().st_size


def _is_plain(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(_PLAIN)) == _PLAIN
    except OSError:
        return False


def _quoted(key: str) -> str:
    """Return a key as SQL; this statement takes no parameters."""
    return f"\"x'{key}'\"" if _RAW.fullmatch(key) else "'" + key.replace("'", "''") + "'"


@cache
def _cipher() -> Any:  # noqa: ANN401 - a module without types
    try:
        from sqlcipher3 import dbapi2
    except ImportError as error:
        raise MissingExtra("An encrypted database", "'memorata[encryption]'") from error
    return dbapi2
