"""Tables on several servers: Citus keeps all rows of a namespace on one of them.

Every table of namespaces, and the table of namespaces itself, is distributed by the number of the namespace
and stands beside the others, so that each statement of a recall or a write goes to one server. What belongs
to no namespace (settings, embedders, keys, replies, leases) stays on the coordinator. The table of tenants is
on every server, for row-level security reads it there for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final

from psycopg import Connection, sql
from psycopg.rows import TupleRow

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument, ServerUnsuitable
from memorata.extend.model import checks
from memorata.extend.stores import shown
from memorata_postgres.dialect import OWNED
from memorata_postgres.errors import connected
from memorata_postgres.schema import REFERENCES, make_ready

MAX_SHARDS: Final = 1024
SHARDS: Final = 32
"""Into how many parts tables are cut by default; servers that are added take whole parts over."""
_TENANT_FUNCTIONS: Final = ("may_see(text)", "may_see_number(bigint)")


@frozen
class Distribution:
    """Where the tables of a database are."""

    shards: int
    """Into how many parts each table is cut; 0 where nothing is distributed."""
    servers: Mapping[str, int] = field(default_factory=dict)
    """How many of these parts each server has, by its address."""
    single_shard: int = 0
    """Statements that went to one part, since they are counted."""
    multi_shard: int = 0
    """Statements that went to several: listings of all namespaces, checks, purges of everything."""


def distribute(url: str, *, shards: int = SHARDS) -> Distribution:
    """Distribute the tables of a database over the servers of a Citus cluster, and return where they are.

    What is there already is moved along, in one transaction: writers wait until it is done. A database that
    is distributed already is left as it is.

    Parameters
    ----------
    url
        The address of the coordinator, as the owner of the tables.
    shards
        Into how many parts, 1 to 1024: a few for each processor of all servers there will ever be.

    Raises
    ------
    InvalidArgument
        `shards` is out of range.
    ServerUnsuitable
        It is no Citus coordinator.
    """
    if checks.whole("shards", shards, 1) > MAX_SHARDS:
        raise InvalidArgument("shards", shards, f"at most {MAX_SHARDS}")
    make_ready(url)
    with connected(url) as connection:
        if _ask(connection)("SELECT 1 FROM pg_extension WHERE extname = 'citus'") is None:
            raise ServerUnsuitable(
                f"{shown(url)} is no coordinator of Citus; install it there, run CREATE EXTENSION citus "
                "and SELECT citus_add_node(…) for each worker, and try again"
            )
        if not placed(_ask(connection)).shards:
            _distribute(connection, shards)
        return placed(_ask(connection))


def placed(ask: Callable[[str], TupleRow | None]) -> Distribution:
    """Return where the tables are; `ask` returns the first row of a statement."""
    if ask("SELECT 1 FROM pg_extension WHERE extname = 'citus'") is None:
        return Distribution(0)
    (servers,) = ask(
        "SELECT json_object_agg(server, shards ORDER BY server) FROM (SELECT nodename || ':' || nodeport "
        "AS server, count(*) AS shards FROM citus_shards WHERE table_name = to_regclass('namespaces') "
        "AND citus_table_type = 'distributed' GROUP BY 1) AS placements"
    ) or (None,)
    # Citus counts since 13.1.
    counters = ask("SELECT 1 WHERE to_regclass('citus_stat_counters') IS NOT NULL")
    single, multi = (
        counters
        and ask(
            "SELECT coalesce(sum(query_execution_single_shard), 0)::bigint, "
            "coalesce(sum(query_execution_multi_shard), 0)::bigint FROM citus_stat_counters "
            "WHERE name = current_database()"
        )
    ) or (0, 0)
    return Distribution(sum((servers or {}).values()), servers or {}, single, multi)


def _ask(connection: Connection[TupleRow]) -> Callable[[str], TupleRow | None]:
    return lambda statement: connection.execute(statement).fetchone()


def _distribute(connection: Connection[TupleRow], shards: int) -> None:
    with connection.transaction():
        # One shard after the other: what refers to each other is made in one transaction.
        connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
        connection.execute("SELECT create_reference_table('tenants')")
        for function in _TENANT_FUNCTIONS:
            # Called on the server of a row, they look up its namespace, which is a query of its own.
            connection.execute(
                f"ALTER FUNCTION {function} SET citus.allow_nested_distributed_execution = 'on'"
            )
        keys = _foreign_keys(connection)
        for table, name, _ in keys:
            connection.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(table, name))
        connection.execute(
            "SELECT create_distributed_table('namespaces', 'number', shard_count => %s)", (shards,)
        )
        for owned in reversed(OWNED):
            connection.execute(
                "SELECT create_distributed_table(%s, 'namespace', colocate_with => 'namespaces')", (owned,)
            )
        for table, name, definition in keys:
            connection.execute(
                sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}").format(table, name, sql.SQL(definition))
            )


def _foreign_keys(connection: Connection[TupleRow]) -> list[tuple[sql.Identifier, sql.Identifier, str]]:
    """Return the foreign keys of our tables: the table, the name and the definition."""
    rows = connection.execute(
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE contype = 'f' AND conrelid = ANY (%s::regclass[])",
        (sorted({table for table, _, _ in REFERENCES}),),
    ).fetchall()
    return [(sql.Identifier(*table.split(".")), sql.Identifier(name), text) for table, name, text in rows]
