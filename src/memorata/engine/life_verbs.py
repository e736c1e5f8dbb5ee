"""The verbs about the life of a memory, put together under one name for the engine."""

from __future__ import annotations

from memorata.engine.upkeep_verbs import UpkeepVerbs


class LifeVerbs(UpkeepVerbs):
    """The part of the engine that keeps a store good for years: changes, summaries, upkeep and the end."""
