"""Doing something with a store whose derived data may turn out to be damaged: rebuild it, and do it again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from memorata._frozen import frozen
from memorata.engine.words import words_of
from memorata.model.errors import IndexCorrupt
from memorata.model.memory import Memory
from memorata.store.port import Store, Terms
from memorata.text.analysers import Analyser

_LOG: Final = logging.getLogger(__name__)
_Result = TypeVar("_Result")


@frozen
class Repairing:
    """A store, and the analyser that its words were read with."""

    store: Store
    analyser: Analyser

    def words_of(self, memory: Memory) -> Terms:
        """Return the words of a memory, as the index has them."""
        return words_of(memory, self.analyser)

    def run(self, paths: Sequence[str], action: Callable[[], _Result]) -> _Result:
        """Do something; if derived data of these namespaces does not check, rebuild it and do it again.

        It is also done again where a server gave way in the middle of it (:meth:`Store.tried`), so it writes
        in one transaction.
        """
        try:
            return self.store.tried(action)
        except IndexCorrupt as error:
            if self.store.read_only:
                raise IndexCorrupt(
                    f"{error}; that cannot be rebuilt in a file that is only read: copy it to a folder that "
                    "can be written, and run `memorata check --repair` on the copy"
                ) from error
            _LOG.warning("rebuilding what is derived from the memories of %s: %s", ", ".join(paths), error)
            for path in paths:
                self.store.rebuild(path, self.words_of)
            return self.store.tried(action)
