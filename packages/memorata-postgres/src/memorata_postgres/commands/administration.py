"""Administration of a server: distribute."""

from __future__ import annotations

from typer import Option

from memorata.extend.commands import Session, counted
from memorata.extend.errors import NotSupportedHere
from memorata.extend.stores import address_of
from memorata_postgres.distribution import distribute as distribute_tables


def distribute(
    session: Session, shards: int = Option(32, min=1, max=1024, help="Into how many parts tables are cut.")
) -> None:
    """Distribute the tables over the servers of a Citus cluster, whose coordinator --db names."""
    url = address_of(session.settings.db)
    if url is None:
        raise NotSupportedHere("a file is on one machine; --db must be the coordinator of a Citus cluster")
    placed = distribute_tables(url, shards=shards)
    servers = ", ".join(f"{server} with {counted(held, 'shard')}" for server, held in placed.servers.items())
    session.output.result(
        {"shards": placed.shards, "servers": dict(placed.servers)},
        f"{counted(placed.shards, 'shard')}: {servers}",
    )
