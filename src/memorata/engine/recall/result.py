"""The result of a recall: its hits, what was rejected, what degraded, and how it was searched."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from memorata._frozen import frozen
from memorata.index.lexical import distinct
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.errors import shown
from memorata.model.hit import Hit
from memorata.model.memory import Memory

if TYPE_CHECKING:
    from memorata.engine.recall.agreement import Agreement
    from memorata.engine.recall.confidence import Estimates
    from memorata.engine.recall.fusion import Trace
    from memorata.engine.recall.history import Earlier


_INSTANT: Final = timedelta(microseconds=1)


@frozen
class Rejected:
    """The best memory that is not shown, and the thresholds it missed.

    Its score is relative to the other candidates, and may be 1: what it `missed` says why it is not shown.
    """

    hit: Hit
    missed: tuple[MissedThreshold, ...]

    @property
    def reason(self) -> str:
        """The thresholds it missed, in words."""
        return " and ".join(map(str, self.missed))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {
            "id": self.hit.memory.id,
            "score": self.hit.score,
            "reason": self.reason,
            "missed": [threshold.as_dict() for threshold in self.missed],
        }


@frozen
class RecalledPeriod:
    """The period that a recall is about, and how it was applied.

    Attributes
    ----------
    phrase
        The words of the query that name it; empty where the caller passed it.
    start, end
        Its bounds.
    restricts
        Whether only memories about it were searched.
    empty
        Whether it has no memories, so that all were searched, the closest in time first.
    inside
        The number of hits inside it, where it restricts.
    event
        The id of the memory that dates it, where the query names an event: "before my trip".
    unmatched
        Whether it has memories, but none that matches the query, so that all were searched.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> may = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
    >>> RecalledPeriod("in May", *may, restricts=True, empty=False, inside=3).note
    'kept to “in May” (2026-05-01 to 2026-05-31)'
    >>> RecalledPeriod("in May", *may, restricts=False, empty=True, inside=0).note
    'nothing found of “in May” (2026-05-01 to 2026-05-31); what is closest in time comes first'
    """

    phrase: str
    start: datetime
    end: datetime
    restricts: bool
    empty: bool
    inside: int
    event: str = ""
    unmatched: bool = False

    @property
    def note(self) -> str:
        """How it was applied, in words."""
        days = f"{self.start.date()} to {max(self.start, self.end - _INSTANT).date()}"
        named = f"“{self.phrase}” ({days})" if self.phrase else days
        if self.empty:
            return f"nothing found of {named}; what is closest in time comes first"
        if self.unmatched:
            return f"nothing of {named} matches the query; what is closest in time comes first"
        return f"kept to {named}" if self.restricts else f"what is of {named} comes first"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        instants = {"start": self.start.isoformat(), "end": self.end.isoformat()}
        return asdict(self) | instants | {"note": self.note}


@frozen
class SessionHit:
    """A session among the results, and its best memories.

    - `session`: its name; empty for a memory without a session, which is one of its own.
    - `score`: the mean of its three best scores, each counting half of the one before.
    - `hits`: its memories, best first.
    """

    session: str
    score: float
    hits: tuple[Hit, ...]


@frozen
class RecallResult:
    """The result of a recall.

    Attributes
    ----------
    hits
        The memories, best first.
    degraded
        Notes on what could not be done as requested; empty when all was.
    rejected
        The best candidate that was refused, by the gate or for lack of agreement, and the thresholds it
        missed; whether or not there are hits. None when nothing was refused.
    refused
        The hits that the gate refused, marked by `refused`; never among `hits`.
    recipe
        The name of the recipe that was run.
    embedder
        The embedder whose vectors were compared; empty when none was.
    history
        The hits that a newer memory contradicts, by contradictions that are noted and not decided.
    omitted
        How many hits did not fit in the token budget.
    milliseconds
        How long each step took.
    sessions
        The sessions, best first, where sessions were requested; `hits` are theirs, in the same order.
    id
        The id that feedback refers to; empty where recalls are not logged.
    trace
        The scores of all candidates by leg and step; None if there were none.
    estimates
        The features of the confidences; None where several results were joined.
    change
        The last change of the namespace in the searched view.
    methods
        How the store searched, by ``"vector"`` and ``"lexical"``, as far as it did: by an index, or a scan.
    agreement
        How far the samples agree, where the recipe has several or there are variants; else None.
    period
        The period that the query is about, and how it was applied; None where it names none.
    aliases
        Words of the query that were read as nicknames or misspelt names of speakers, and the speakers' names.
        A word in quotation marks is never read so.
    meant
        The names that the pronouns of the query were taken for, by the conversation before it.
    """

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    rejected: Rejected | None = None
    refused: tuple[Hit, ...] = ()
    recipe: str = ""
    embedder: str = ""
    omitted: int = 0
    milliseconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    sessions: tuple[SessionHit, ...] = ()
    id: str = field(default="", compare=False)
    trace: Trace | None = field(default=None, repr=False, compare=False)
    change: int = field(default=0, repr=False, compare=False)
    methods: Mapping[str, str] = field(default_factory=dict, compare=False)
    agreement: Agreement | None = field(default=None, compare=False)
    period: RecalledPeriod | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    meant: tuple[str, ...] = ()
    history: tuple[Earlier, ...] = ()
    estimates: Estimates | None = field(default=None, repr=False, compare=False)

    @property
    def confidence(self) -> float:
        """The calibrated probability that the query is about what is stored, whatever the order of the hits.

        It tells a query about something else by comparison with unrelated questions. A question on topic
        whose answer was never said has a high one, too. :attr:`Hit.confidence` is how likely one hit
        answers. 0 where nothing was found.
        """
        hits = self.hits or self.refused
        if not hits:
            return 0.0
        return hits[0].confidence if self.estimates is None else self.estimates.answered()

    @property
    def support(self) -> float:
        """The evidence for the best candidate, from 0 to 1; see :func:`support`.

        Scores are relative to the best of the query; this is comparable between queries.
        """
        return support(self.trace)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __str__(self) -> str:
        """Return a table: a line for each hit, and the notes on the recall."""
        lines = [
            f"{hit.confidence:4.0%}  {hit.memory.event_time:%Y-%m-%d}  {_on_one_line(hit.memory)}"
            for hit in self.hits
        ]
        refused, period = self.rejected, self.period
        if not lines:
            lines.append("no hits")
            if refused is not None:
                lines.append(f"refused: {_on_one_line(refused.hit.memory)}: {refused.reason}")
        notes = [*([] if period is None else [period.note]), *self.degraded]
        return "\n".join([*lines, *(f"note: {note}" for note in notes)])

    def as_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """Return the result as plain data, for JSON."""
        result = self.without_memories()
        for key, hits in (("hits", self.hits), ("refused", self.refused)):
            for hit in hits:
                data: dict[str, Any] = {"id": hit.memory.id, "score": hit.score, "confidence": hit.confidence}
                data |= {"refused": hit.refused, "content": hit.memory.content}
                data |= {"category": hit.memory.category, "created_at": hit.memory.created_at.isoformat()}
                if explain:
                    data["explanation"] = hit.explanation.as_dict()
                result[key].append(data)
        return result

    def without_memories(self) -> dict[str, Any]:
        """Return the result as plain data with empty lists for `hits` and `refused`."""
        return {
            "recall_id": self.id,
            "confidence": self.confidence,
            "support": self.support,
            "hits": [],
            "refused": [],
            "sessions": [
                {
                    "session": session.session,
                    "score": session.score,
                    "hits": [hit.memory.id for hit in session.hits],
                }
                for session in self.sessions
            ],
            "degraded": list(self.degraded),
            "rejected": None if self.rejected is None else self.rejected.as_dict(),
            "history": [earlier.as_dict() for earlier in self.history],
            "recipe": self.recipe,
            "embedder": self.embedder,
            "omitted": self.omitted,
            "milliseconds": dict(self.milliseconds),
            "methods": dict(self.methods),
            "agreement": None if self.agreement is None else _agreement_data(self.agreement),
            "period": None if self.period is None else self.period.as_dict(),
            "aliases": dict(self.aliases),
            "meant": list(self.meant),
        }


def _on_one_line(memory: Memory) -> str:
    return shown(" ".join(memory.content.split()))


def _agreement_data(agreement: Agreement) -> dict[str, Any]:
    return {
        "confidence": agreement.confidence,
        "support": dict(agreement.support),
        "samples": list(agreement.samples),
        "refused": agreement.refused,
    }


Measure: TypeAlias = Literal["similarity", "lexical", "confidence", "agreement", "support", "answer"]


@frozen
class MissedThreshold:
    """A threshold that was missed.

    - `measure`: what was measured: the ``similarity`` of meaning (a cosine), ``lexical`` (the words' share of
      the best possible match), the ``confidence`` of the memory, the ``agreement`` of several samples, the
      ``support``: the share of the samples that have it, or the probability that the memories ``answer``.
    - `value`: the measured value; None for the similarity of a memory without a vector.
    - `least`: the threshold.

    >>> print(MissedThreshold("similarity", 0.31, 0.55))
    similarity 0.310 is below 0.550
    >>> print(MissedThreshold("lexical", 0.02, 0.05))
    its words are 2.0% of the best possible match, below 5.0%
    """

    measure: Measure
    value: float | None
    least: float

    def __str__(self) -> str:
        if self.value is None:
            return f"its {self.measure} is not known"
        if self.measure == "similarity":
            return f"similarity {self.value:.3f} is below {self.least:.3f}"
        if self.measure == "agreement":
            return f"the answers agree to {self.value:.2f}, below {self.least:.2f}"
        if self.measure == "support":
            return f"{self.value:.0%} of the samples found it, fewer than {self.least:.0%}"
        if self.measure == "answer":
            return f"that the memories answer is {self.value:.0%} likely, below {self.least:.0%}"
        if self.measure == "confidence":
            return f"confidence {self.value:.2f} is below {self.least:.2f}"
        if not self.value:
            return "it shares no word with the question"
        return f"its words are {self.value:.1%} of the best possible match, below {self.least:.1%}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {"measure": self.measure, "value": self.value, "least": self.least}


def support(trace: Trace | None) -> float:
    """Return the support of the best candidate, from 0 for none to 1.

    ``max over candidates of the mean of (cosine - noise) / (1 - noise) and match / ceiling``, both cut to
    [0, 1]; of one alone where the recall had one of the two legs only.
    """
    if trace is None:
        return 0.0
    legs = [leg for leg in trace.legs if leg[0] in ("vector", "lexical")]
    union = distinct(np.concatenate([slots for _, slots, _ in legs]))
    parts: list[FloatArray] = []
    for name, slots, scores in legs:
        if name == "vector" and trace.moment.meant:
            noise = max(0.0, trace.moment.noise)
            shares = (scores - noise) / (1.0 - noise)
        elif name == "lexical" and trace.moment.ceiling > 0:
            shares = scores / trace.moment.ceiling
        else:
            continue
        row = np.zeros(union.size)
        row[union.searchsorted(slots)] = np.minimum(np.maximum(shares, 0.0), 1.0)
        parts.append(row)
    return float(sum(parts[1:], parts[0]).max(initial=0.0)) / len(parts) if parts else 0.0


_BYTES_PER_TOKEN: Final = 4


def tokens(text: str) -> int:
    """Return about how many tokens a language model makes of a text: a quarter of its bytes, rounded up.

    The rule of thumb for English; other scripts take more bytes and more tokens alike.
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def within_budget(texts: Sequence[str], budget: int) -> int:
    """Return how many of the first texts fit in the budget together."""
    left = checks.whole("budget", budget)
    for count, text in enumerate(texts):
        left -= tokens(text)
        if left < 0:
            return count
    return len(texts)
