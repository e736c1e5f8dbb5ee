"""The declared rules of an engine: how memories live, and how duplicates are recognised.

How long each tier lasts, what rises, what sinks, how confidence wears: tiers follow the stores of human
memory (Tulving, 1972): working, episodic, semantic, procedural. `lifecycle.maintain` applies these rules when
it is called, and never to what is pinned. How sure a memory is at a moment is computed on reading, from what
was last written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.embed.port import carried
from memorata.index.record import Records, supported_days
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.memory import Memory, Tier
from memorata.model.parameter import Declared, Parameter, check_fields, parameters_of, rules_from
from memorata.rank.decay import decayed

_DAY: Final = 86_400.0


@frozen(kw_only=True)
class LifecycleRules:
    """Rules for the life of memories.

    >>> LifecycleRules(working_days=1).working_days
    1.0
    >>> LifecycleRules(working_days=-1)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: working_days must be a number from 0 to 3650, got -1
    """

    working_days: Annotated[
        float, Declared("Days that a working memory is kept after its last use; 0 for ever.", 0, 3650)
    ] = 7.0
    episodic_days: Annotated[
        float, Declared("Days that an episodic memory is kept after its last use; 0 for ever.", 0, 3650)
    ] = 0.0
    working_uses: Annotated[
        int, Declared("Uses after which a working memory becomes episodic; 0 for never.", 0, 100)
    ] = 2
    episodic_uses: Annotated[
        int, Declared("Uses after which an episodic memory becomes semantic; 0 for never.", 0, 100)
    ] = 5
    episodic_mentions: Annotated[
        int, Declared("Times said after which an episodic memory becomes semantic; 0 for never.", 0, 100)
    ] = 3
    demotion_days: Annotated[
        float, Declared("Days after which a minor semantic memory becomes episodic; 0 for never.", 0, 3650)
    ] = 180.0
    demotion_importance: Annotated[
        float, Declared("What is less important than this, never used and said once, is minor.", 0, 1)
    ] = 0.3
    confidence_loss: Annotated[
        float, Declared("Confidence lost per week without support, after a grace week.", 0, 1)
    ] = 0.0
    confidence_floor: Annotated[float, Declared("What such wear never goes below.", 0, 1)] = 0.05
    summary_days: Annotated[
        float, Declared("Days after which episodic memories may be summarised.", 0, 3650)
    ] = 7.0
    summary_sources: Annotated[int, Declared("Memories on one theme that are worth a summary.", 2, 100)] = 4
    summary_sentences: Annotated[int, Declared("Sentences of a summary.", 1, 20)] = 3

    def __post_init__(self) -> None:
        check_fields(self, RULES)

    @classmethod
    def of(cls, rules: LifecycleRules | Mapping[str, Any] | None) -> LifecycleRules:
        """Return these rules, those of a mapping by name, or the defaults for None.

        >>> LifecycleRules.of({"working_days": 2}) == LifecycleRules(working_days=2)
        True
        """
        return rules_from(cls, "life", rules)

    def as_dict(self) -> dict[str, Any]:
        """Return the rules as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def is_spent(self, memory: Memory, now: datetime) -> bool:
        """Return whether a memory has had its time: past its expiry, or unused for as long as its tier lasts.

        >>> from datetime import UTC
        >>> day = datetime(2026, 5, 7, tzinfo=UTC)
        >>> note = Memory(id="m1", content="Milk is in the fridge", created_at=day, tier="working")
        >>> [LifecycleRules().is_spent(note, day + timedelta(days=days)) for days in (6, 8)]
        [False, True]
        """
        if memory.pinned:
            return False
        if memory.expires_at is not None and memory.expires_at <= now:
            return True
        days = {Tier.WORKING: self.working_days, Tier.EPISODIC: self.episodic_days}.get(memory.tier, 0.0)
        latest = max(filter(None, (memory.created_at, memory.last_accessed_at, memory.supported_at)))
        return days > 0 and now - latest > timedelta(days=days)

    def next_tier(self, memory: Memory, now: datetime) -> Tier:
        """Return the tier that a memory belongs to by now, one step from its own at most.

        >>> from datetime import UTC
        >>> day = datetime(2026, 5, 7, tzinfo=UTC)
        >>> note = Memory(id="m1", content="Tea at four", created_at=day, tier="episodic", access_count=5)
        >>> LifecycleRules().next_tier(note, day)
        <Tier.SEMANTIC: 'semantic'>
        """
        if memory.pinned:
            return memory.tier
        match memory.tier:
            case Tier.WORKING if _reached(memory.access_count, self.working_uses):
                return Tier.EPISODIC
            case Tier.EPISODIC if _reached(memory.access_count, self.episodic_uses) or _reached(
                memory.mentions, self.episodic_mentions
            ):
                return Tier.SEMANTIC
            case Tier.SEMANTIC if self._is_minor(memory, now):
                return Tier.EPISODIC
        return memory.tier

    def confidence(self, memory: Memory, now: datetime) -> float:
        """Return how sure a memory is at a moment, as a recall at that moment counts it.

        >>> from datetime import UTC
        >>> day = datetime(2026, 5, 7, tzinfo=UTC)
        >>> note = Memory(id="m1", content="Tea at four", created_at=day, confidence=0.9)
        >>> rules = LifecycleRules(confidence_loss=0.05)
        >>> [round(rules.confidence(note, day + timedelta(weeks=weeks)), 6) for weeks in (1, 2, 3)]
        [0.9, 0.85, 0.8]
        """
        if memory.pinned or not self.confidence_loss:
            return memory.confidence
        support = memory.created_at.timestamp() + _DAY * supported_days(memory)
        return float(self._worn(np.array([memory.confidence]), np.array([support]), now)[0])

    def aged(self, records: Records, now: datetime) -> Records:
        """Return records with each confidence as it is at a moment; the same ones where nothing wears."""
        if not self.confidence_loss or not records.size:
            return records
        support = records["created"] + _DAY * records["supported"]
        copy = records.copy()
        worn = self._worn(records["confidence"], support, now)
        copy["confidence"] = np.where(records["pinned"] != 0, records["confidence"], worn)
        return copy

    def _worn(self, sure: FloatArray, support: FloatArray, now: datetime) -> FloatArray:
        days = (now.timestamp() - support) / _DAY
        return decayed(sure, days, weekly_loss=self.confidence_loss, floor=self.confidence_floor)

    def _is_minor(self, memory: Memory, now: datetime) -> bool:
        latest = max(filter(None, (memory.created_at, memory.supported_at)))
        return (
            self.demotion_days > 0
            and memory.importance < self.demotion_importance
            and memory.access_count == 0
            and memory.mentions == 1
            and now - latest > timedelta(days=self.demotion_days)
        )


