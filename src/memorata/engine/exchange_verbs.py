"""The verb that takes memories over as another store had them: `take_over`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from memorata.engine.drafts import Drafts
from memorata.engine.repairing import Repairing
from memorata.engine.resting import collector_resting
from memorata.model.memory import Memory
from memorata.store.port import Entry, Hidden, Store


class ExchangeVerbs(ABC):
    """The part of the engine that takes in what was exported."""

    store: Store
    _drafts: Drafts
    _repairing: Repairing

    @abstractmethod
    def _entries(self, drafts: Sequence[Memory]) -> list[Entry]:
        """Return memories with everything that is derived from them."""

    def take_over(
        self, memories: Sequence[Memory], *, hidden: Mapping[str, Sequence[Hidden]] | None = None
    ) -> list[Memory]:
        """Add memories exactly as they are, and hide what was hidden, all in one transaction.

        Nothing is read from their texts but secrets, where those are taken out, and nothing is compared with
        what is there; a memory whose id its namespace knows is left as it is.

        Parameters
        ----------
        memories
            The memories, those that supersede others after them.
        hidden
            By namespace, since when some of these, or of those that they supersede, have been hidden.
        """
        known = self.store.known([(memory.namespace, memory.id) for memory in memories])
        # Embedding takes its time, in which nobody else has to wait.
        new = [
            self._drafts.clean(memory) for memory in memories if (memory.namespace, memory.id) not in known
        ]
        with collector_resting():
            entries = self._entries(new)

            def write() -> None:
                with self.store.together():
                    self.store.add(entries)
                    for namespace, some in (hidden or {}).items():
                        self.store.hide(namespace, some)

            self._repairing.run(sorted({memory.namespace for memory in memories}), write)
        return [entry.memory for entry in entries]
