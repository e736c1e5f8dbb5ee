"""The verbs that change what is known about a memory, never what was said: change, pin, used, confirm.

What was said is changed by `correct` alone, which keeps the old words readable. Everything here raises the
version by one, in one transaction with what the index keeps, so that two people who change the same memory
never overwrite each other unseen (optimistic concurrency, Kung and Robinson, 1981).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from memorata.engine.drafts import Drafts, built
from memorata.engine.life import Life
from memorata.engine.redacting import cleaned
from memorata.engine.repairing import Repairing
from memorata.model import checks
from memorata.model.errors import InvalidArgument, VersionConflict
from memorata.model.identity import memory_id
from memorata.model.memory import Memory
from memorata.model.place import Place
from memorata.rank.confidence import corroborated
from memorata.store.port import Store

CHANGEABLE: Final = (
    "category", "tier", "confidence", "importance", "pinned", "tags", "metadata", "entities", "place",
    "valid_from", "valid_to", "expires_at",
)  # fmt: skip
"""The fields of a memory that `change` changes."""
_DAY: Final = timedelta(days=1)


class ChangingVerbs(ABC):
    """The part of the engine that changes what is known about memories."""

    store: Store
    _clock: Callable[[], datetime]
    _repairing: Repairing
    _drafts: Drafts
    life: Life

    @abstractmethod
    def _namespace(self, given: str | None) -> str:
        """Return the namespace that a call means."""

    def change(
        self,
        /,
        id: str,
        *,
        expected_version: int | None = None,
        namespace: str | None = None,
        **fields: Any,  # noqa: ANN401 - the memory checks them
    ) -> Memory:
        """Change what is known about a memory, and return it as it is then; its content stays as it is.

        What is searched (tags, entities, the time it happened) is found by its new words at once.

        Parameters
        ----------
        id
            Which memory.
        expected_version
            The version it was read at: if it is another by now, :class:`VersionConflict` is raised and
            nothing is changed. None to change it whatever it is.
        namespace
            Whose memory; None for the engine's.
        **fields
            Any of category, tier, confidence, importance, pinned, tags, metadata, entities, place,
            valid_from, valid_to and expires_at. A given value replaces the old one as a whole.
        """
        path, wanted = self._namespace(namespace), memory_id("id", id)
        if expected_version is not None:
            checks.whole("expected_version", expected_version, 1)
        given = _checked(cleaned(fields) if self._drafts.redact else fields)
        while True:
            current = self.store.get(path, [wanted])[0]
            version = current.version if expected_version is None else expected_version
            if version != current.version:
                raise VersionConflict(wanted, version, current.version)
            changed = replace(current, **given)
            if changed == current:
                return current
            try:
                return self._repairing.run([path], partial(self._written, changed, version))
            except VersionConflict:
                if expected_version is not None:
                    raise
                # Somebody else was faster; the same fields are changed of what they left.

    def pin(self, *ids: str, namespace: str | None = None) -> None:
        """Keep memories: they do not fade and no upkeep touches them; an expiry they had is taken away."""
        self._all_or_none(ids, namespace, pinned=True, expires_at=None)

    def unpin(self, *ids: str, namespace: str | None = None) -> None:
        """Let memories live as others do again."""
        self._all_or_none(ids, namespace, pinned=False)

    def used(self, *ids: str, namespace: str | None = None) -> None:
        """Say that memories were of use, which makes them last and count more.

        Recall and list never say so by themselves: that something was shown does not mean that it helped.
        """
        path, wanted, now = self._namespace(namespace), [memory_id("id", each) for each in ids], self._clock()
        self._repairing.run([path], lambda: self.store.use(path, wanted, now))

    def confirm(self, *ids: str, namespace: str | None = None) -> None:
        """Say that memories are true, still or again: each grows a tenth surer of what doubt is left.

        A confidence grows at most once a day, from what it is by now (:meth:`confidence_of`).
        """
        path, wanted, now = self._namespace(namespace), [memory_id("id", each) for each in ids], self._clock()

        def grow() -> None:
            with self.store.together():
                for id_ in wanted:
                    (memory,) = self.store.get(path, [id_])
                    last = memory.supported_at or memory.created_at
                    grown = corroborated(self.life.confidence(memory, now), last, now)
                    counts = now - last >= _DAY
                    self.store.update(
                        replace(
                            memory,
                            mentions=memory.mentions + 1,
                            confidence=grown if counts else memory.confidence,
                            supported_at=now if counts else memory.supported_at,
                        ),
                        memory.version,
                    )

        self._repairing.run([path], grow)

    def confidence_of(self, memory: Memory, *, now: datetime | None = None) -> float:
        """Return how sure a memory is by now, as every recall counts it; `memory.confidence` is as written.

        The two differ only if confidence wears (`life.confidence_loss`).
        """
        if not isinstance(memory, Memory):
            raise InvalidArgument("memory", memory, "a Memory")
        return self.life.confidence(memory, self._clock() if now is None else checks.instant("now", now))

    def _all_or_none(self, ids: Sequence[str], namespace: str | None, **fields: Any) -> None:  # noqa: ANN401
        def change() -> None:
            with self.store.together():
                for id_ in ids:
                    self.change(id_, namespace=namespace, **fields)

        self._repairing.run([self._namespace(namespace)], change)

    def _written(self, changed: Memory, version: int) -> Memory:
        return self.store.update(changed, version, self._repairing.words_of)


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    for name in fields:
        if name == "content":
            raise InvalidArgument(
                "fields", name, "what is known about a memory; to say something new, use correct"
            )
        checks.one_of("fields", name, CHANGEABLE)
    given = dict(fields)
    if isinstance(given.get("place"), Mapping):
        given["place"] = built("place", Place, given["place"])
    return given
