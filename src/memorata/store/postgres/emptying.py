"""Removing a whole namespace: every row of every table that is its own, and its name.

What stays is its number beside that of the change, so that the feed tells of it: others that knew the
namespace then see that it is gone, or that another has its name.
"""

from __future__ import annotations

from memorata.model.errors import InvalidArgument
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.schema import OWNED
from memorata.store.postgres.vectors import index_name


def empty(connection: Server, path: str) -> int:
    """Remove a namespace, inside a transaction, and return how many memories it had."""
    found = namespaces.locked(connection, path)
    if found is None:
        raise InvalidArgument("namespace", path, "one that there is")
    indexed = connection.execute(
        "SELECT embedder FROM vector_counts WHERE namespace = %s AND indexed", (found.number,)
    ).fetchall()
    for (embedder,) in indexed:
        connection.execute(f"DROP INDEX IF EXISTS {index_name(found.number, embedder)}")
    for table in OWNED:
        connection.execute(f"DELETE FROM {table} WHERE namespace = %s", (found.number,))
    for table in ("replies", "leases"):
        connection.execute(f"DELETE FROM {table} WHERE namespace = %s", (path,))
    connection.execute("DELETE FROM namespaces WHERE number = %s", (found.number,))
    connection.execute(
        "INSERT INTO purges (change, number) VALUES (nextval('change_numbers'), %s)", (found.number,)
    )
    return found.memories
