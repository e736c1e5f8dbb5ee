"""Removing a whole namespace: every row of every table that is its own, and its name.

What stays is one row without a name, so that its number is not given out again, and one entry of the change
feed: others that knew the namespace then see that it is gone, or that another has its name.
"""

from __future__ import annotations

from recollect.model.errors import InvalidArgument
from recollect.store.postgres import namespaces
from recollect.store.postgres.connection import Server
from recollect.store.postgres.namespaces import NOBODY, PURGED
from recollect.store.postgres.schema import OWNED
from recollect.store.postgres.vectors import index_name


def empty(connection: Server, path: str) -> int:
    """Remove a namespace, inside a transaction, and return how many memories it had."""
    found = namespaces.locked(connection, path)
    if found is None or path.startswith(PURGED):
        raise InvalidArgument("namespace", path, "one that there is")
    indexed = connection.execute(
        "SELECT embedder FROM vector_counts WHERE namespace = %s AND indexed", (found.number,)
    ).fetchall()
    for (embedder,) in indexed:
        connection.execute(f"DROP INDEX IF EXISTS {index_name(found.number, embedder)}")
    for table in OWNED:
        connection.execute(f"DELETE FROM {table} WHERE namespace = %s", (found.number,))
    connection.execute("DELETE FROM replies WHERE about = %s", (path,))
    (change,) = namespaces.log(connection, found, [NOBODY], "purge")
    connection.execute(
        "UPDATE namespaces SET path = %s, slots = 0, change = %s, naming = 0, begun = %s, memories = 0, "
        "shown = 0, sums = '{0,0,0,0,0,0,0}', holders = '{0,0,0,0,0,0,0}' WHERE number = %s",
        (f"{PURGED}{found.number})", change, change, found.number),
    )
    return found.memories
