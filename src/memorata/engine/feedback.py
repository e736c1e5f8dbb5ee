"""Feedback about hits, and the log of recalls that learning rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memorata.engine.recall.log import RecallLog
from memorata.engine.runtime import Runtime
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.hit import Feedback, Signal
from memorata.store.feedback import LoggedFeedback
from memorata.store.logged_recall import LoggedRecall

KINDS: Final = ("thumbs", "rating", "relevant", "click")
"""The kinds of feedback."""
_OPINIONS: Final = {
    "thumbs": {"up": Signal.THUMBS_UP, "down": Signal.THUMBS_DOWN},
    "relevant": {"yes": Signal.RELEVANT, "no": Signal.IRRELEVANT},
}


class FeedbackLog:
    """The facet `feedback`: what hits were worth, and the log of recalls."""

    def __init__(self, runtime: Runtime, recall_log: RecallLog) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._recall_log = recall_log

    def record(
        self,
        recall_id: str,
        memory_id: str,
        kind: str,
        value: str | int | bool | None = None,
        *,
        namespace: str | None = None,
    ) -> Feedback:
        """Say what a hit was worth; it is kept with the numbers the hit had when it was shown.

        Parameters
        ----------
        recall_id
            The `id` of the recall.
        memory_id
            The memory: a hit, or one that was found and not shown.
        kind
            ``"thumbs"``, ``"rating"``, ``"relevant"`` or ``"click"``.
        value
            Of thumbs: ``"up"`` (or True, or nothing) or ``"down"``; of a rating: 1 to 5; of relevant:
            ``"yes"`` (or True, or nothing) or ``"no"``; a click has none.
        namespace
            Whose recall; None for the engine's.

        Raises
        ------
        RecallNotFound
            The log does not have that recall.
        InvalidArgument
            The recall did not find that memory, or the value is none of this kind.
        """
        signal, rating = signal_of(kind, value)
        feedback = Feedback(recall_id, memory_id, signal, self._runtime.clock(), rating)
        self._recall_log.flush()
        self._store.feedback.add(self._runtime.path(namespace), feedback)
        return feedback

    def recalls(
        self,
        *,
        namespace: str | None = None,
        since: checks.Instant | None = None,
        limit: int | None = 50,
        ids: tuple[str, ...] | None = None,
    ) -> Sequence[LoggedRecall]:
        """Return logged recalls, the latest first.

        Parameters
        ----------
        namespace
            Whose; None for the engine's.
        since
            Only those asked at or after that moment.
        limit
            How many at most; None for all.
        ids
            Only these, as far as the log has them.
        """
        path = self._runtime.path(namespace)
        moment = checks.optional_instant("since", since)
        count = None if limit is None else checks.whole("limit", limit)
        named = None if ids is None else checks.writable_texts("ids", ids)
        self._recall_log.flush()
        return self._store.recalls.list(path, since=moment, limit=count, ids=named)

    def list(
        self, *, namespace: str | None = None, since: checks.Instant | None = None
    ) -> Sequence[LoggedFeedback]:
        """Return feedback about hits, oldest first.

        Parameters
        ----------
        namespace
            Whose; None for the engine's.
        since
            Only feedback given at or after that moment.
        """
        path, moment = self._runtime.path(namespace), checks.optional_instant("since", since)
        return self._store.feedback.list(path, since=moment)


def signal_of(kind: str, value: str | int | bool | None) -> tuple[Signal, int | None]:
    """Return the signal and the rating that a kind of feedback and its value stand for."""
    checks.one_of("kind", kind, KINDS)
    if kind == "rating":
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 5:
            raise InvalidArgument("value", value, "a whole number from 1 to 5")
        return Signal.RATING, value
    if kind == "click":
        if value is not None:
            raise InvalidArgument("value", value, "None for a click")
        return Signal.CLICK, None
    (good, positive), (bad, negative) = _OPINIONS[kind].items()
    chosen = good if value is None or value is True else bad if value is False else value
    if chosen not in (good, bad):
        raise InvalidArgument("value", value, f"{good!r} or {bad!r}")
    return (positive if chosen == good else negative), None
