"""How it is known what was committed: the note of a write, and the end of all that is being written."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import field
from time import monotonic, sleep
from typing import Any, Final

from memorata._frozen import frozen
from memorata.model.errors import StoreUnavailable
from memorata.store.database import Statement
from memorata.store.postgres.dialect import NOBODY

CLOCK: Final = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""The server's time in microseconds."""
EVIDENCE_SECONDS: Final = 3_600
"""For how long the note that a write happened is kept."""
_FORGET_EVERY: Final = 32
"""One of so many writes removes notes that are older."""
_PAUSE: Final = 0.01
_WRITING: Final = """
    SELECT coalesce(array_agg(DISTINCT l.virtualtransaction), '{}') FROM pg_locks l
    WHERE l.locktype = 'relation' AND l.relation = 'namespaces'::regclass AND l.pid <> pg_backend_pid()
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.mode IN ('RowShareLock', 'RowExclusiveLock') AND (
            NOT row_security_active('namespaces') OR l.pid IN (
                SELECT a.pid FROM pg_stat_activity a WHERE a.usesysid IN (
                    (SELECT oid FROM pg_roles WHERE rolname = session_user),
                    (SELECT relowner FROM pg_class WHERE oid = 'namespaces'::regclass)
                )
            )
        )
"""
"""The transactions that hold locks on rows of namespaces."""


@frozen
class Evidence:
    """The note that a write happened, made in its transaction: who did not hear looks for it.

    It belongs to the namespace that was written to, so that those who may write there alone can write it. It
    is found by a random number: the number of a transaction tells nothing after a crash, for a server may
    give one that nobody heard of any more to another transaction.
    """

    transaction: str
    at: int
    """When the transaction began, in microseconds by the server's clock."""
    namespace: int | None = None
    """None for what belongs to no namespace."""
    number: int = field(default_factory=lambda: secrets.randbits(62))

    def written(self) -> list[Statement]:
        """Return what writes it and, once in a while, removes old ones of the namespace.

        Examples
        --------
        >>> Evidence("730", 5, 7, 1).written()
        [('INSERT INTO writes (at, number, namespace) VALUES (?, ?, ?)', (5, 1, 7))]
        """
        key, values = self._key()
        note = f"INSERT INTO writes (at, number, namespace) VALUES (?, ?, {key})"
        statements: list[Statement] = [(note, (self.at, self.number, *values))]
        if not self.number % _FORGET_EVERY:
            until = self.at - EVIDENCE_SECONDS * 1_000_000
            statements.append((f"DELETE FROM writes WHERE at < ? AND namespace = {key}", (until, *values)))
        return statements

    def asked(self) -> Statement:
        """Return what tells whether it is there, and whether it is too late to tell."""
        key, values = self._key()
        until = self.at + EVIDENCE_SECONDS * 1_000_000 // 2
        return (
            f"SELECT {CLOCK} > ?, EXISTS (SELECT 1 FROM writes WHERE at = ? AND number = ? "
            f"AND namespace = {key})",
            (until, self.at, self.number, *values),
        )

    def _key(self) -> tuple[str, tuple[int, ...]]:
        return (NOBODY, ()) if self.namespace is None else ("?", (self.namespace,))


def settled(ask: Callable[[str], Any], path: str, patience: float) -> int:
    """Wait until no change is on its way, and return a number up to which all are there to be read.

    Numbers are given out before transactions end, and those of two namespaces may end in another order: a
    reader who saw the later one first would never see the other. Every writer locks the row of its namespace,
    and draws numbers no less than the time it had then: so once those have ended that hold such a lock now,
    no number before this moment is given out any more. A tenant waits for its own writers and for the
    owner's only, whose changes alone it can see. `ask` returns the first row of a statement.
    """
    (now,) = ask(f"SELECT {CLOCK}")
    until, waited_for = monotonic() + patience, None
    while True:
        running = frozenset(ask(_WRITING)[0])
        waited_for = running if waited_for is None else waited_for & running
        if not waited_for:
            return int(now)
        if monotonic() > until:
            raise StoreUnavailable(
                f"{path}: a transaction has kept namespaces locked for {patience:g} s; what it changes is "
                "not known yet; end it (pg_stat_activity shows it), and ask again"
            )
        sleep(_PAUSE)
