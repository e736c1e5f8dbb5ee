"""The verbs about what cannot both be true: contradictions, settle_contradiction, settle_contradictions.

`remember` notes what a new memory may contradict, and does nothing else about it. Somebody has to decide: a
person, a program, or a language model. A decision is written down with who made it and why; only then does
the newer memory supersede the older one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memorata.engine.drafts import Drafts
from memorata.engine.repairing import Repairing
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.identity import memory_id
from memorata.store.port import Store

if TYPE_CHECKING:
    from memorata.engine.chat_judge import ContradictionJudge
    from memorata.store.repeats import Contradiction

_CONTRADICTS: Final = "contradicts"
_COMPATIBLE: Final = "compatible"


class ContradictionVerbs(ABC):
    """The part of the engine that knows contradictions."""

    store: Store
    _clock: Callable[[], datetime]
    _drafts: Drafts
    _repairing: Repairing

    @abstractmethod
    def _namespace(self, given: str | None) -> str:
        """Return the namespace that a call means."""

    def contradictions(
        self, id: str | None = None, *, settled: bool = False, namespace: str | None = None
    ) -> tuple[Contradiction, ...]:
        """Return which memories may contradict each other, in the order in which it was noticed.

        Parameters
        ----------
        id
            Only those of this memory; None for all.
        settled
            Also what was decided, and what is between memories that are hidden by now.
        namespace
            Whose memories; None for the engine's.
        """
        path = self._namespace(namespace)
        if id is not None:
            self.store.get(path, [memory_id("id", id)])
        return tuple(self.store.contradictions(path, id=id, settled=checks.flag("settled", settled)))

    def settle_contradiction(
        self,
        newer: str,
        older: str,
        *,
        contradicts: bool,
        because: str,
        by: str = "",
        namespace: str | None = None,
    ) -> Contradiction:
        """Decide about a noted contradiction, and return it with the decision.

        Parameters
        ----------
        newer, older
            The ids of the two memories.
        contradicts
            Whether they do; then the newer one supersedes the older one, which held until that began.
        because
            Why; it is kept.
        by
            Who decided.
        namespace
            Whose memories; None for the engine's.
        """
        checks.flag("contradicts", contradicts)
        if not checks.writable("because", because).strip():
            raise InvalidArgument("because", because, "a reason in words")
        checks.writable("by", by)
        path = self._namespace(namespace)
        pair = (memory_id("newer", newer), memory_id("older", older))

        def decide() -> Contradiction:
            with self.store.together():
                found = {(each.newer, each.older): each for each in self.store.contradictions(path)}.get(pair)
                if found is None:
                    raise InvalidArgument(
                        "newer, older", pair, "a pair that is noted and open, as contradictions lists them"
                    )
                decided = replace(
                    found,
                    verdict=_CONTRADICTS if contradicts else _COMPATIBLE,
                    decided_by=self._drafts.clean_text(by),
                    decided_because=self._drafts.clean_text(because),
                    decided_at=self._clock(),
                )
                self.store.settle_contradiction(path, decided)
            return decided

        return self._repairing.run([path], decide)

    def settle_contradictions(
        self, judge: ContradictionJudge, *, limit: int = 100, namespace: str | None = None
    ) -> tuple[Contradiction, ...]:
        """Let a judge decide about what is noted and open, and return what it decided.

        What it cannot tell stays open. So does what was decided or hidden while it thought, and what would
        supersede a pinned memory.

        Parameters
        ----------
        judge
            Who decides; see :class:`~memorata.engine.chat_judge.ChatJudge`.
        limit
            How many at most.
        namespace
            Whose memories; None for the engine's.
        """
        # Who asks a model needs what speaks HTTP; who recalls does not.
        from memorata.engine.chat_judge import ContradictionJudge

        path = self._namespace(namespace)
        if not isinstance(judge, ContradictionJudge):
            raise InvalidArgument("judge", judge, "a judge: something with a name that judges pairs")
        open_ = self.store.contradictions(path)[: checks.whole("limit", limit)]
        pairs = [tuple(self.store.get(path, [each.older, each.newer])) for each in open_]
        ruled = judge.judge([(older, newer) for older, newer in pairs])
        decided = []
        for each, (older, _), ruling in zip(open_, pairs, ruled, strict=True):
            if ruling.contradicts is None or (ruling.contradicts and older.pinned):
                continue
            if each in self.store.contradictions(path, id=each.newer):
                decided.append(
                    self.settle_contradiction(
                        each.newer,
                        each.older,
                        contradicts=ruling.contradicts,
                        because=ruling.reason,
                        by=judge.name,
                        namespace=path,
                    )
                )
        return tuple(decided)
