"""Making an approximate index over the vectors of a large namespace, while others read and write.

``CREATE INDEX CONCURRENTLY`` keeps nobody waiting, and takes minutes: how far it is, the server says
(``pg_stat_progress_create_index``). Stopped in the middle it leaves an index that is not valid, which is used
by nobody and has to be removed; whoever makes it the next time does that first, so that it can be stopped by
anything at any moment.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any, Final

import psycopg

from memorata.store.port import Progress
from memorata.store.postgres.connection import Server, prepare
from memorata.store.postgres.failing import ours, unreachable
from memorata.store.postgres.vectors import EXACT, index_name

_SECONDS: Final = 24 * 3600.0
_LOOK_EVERY: Final = 0.2
_WAITING: Final = """
    SELECT c.namespace FROM vector_counts c WHERE c.embedder = %s AND c.passages > %s
    AND NOT (c.indexed AND EXISTS (
        SELECT 1 FROM pg_index i
        WHERE i.indexrelid = to_regclass('vectors_hnsw_' || c.namespace || '_' || c.embedder) AND i.indisvalid
    ))
    AND pg_has_role((SELECT relowner FROM pg_class WHERE oid = 'vectors'::regclass), 'USAGE')
    ORDER BY c.namespace LIMIT 1
"""
"""A large namespace without a sound index; only the owner of the tables can make one."""
_HOW_FAR: Final = "SELECT phase, tuples_done, tuples_total FROM pg_stat_progress_create_index WHERE pid = %s"


def next_to_index(connection: Server, embedder: int) -> int | None:
    """Return the number of a namespace that has grown large and has no sound index; None if there is none."""
    row = connection.execute(_WAITING, (embedder, EXACT)).fetchone()
    return None if row is None else int(row[0])


def make_index(
    url: str,
    namespace: int,
    embedder: tuple[int, int],
    look: Callable[[Callable[[Server], Any]], Any],
    progress: Progress,
) -> None:
    """Make the index of a namespace and an embedder, and say that it is there.

    Parameters
    ----------
    url
        The address, as the owner of the tables.
    namespace, embedder
        Their numbers; with the embedder's, its dimension.
    look
        Reads from the server while the index is made.
    progress
        Told what is done and how far it is; what it raises stops it, and removes what was begun.
    """
    name = index_name(namespace, embedder[0])
    try:
        connection = Server.connect(url, autocommit=True)
    except psycopg.OperationalError as error:
        raise unreachable(error, url) from error
    with connection:
        try:
            prepare(connection, patience=_SECONDS, statement_seconds=_SECONDS)
            # What is left of an attempt that was stopped, or is not valid for another reason.
            connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            _create(connection, name, namespace, embedder, look, progress)
            connection.execute(
                "UPDATE vector_counts SET indexed = true WHERE namespace = %s AND embedder = %s",
                (namespace, embedder[0]),
            )
        except psycopg.Error as error:
            raise ours(error, url, broken=connection.broken) from error


def _create(
    connection: Server,
    name: str,
    namespace: int,
    embedder: tuple[int, int],
    look: Callable[[Callable[[Server], Any]], Any],
    progress: Progress,
) -> None:
    statement = (
        f"CREATE INDEX CONCURRENTLY {name} ON {_part(connection, namespace)} USING hnsw "
        f"((embedding::vector({embedder[1]})) vector_ip_ops) "
        f"WHERE namespace = {namespace} AND embedder = {embedder[0]}"
    )
    failed: list[psycopg.Error] = []

    def create() -> None:
        try:
            connection.execute(statement)
        except psycopg.Error as error:
            failed.append(error)

    worker, process = Thread(target=create, name="memorata-index"), connection.info.backend_pid
    worker.start()
    try:
        while worker.is_alive():
            worker.join(_LOOK_EVERY)
            row = look(lambda server: server.execute(_HOW_FAR, (process,)).fetchone())
            if row is not None:
                progress(row[0], row[1], row[2])
    except BaseException:
        connection.cancel()
        worker.join()
        connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        raise
    if failed:
        raise failed[0]


def _part(connection: Server, namespace: int) -> str:
    """Return the table that holds a namespace's vectors: a partition, where there are any."""
    row = connection.execute(
        "SELECT tableoid::regclass::text FROM vectors WHERE namespace = %s LIMIT 1", (namespace,)
    ).fetchone()
    return "vectors" if row is None else str(row[0])
