"""The part of the store on a server that makes several writes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from memorata.store.postgres.database import Database

_Result = TypeVar("_Result")


class AccessStore:
    """What :class:`~memorata.store.port.Store` promises about transactions."""

    rollbacks: int = 0
    """How often a write made of several was undone after something in it had been written."""
    _database: Database

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make everything that this thread writes in the block one transaction: all of it, or nothing."""
        try:
            with self._database.together():
                yield
        except BaseException:
            # What was read inside the block may be of changes that never came to be.
            self.rollbacks += 1
            raise

    def tried(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns, which is done again where the server gave way in the middle of it."""
        return self._database.tried(work)