RULES: Final[tuple[Parameter, ...]] = parameters_of(LifecycleRules)
"""Every rule of the lifecycle."""
DEFAULT_RULES: Final = LifecycleRules()


def _reached(count: int, threshold: int) -> bool:
    return 0 < threshold <= count


_COSINE: Final = 0.92
_REFERENCE_NOISE: Final = 0.35
"""The least cosine of duplicates that is usual, and the noise ceiling of the models it is usual for."""
DEDUPE_STRATEGIES: Final = ("keep_first", "keep_highest_confidence", "keep_most_recent", "keep_both")
"""Which of two that say the same stays when the second is remembered; to merge is for `duplicates.find`."""


class DedupeMode(StrEnum):
    """What is done about duplicates when something is remembered."""

    NEAR = "near"
    """Repeats in the same or nearly the same words are superseded; contradictions are noted."""
    EXACT = "exact"
    """Repeats in the same words are superseded."""
    OFF = "off"
    """Everything is written as it comes."""

    @classmethod
    def of(cls, name: str) -> DedupeMode:
        """Return the mode of a name, or raise."""
        return cls(checks.one_of("duplicates", name, [mode.value for mode in cls]))


@frozen
class DedupeRules:
    """How duplicates are recognised, and which of two stays when one is remembered.

    >>> DedupeRules.of({"threshold": 0.95}).cosine(noise=0.35), round(DedupeRules().cosine(noise=0.35), 2)
    (0.95, 0.92)
    """

    threshold: Annotated[
        float, Declared("Least cosine of two that say the same; 0 for what suits the embedder.", 0, 1)
    ] = 0.0
    strategy: Annotated[str, Declared("Which of the two stays.", choices=DEDUPE_STRATEGIES)] = "keep_first"

    def __post_init__(self) -> None:
        check_fields(self, DEDUPE_RULES)

    @classmethod
    def of(cls, rules: DedupeRules | Mapping[str, Any] | None) -> DedupeRules:
        """Return these rules, those of a mapping by name, or the defaults for None."""
        return rules_from(cls, "dedupe", rules)

    def cosine(self, noise: float) -> float:
        """Return the least cosine of duplicates with an embedder of this noise ceiling."""
        return self.threshold or carried(_COSINE, noise, _REFERENCE_NOISE)


DEDUPE_RULES: Final[tuple[Parameter, ...]] = parameters_of(DedupeRules)
"""Every rule of deduplication."""


DEFAULT_DEDUPE: Final = DedupeRules()
