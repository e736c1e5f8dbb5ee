"""Verification of duplicate candidates: cosine and Jaccard, then wording, speaker and occasion.

A cosine of 0.92 is where the literature puts duplicates, and it is not enough: with a good model "the rent is
900 euros" and "the rent is 950 euros" have 0.99. So a pair is a duplicate when the vectors are close *and*
the letters are close *and* the wording is one statement, said by the same speaker on the same occasion.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from memorata.dedupe.contradiction import contradiction
from memorata.dedupe.decisions import DUPLICATE_COSINE, ROUNDING, Decision, Verdict, decide, is_correction
from memorata.dedupe.fingerprint import folded, normalised
from memorata.dedupe.wording import extends, same_statement, wording
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory

NEAR_JACCARD: Final = 0.5
"""The least Jaccard index of the character shingles of two near-duplicates."""
ALONE_JACCARD: Final = 0.6
"""The same where there are no vectors to agree with it."""
_EVENT: Final = "event"
_SAME_OCCASION: Final = timedelta(days=1)


def is_turn(memory: Memory) -> bool:
    """Return whether a memory is a turn of a transcript, which is never a duplicate."""
    if not isinstance(memory, Memory):
        raise InvalidArgument("memory", memory, "a Memory")
    return memory.source.is_turn


def resemblance(a: str, b: str) -> float:
    """Return the Jaccard index of the character shingles of two texts, case, spacing and last stops aside."""
    first, second = _shingles(checks.text("a", a)), _shingles(checks.text("b", b))
    return len(first & second) / len(first | second) if first or second else 1.0


def _shingles(text: str) -> set[str]:
    """Return every run of three characters of a text; a shorter text is its own only one."""
    letters = normalised(text)
    return {letters[start : start + 3] for start in range(max(1, len(letters) - 2))} - {""}


def judge(
    a: Memory,
    b: Memory,
    cosine: float | None,
    *,
    threshold: float = DUPLICATE_COSINE,
    paraphrases: bool = False,
) -> Decision[Memory]:
    """Return what two memories are to each other, in whatever order.

    The first rule that applies decides:

    1. Either is a turn of a transcript: distinct.
    2. Their speakers, trust, places or occasions differ, or they have no entity in common: distinct.
    3. The cosine, or the Jaccard index (a higher one where there are no vectors), is too low: distinct.
    4. :func:`~memorata.dedupe.decisions.decide`: corrections, categories, confidences. A correction wins
       over what it repeats and over what it contradicts, and over nothing else.
    5. The wording is not one statement (:func:`~memorata.dedupe.wording.same_statement`), nor does one
       go on from the other: distinct. With `paraphrases`, it is enough that numbers and negations are the
       same and no rule sees a contradiction.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> texts = "Anna drinks 2 cups of tea", "Anna really drinks 2 cups of tea", "Anna drinks 3 cups of tea"
    >>> tea, too, two = (Memory(id="m", content=text, created_at=day) for text in texts)
    >>> judge(tea, too, 0.99).verdict, judge(tea, two, 0.99).verdict
    (<Verdict.DUPLICATE: 'duplicate'>, <Verdict.DISTINCT: 'distinct'>)
    """
    checks.flag("paraphrases", paraphrases)
    for argument, memory in (("a", a), ("b", b)):
        if not isinstance(memory, Memory):
            raise InvalidArgument(argument, memory, "a Memory")
    apart = _occasion(a, b)
    if apart:
        return Decision(Verdict.DISTINCT, None, apart)
    same = bool(a.fingerprint) and a.fingerprint == b.fingerprint
    alike = 1.0 if same else resemblance(a.content, b.content)
    corrects = is_correction(a) or is_correction(b)
    min_jaccard = ALONE_JACCARD if cosine is None else NEAR_JACCARD
    if alike < min_jaccard - ROUNDING and not (paraphrases or corrects):
        return Decision(Verdict.DISTINCT, None, f"The Jaccard index of {alike:.3f} is below {min_jaccard:g}.")
    # Without vectors the letters have passed their own, higher bar; the other rules are the same.
    similarity = 1.0 if same or (cosine is None and alike >= min_jaccard - ROUNDING) else cosine or 0.0
    decision = decide(similarity, a, b, threshold=threshold)
    if decision.verdict is Verdict.DUPLICATE and same:
        return Decision(Verdict.DUPLICATE, None, "The words are the same.")
    if decision.verdict is Verdict.DUPLICATE and not _is_same_claim(
        a.content, b.content, paraphrases=paraphrases
    ):
        return Decision(Verdict.DISTINCT, None, "They sound alike, but what they say differs.")
    if decision.verdict is Verdict.CORRECTION and not _is_corrected(a, b, decision):
        return Decision(Verdict.DISTINCT, None, "The correction is about something else.")
    return decision


def _occasion(a: Memory, b: Memory) -> str:
    """Return why two memories cannot be one whatever they say, or nothing."""
    if is_turn(a) or is_turn(b):
        return "A turn of a transcript is an event of its own."
    if a.source.speaker and b.source.speaker and a.source.speaker != b.source.speaker:
        return "Two speakers said them."
    if a.untrusted != b.untrusted:
        return "One of them is trusted, the other is not."
    if a.place != b.place and a.place is not None and b.place is not None:
        return "They are from two places."
    if not (is_correction(a) or is_correction(b)):
        if (a.valid_from, a.valid_to) != (b.valid_from, b.valid_to):
            return "They are about two times."
        if a.entities and b.entities and _names(a).isdisjoint(_names(b)):
            # "Likes tea" of Anna is not "Likes tea" of Bob.
            return "They are about others."
    if a.category == b.category == _EVENT and abs(a.event_time - b.event_time) >= _SAME_OCCASION:
        return "They are two events."
    return ""


def _names(memory: Memory) -> set[str]:
    return set(map(folded, memory.entities))


def _is_same_claim(a: str, b: str, *, paraphrases: bool) -> bool:
    if same_statement(a, b) or extends(a, b) or extends(b, a):
        return True
    if not paraphrases:
        return False
    first, second = wording(a), wording(b)
    if sorted(first.numbers) != sorted(second.numbers) or first.negated != second.negated:
        return False
    return contradiction(a, b) is None and contradiction(b, a) is None


def _is_corrected(a: Memory, b: Memory, decision: Decision[Memory]) -> bool:
    """Return whether the winner repeats or contradicts the other one."""
    loser = b if decision.winner is a else a
    winner = a if decision.winner is a else b
    if same_statement(a.content, b.content):
        return True
    # A correction does not apply to later memories.
    return winner.created_at >= loser.created_at and contradiction(loser.content, winner.content) is not None
