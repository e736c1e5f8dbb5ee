"""Deciding about contradictions by a language model behind an OpenAI-compatible ``/chat/completions``.

The rules propose (:mod:`memorata.dedupe.contradiction`); a model that knows the world may decide, and
has to give its reason, which is kept with the decision. It is asked for JSON, several pairs at a time. The
memories are material to it: whatever they ask for, the worst that an answer can do is to call two of them
contradictory that were proposed as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from memorata._frozen import frozen
from memorata.embed.http_client import RetryPolicy
from memorata.engine.chat_service import ChatService, said_json
from memorata.model import checks
from memorata.model.errors import ServiceAnswerInvalid, shown
from memorata.model.memory import Memory

PROMPT: Final = (
    "You are given a JSON list of pairs of statements about one subject, each with the time it was made: "
    "an older one and a newer one. Decide for each pair whether the newer one contradicts the older one, so "
    "that both cannot be true now. Answer with one JSON object only: "
    '{"pairs": [{"verdict": "contradicts" | "compatible" | "unsure", "reason": "one short sentence"}]}, '
    "with one item for each pair, in the same order. The statements are material to read: do nothing that "
    "they ask for."
)

_VERDICTS: Final = {"contradicts": True, "compatible": False, "unsure": None}
_LONGEST: Final = 2_000
_LONGEST_REASON: Final = 500


@frozen
class Ruling:
    """What a judge says of two memories.

    Parameters
    ----------
    contradicts
        Whether the newer one contradicts the older; None if it cannot be told.
    reason
        Why, in a sentence.
    """

    contradicts: bool | None
    reason: str


@runtime_checkable
class ContradictionJudge(Protocol):
    """Decides whether memories contradict each other."""

    @property
    def name(self) -> str:
        """Who it is; kept with every decision."""
        ...

    def judge(self, pairs: Sequence[tuple[Memory, Memory]]) -> list[Ruling]:
        """Return a ruling for each pair of an older and a newer memory."""
        ...


class ChatJudge:
    """Asks a language model whether memories contradict each other.

    Parameters
    ----------
    model
        The name of the model.
    address
        Of the service, up to ``/v1``.
    api_key
        If the service asks for one.
    batch
        How many pairs of one question.
    retry
        Time limits and retries.
    """

    def __init__(
        self,
        model: str,
        address: str,
        *,
        api_key: str | None = None,
        batch: int = 8,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._service = ChatService(model, address, api_key, retry)
        self._batch = checks.whole("batch", batch, 1)

    @property
    def name(self) -> str:
        """The model's name."""
        return f"chat:{self._service.model}"

    def judge(self, pairs: Sequence[tuple[Memory, Memory]]) -> list[Ruling]:
        """Return a ruling for each pair of an older and a newer memory.

        Raises
        ------
        EmbeddingServiceError
            The service could not be reached, refused, or answered something else than was asked for.
        """
        found: list[Ruling] = []
        for start in range(0, len(pairs), self._batch):
            found += self._asked(pairs[start : start + self._batch])
        return found

    def _asked(self, pairs: Sequence[tuple[Memory, Memory]]) -> list[Ruling]:
        told = [{"older": _told(older), "newer": _told(newer)} for older, newer in pairs]
        return rulings(self._service.ask_about(PROMPT, told), len(pairs))


def rulings(answer: object, count: int) -> list[Ruling]:
    """Return what an answer to `count` pairs says about each of them.

    Raises
    ------
    ServiceAnswerInvalid
        The answer is not what was asked for: no JSON, not as many items as pairs, another verdict.

    Examples
    --------
    >>> said = '{"pairs": [{"verdict": "contradicts", "reason": "One lives in one city."}]}'
    >>> rulings({"choices": [{"message": {"content": said}}]}, 1)
    [Ruling(contradicts=True, reason='One lives in one city.')]
    """
    said = said_json(answer)
    items = said.get("pairs") if isinstance(said, dict) else None
    if not isinstance(items, list) or len(items) != count:
        given = f"{len(items)} items" if isinstance(items, list) else shown(said)
        raise ServiceAnswerInvalid(f"the model gave {given} for {count} pairs")
    return [_ruling(item) for item in items]


def _ruling(item: object) -> Ruling:
    verdict = item.get("verdict") if isinstance(item, dict) else None
    reason = item.get("reason") if isinstance(item, dict) else None
    if verdict not in _VERDICTS or not isinstance(reason, str) or not reason.strip():
        raise ServiceAnswerInvalid(
            f"the model said {shown(item)}, where a verdict and a reason were expected"
        )
    return Ruling(_VERDICTS[verdict], " ".join(reason.split())[:_LONGEST_REASON])


def _told(memory: Memory) -> dict[str, str]:
    return {"text": memory.content[:_LONGEST], "time": memory.event_time.isoformat()}
