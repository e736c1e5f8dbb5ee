"""The figures that docs/scale.md starts from, as the lines of Python that stand there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.postgres_sizes import TableSize

NAME = "Memorata on PostgreSQL"
_NAMED = 4
"""How many of the largest tables are named; the rest are the others."""


@dataclass(slots=True)
class Figures:
    """What was measured of the store on a server, in one shape.

    Attributes
    ----------
    recall_server, recall_client, pages
        Seconds of processor time of a recall on either side, and the pages it touches.
    write_server, write_client, write_log
        The same of one memory that is written, its duplicates looked for, and the bytes of log it makes.
    tables, memories
        The tables, and how many memories are in them.
    """

    recall_server: float = 0.0
    recall_client: float = 0.0
    pages: float = 0.0
    write_server: float = 0.0
    write_client: float = 0.0
    write_log: float = 0.0
    tables: tuple[TableSize, ...] = ()
    memories: int = 1

    def lines(self) -> Iterator[str]:
        """Yield the lines of docs/scale.md."""
        sizes = {table.name: round(table.total / self.memories) for table in self.tables[:_NAMED]}
        sizes["others"] = round(sum(table.total for table in self.tables[_NAMED:]) / self.memories)
        named = ", ".join(f'"{table}": {size:_}' for table, size in sizes.items())
        yield f">>> bytes_a_memory = {{{named}}}"
        yield ">>> sum(bytes_a_memory.values())"
        yield str(sum(sizes.values()))
        yield (
            f'>>> recall = {{"server_ms": {self.recall_server * 1e3:.1f}, '
            f'"client_ms": {self.recall_client * 1e3:.1f}, "pages": {self.pages:.0f}}}'
        )
        yield (
            f'>>> write = {{"server_ms": {self.write_server * 1e3:.1f}, '
            f'"client_ms": {self.write_client * 1e3:.1f}, "log": {self.write_log:_.0f}}}'
        )
