"""Tables in partitions: every table that belongs to a namespace, split by a hash of the namespace's number.

One server does not need it. It bounds the size of each table and index, so that vacuuming, dumping and
building an index work on parts; and parts can be kept on disks, or moved to servers, of their own. Since the
number comes first in every key, all rows of a namespace are in the same part of each table, and a recall
reads only those.
"""

from __future__ import annotations

import re
from typing import Final

import psycopg

from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.store.postgres.address import parsed, shown
from memorata.store.postgres.dialect import OWNED
from memorata.store.postgres.errors import unreachable
from memorata.store.postgres.migrations import made_ready, schema_number
from memorata.store.postgres.schema import MIGRATIONS

MAX_PARTITIONS: Final = 1024


def make_partitioned(url: str, partitions: int) -> None:
    """Make our tables in a database that has none, in partitions; afterwards it is opened like any other.

    Parameters
    ----------
    url
        The address of the database.
    partitions
        How many parts each table has, 1 to 1024. It stays as it is: choose it for the largest you expect,
        a few for each processor of the server.

    Raises
    ------
    InvalidArgument
        There are tables of ours already: copy the memories to a new database instead (``memorata copy``).
    ServerUnsuitable
        As :func:`~memorata.store.postgres.migrations.made_ready` says.
    """
    if checks.whole("partitions", partitions, 1) > MAX_PARTITIONS:
        raise InvalidArgument("partitions", partitions, f"at most {MAX_PARTITIONS}")
    parsed(url)
    try:
        connection = psycopg.connect(url, autocommit=True)
    except psycopg.OperationalError as error:
        raise unreachable(error, url) from error
    with connection:
        known = schema_number(connection)
    if known:
        raise InvalidArgument(
            "url", shown(url), "a database without our tables; copy the memories there (memorata copy)"
        )
    made_ready(url, scripts=tuple(partitioned(script, partitions) for script in MIGRATIONS))


def partitioned(script: str, partitions: int) -> str:
    """Return a migration that makes the tables of namespaces in partitions.

    Examples
    --------
    >>> print(partitioned("CREATE TABLE sessions (namespace BIGINT);", 2))
    CREATE TABLE sessions (namespace BIGINT) PARTITION BY HASH (namespace);
    CREATE TABLE sessions_0 PARTITION OF sessions FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE sessions_1 PARTITION OF sessions FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    """

    def split(found: re.Match[str]) -> str:
        parts = "".join(
            f"\nCREATE TABLE {found['name']}_{number} PARTITION OF {found['name']} "
            f"FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number});"
            for number in range(partitions)
        )
        return f"{found['table']} PARTITION BY HASH (namespace);{parts}"

    return re.sub(rf"(?P<table>CREATE TABLE (?P<name>{'|'.join(OWNED)}) \([^;]*\));", split, script)
