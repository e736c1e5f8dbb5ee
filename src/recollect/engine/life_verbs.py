"""The verbs about the life of a memory, put together: what is known of it, and how it ends."""

from __future__ import annotations

from recollect.engine.changing_verbs import ChangingVerbs
from recollect.engine.subject_verbs import SubjectVerbs


class LifeVerbs(ChangingVerbs, SubjectVerbs):
    """The part of the engine that keeps a memory good for years."""
