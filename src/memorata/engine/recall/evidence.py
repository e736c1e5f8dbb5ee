"""What speaks for a hit: what its text says, and how likely it answers, calibrated.

Legs compare whole texts with a query. Who tells it, of which years, and in which words can be read in the
text itself; a few of the best are read so, and what speaks for one is added to its score.

A score orders the candidates of one query and is relative to the best of them: the best of a bad lot has 1. A
confidence can be compared between queries, stores and embedders. It is a logistic regression (Platt, 1999)
over nine features, each without a unit: of ten hits with a confidence of 0.7, seven answer. That of a recall
is how likely one of the first five hits answers.

``benchmarks/answer_confidence.py`` learns the weights of both, with every set left out once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.fusion import LEXICAL, SOFT, VECTOR, Trace
from memorata.engine.recall.query import ParsedQuery, word_terms
from memorata.index.index import Speakers
from memorata.index.record import ROLES
from memorata.model.checks import FloatArray, IntArray
from memorata.model.explanation import Explanation
from memorata.model.memory import Memory
from memorata.text.analysers import Analyser
from memorata.text.spelling import folded
from memorata.text.tokens import words as plain_words
from memorata.text.word_lists import word_set

EVIDENCE: Final = (
    "who tells it",
    "told of oneself",
    "years that are named",
    "words in the same order",
)
EVIDENCE_WEIGHTS: Final = (0.15, 0.07, 0.318, 0.389)
"""What each adds to a score, as a share of the best; learnt on 3,728 questions of fourteen sets.

The first is half of what is learnt (0.306): who is named finds as much, and what another tells stays among
the first, for those who ask of the wrong one (LoCoMo's fifth kind of question: hit@5 60 to 80).
"""
_NO_EVIDENCE: Final = (0.0, 0.0, 0.0, 0.0)
_ONLY_ASKS: Final = 0.4
"""What a question of somebody who is named counts: it tells of another."""
_ASKED: Final = -1.0
"""What a question counts that another asks who is named, or somebody in no session: it answers nothing."""
_TOLD_YOU: Final = 0.7
"""What counts that is said to the one who is named, by the only other one who talks."""
_FEW_LETTERS: Final = 12
"""With no more of its letters outside questions a turn only asks."""
_MAX_QUERY_WORDS: Final = 20
"""Longer queries are turns of a conversation, and share phrases by chance."""
_FEW_WORDS: Final = 4
_WORD: Final = re.compile(r"\w+")
# Only where a sentence begins: from every letter of one that nothing ends, it would be read to its end.
_QUESTION: Final = re.compile(r"(?:^|(?<=[.!?？。！]))[^.!?？。！]*[?？]")
# It begins with what is looked for: a search for what may stand before it would stop at every letter.
_SHORT_VERB: Final = re.compile(r"['’](?<=\w['’])(m|re|ve|ll)\b")
_FULL_VERBS: Final = {"m": " am", "re": " are", "ve": " have", "ll": " will"}
_YEAR: Final = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_FIRST_PERSON: Final = word_set(
    "i my me mine we our us ich mein meine meinen meinem meiner mir mich wir uns unser unsere je j mon ma "
    "mes moi nous notre yo mi mis soy nosotros nuestra nuestro"
)
_SECOND_PERSON: Final = word_set("you your yours ya du dein deine deinen tu ton ta tes vous votre tú tus")
_EITHER_PERSON: Final = _FIRST_PERSON | _SECOND_PERSON
_READ_FOR: Final = 10
"""In so many of the best it is looked for whether another tells what is asked of who is named."""
_DATED: Final = 5
_GAP: Final = 0.15
"""How far apart scores are, as a share of the best, where it is clear who tells it."""


@frozen(eq=False)
class Asked:
    """What a query asks of a text: by whom, of which years, in which words."""

    people: tuple[str, ...]
    """The names of who speaks that it names, folded."""
    speakers: Speakers | None
    """Who speaks, where one of them is named."""
    pair: bool
    """Whether two people talk, here or in almost every session."""
    years: frozenset[str]
    phrases: Mapping[str, tuple[str, str]]
    """Its words, two by two, by both in a row between blanks."""

    def __bool__(self) -> bool:
        return bool(self.people or self.years or self.phrases)


def asked_of(query: ParsedQuery, analyser: Analyser, speakers: Callable[[], Speakers]) -> Asked:
    """Read what a query asks of a text; `speakers` tells who speaks, and is called where one is named."""
    words, named = _words(query.text), set(query.speakers)
    full = [query.aliases.get(word, word) for word in _WORD.findall(query.text)] if named else []
    people = tuple(
        dict.fromkeys(folded(name) for name in full if not named.isdisjoint(word_terms(analyser, name)))
    )
    pairs = pairwise(words) if len(words) <= _MAX_QUERY_WORDS else ()
    among = speakers() if people else None
    return Asked(
        people,
        among,
        among is not None and among.in_pairs,
        frozenset(_YEAR.findall(query.text)),
        {f" {first} {second} ": (first, second) for first, second in pairs},
    )


def text_evidence(asked: Asked, memories: Sequence[Memory]) -> FloatArray:
    """Return what speaks for each of some memories, up to 1: a row each, in the order of `EVIDENCE`."""
    rows = [_evidence(asked, memory) for memory in memories]
    return np.array(rows, np.float64).reshape(-1, len(EVIDENCE))


def _evidence(asked: Asked, memory: Memory) -> tuple[float, float, float, float]:
    text = _lowered(memory.content)
    # Among several who talk, the one who is named is often talked about by others.
    alone = not memory.source.session
    told = bool(asked.people) and (asked.pair or alone)
    only_asks = (told or alone) and _only_asks(memory.content)
    if not (told or only_asks or asked.years or _may_share(asked, text)):
        return _NO_EVIDENCE
    words = _cut(text)
    by_named = oneself = years = same_order = 0.0
    if told:
        by_named = told_by(asked, memory, words)
        oneself = float(not _FIRST_PERSON.isdisjoint(words))
    if asked.years:
        years = len(asked.years.intersection(words)) / len(asked.years)
    if only_asks and by_named == 0:
        by_named = _ASKED
    elif asked.phrases:
        row = f" {' '.join(words)} "
        same_order = len([phrase for phrase in asked.phrases if phrase in row]) / len(asked.phrases)
    return by_named, oneself, years, same_order


def _may_share(asked: Asked, text: str) -> bool:
    """Return whether both words of a pair stand in a text, as words or as parts of others.

    To look for words as letters takes a tenth of the time that it takes to cut a text into them.
    """
    for first, second in asked.phrases.values():  # noqa: SIM110 - any() takes twice as long for so few
        if first in text and second in text:
            return True
    return False


def continues(query: str) -> bool:
    """Return whether a query goes on with a conversation: beside what it asks it tells of me or you."""
    words = _words(_outside_questions(query))
    return len(words) >= _FEW_WORDS and not _EITHER_PERSON.isdisjoint(words)


def told_by(asked: Asked, memory: Memory, words: Sequence[str] | None = None) -> float:
    """Return from 0 to 1 how far a memory tells of who is named: by themselves, or of them by others.

    `words` are those of the memory in small letters, where they are at hand.
    """
    text, speaker = memory.content, memory.source.speaker
    spoken = bool(speaker) and speaker.casefold() not in ROLES
    rest = _outside_questions(text)

    def to_you() -> bool:
        told = words if rest is text and words is not None else _words(rest)
        return not _SECOND_PERSON.isdisjoint(told) and _FIRST_PERSON.isdisjoint(told)

    if spoken and not set(asked.people).isdisjoint(_WORD.findall(folded(speaker))):
        return _ONLY_ASKS if rest is not text and (_is_short(rest) or to_you()) else 1.0
    plain = folded(text)
    if any(name in plain and _is_told_of(name, plain, spoken) for name in asked.people):
        return 1.0
    talked_to = spoken and asked.pair and to_you() and _talks(asked, memory.source.session)
    return _TOLD_YOU if talked_to else 0.0


def requirements_met(asked: Asked, memories: Sequence[Memory], scores: FloatArray) -> float:
    """Return from -2 to 2 whether the best memories meet what is asked for: the person, and the years.

    Who is named should tell it: the best they tell is compared with the best of others, where two talk or
    nobody is in a conversation. Years that are named should stand in one of the first five, where texts name
    years at all. What is not asked for counts 0.
    """
    met, best = 0.0, float(scores[0]) if scores.size else 0.0
    first = memories[:_READ_FOR]
    if asked.people and best > 0 and (asked.pair or not any(each.source.session for each in first)):
        told, shares = np.array([told_by(asked, each) for each in first]), scores[:_READ_FOR] / best
        met += float(np.clip((np.max(shares * told) - np.max(shares * (1 - told))) / _GAP, -1, 1))
    if asked.years:
        years = [set(_YEAR.findall(each.content)) for each in memories[:_DATED]]
        if sum(map(bool, years)) > 1:
            met += 2 * max(len(asked.years & each) for each in years) / len(asked.years) - 1
    return met


def text_parts(asked: Asked, memories: Sequence[Memory], best: float) -> list[list[float]]:
    """Return what the text of each of some memories adds to its score, in the order of `EVIDENCE`.

    Each is a share of the best score; no rows where nothing is added to any.
    """
    if best <= 0 or not asked or not memories:
        return []
    evidence = [_evidence(asked, memory) for memory in memories]
    if not any(map(any, evidence)):
        return []
    return [
        [best * (value * weight) for value, weight in zip(row, EVIDENCE_WEIGHTS, strict=True)]
        for row in evidence
    ]


def lifted(score: float, parts: Sequence[float]) -> float:
    """Return a score with what its text adds, part by part, as an explanation adds it."""
    for value in parts:
        if value:
            score += value
    return score


def explained_with_text(explain: Callable[[], Explanation], parts: Sequence[float]) -> Explanation:
    """Return the explanation of a score to which the text added something."""
    leaves = [Explanation.leaf(name, value) for name, value in zip(EVIDENCE, parts, strict=True) if value]
    return Explanation.of("sum", "with what its text says", [explain(), *leaves])


def _talks(asked: Asked, session: str) -> bool:
    """Return whether who is named speaks in a session; of what is said in none that is not known."""
    assert asked.speakers is not None  # where two talk, somebody is named
    names = asked.speakers.of(session)
    return not names or any(not set(asked.people).isdisjoint(_WORD.findall(folded(name))) for name in names)


def _outside_questions(text: str) -> str:
    """Return what of a text is no question: the text itself where it asks nothing."""
    return _QUESTION.sub(" ", text) if "?" in text or "？" in text else text


def _only_asks(text: str) -> bool:
    rest = _outside_questions(text)
    return rest is not text and _is_short(rest)


def _is_short(rest: str) -> bool:
    """Return whether next to nothing is left of a text without its questions."""
    return len(rest.strip(" .!,")) < _FEW_LETTERS


def _is_told_of(name: str, text: str, spoken: bool) -> bool:
    """Return whether a name stands in a text, and not only as that of who is spoken to."""
    standing, called = _name_patterns(name)
    return standing.search(called.sub(" ", text) if spoken else text) is not None


@lru_cache(maxsize=256)
def _name_patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    own = re.escape(name)
    before = (
        r"(?:^|[,.!?;]\s*|\b(?:hey|hi|thanks|wow|yeah|yes|oh|well|ok|okay|no|so|bye|congrats|sorry)\s*,?\s+)"
    )
    return re.compile(rf"\b{own}\b"), re.compile(rf"{before}{own}\s*(?:[,.!?;]|$)")


def _words(text: str) -> list[str]:
    return _cut(_lowered(text))


def _cut(text: str) -> list[str]:
    """Return the words of a text in small letters; a plain one is cut in a quarter of the time."""
    return plain_words(text) if text.isascii() else _WORD.findall(text)


def _lowered(text: str) -> str:
    """Return a text in small letters, its verbs in full: "I'm" and "I am" are the same words."""
    text = text.lower()
    if "'" in text or "’" in text:
        return _SHORT_VERB.sub(lambda verb: _FULL_VERBS[verb[1]], text)
    return text


FEATURES: Final = (
    "cosine above noise",
    "share of the best match by words",
    "share of the best by words of like meaning",
    "score",
    "score above the other best",
    "first by meaning",
    "first by words",
    "language known",
    "what is asked for is met",
)
BIAS: Final = -3.42
WEIGHTS: Final = (1.282, 0.166, 1.193, 2.087, 5.259, 0.391, 0.309, -2.096, 0.254)
"""Learnt on 4,093 questions of fourteen sets, ten hits of each, which they call right or wrong."""
RECALL_FEATURES: Final = (
    "what is asked for is met",
    "best cosine above noise",
    "words of the first hit",
    "language known",
)
RECALL_BIAS: Final = 1.171
RECALL_WEIGHTS: Final = (0.882, 2.161, 1.262, -1.919)
"""Learnt on the same questions."""
_FIRST: Final = 5
"""Whether one of so many hits answers is what the confidence of a recall is about."""
_OTHERS: Final = 5
"""With how many of the best others a score is compared."""


def answer_features(trace: Trace, places: Sequence[int], lifted: Sequence[float], met: float) -> FloatArray:
    """Return the features of candidates: a row for each, in the order of :data:`FEATURES`.

    - `places`: which candidates, by their place in the ranking of all of them.
    - `lifted`: the score of each with what its text says for it.
    - `met`: whether the best meet what is asked for; see :func:`requirements_met`.
    """
    at = np.array(places, np.intp)
    familiarity, cosines, matches, soft = _of_legs(trace)
    scores = trace.scores.copy()
    scores[at] = lifted
    top = float(scores[scores.argmax()])
    scores = scores / top if top > 0 else np.zeros(scores.size)
    best = np.sort(scores)[::-1][: _OTHERS + 1]
    among = scores >= best[-1]
    around = np.where(among, (best.sum() - scores) / _OTHERS, best[:_OTHERS].sum() / _OTHERS)
    rows = (
        cosines,
        matches,
        # Where no table has a say, the score stands in: what was learnt was learnt with one.
        familiarity * (scores if soft is None else soft),
        scores,
        scores - around,
        familiarity * _is_first(cosines),
        _is_first(matches),
        np.full(scores.size, familiarity),
        np.full(scores.size, met),
    )
    return np.column_stack([row[at] for row in rows])


def recall_features(trace: Trace, places: Sequence[int], met: float) -> FloatArray:
    """Return the features of a recall from those of its first hits, in the order of `RECALL_FEATURES`."""
    familiarity, cosines, matches, _ = _of_legs(trace)
    first = np.array(places[:_FIRST], np.intp)
    return np.array([met, cosines[first].max(initial=0.0), matches[first[0]], familiarity])


class Estimates:
    """The confidences of a recall and of its hits, computed together when one of them is first asked for.

    - `positions`: of the hits that were read among the candidates that were kept, best first.
    - `memories`: those hits, in the same order.
    - `lifted`: their scores with what their texts say for them; set later, as is `order`: in which of these
      the hits are shown.
    """

    def __init__(
        self, trace: Trace | None, asked: Asked, positions: Sequence[int], memories: Sequence[Memory]
    ) -> None:
        self._trace, self.asked, self._positions, self.memories = trace, asked, positions, memories
        self.lifted: Sequence[float] = ()
        self.order: Sequence[int] = ()

    def of(self, number: int) -> float:
        """Return how likely the hit with this number, counted from 0, answers."""
        return self._of_hits[number]

    def answered(self) -> float:
        """Return how likely one of the first five hits answers."""
        if self._trace is None or not self.order:
            return 0.0
        return float(_probability(self.of_recall @ np.array(RECALL_WEIGHTS) + RECALL_BIAS))

    @property
    def of_recall(self) -> FloatArray:
        """The features of the recall; see :func:`recall_features`."""
        assert self._trace is not None  # callers looked
        return recall_features(self._trace, [self._places[number] for number in self.order], self._met)

    @cached_property
    def features(self) -> FloatArray:
        """The features of the hits, by their numbers; see :func:`answer_features`."""
        if self._trace is None or not self.lifted:
            return np.zeros((0, len(FEATURES)))
        return answer_features(self._trace, self._places, self.lifted, self._met)

    @cached_property
    def _of_hits(self) -> list[float]:
        if self._trace is None:
            return [0.0] * len(self._positions)
        probabilities: list[float] = _probability(self.features @ np.array(WEIGHTS) + BIAS).tolist()
        return probabilities

    @cached_property
    def _places(self) -> list[int]:
        assert self._trace is not None  # callers looked
        places: list[int] = self._trace.kept[np.array(self._positions, np.intp)].tolist()
        return places

    @cached_property
    def _met(self) -> float:
        assert self._trace is not None  # callers looked
        scores = self._trace.scores[np.array(self._places, np.intp)]
        return requirements_met(self.asked, self.memories, scores)


def _of_legs(trace: Trace) -> tuple[float, FloatArray, FloatArray, FloatArray | None]:
    """Return how well the embedder knows the query; cosines, words and words of like meaning of all."""
    moment = trace.moment
    scores_of = {name: _aligned(trace.slots, slots, scores) for name, slots, scores in trace.legs}
    nothing = np.zeros(trace.slots.size)
    familiarity, noise = moment.familiarity if moment.meant else 0.0, max(0.0, moment.noise)
    cosines = familiarity * np.clip((scores_of.get(VECTOR, nothing) - noise) / (1.0 - noise), 0.0, 1.0)
    matches = np.minimum(scores_of.get(LEXICAL, nothing) / (moment.ceiling or 1.0), 1.0)
    return familiarity, cosines, matches, scores_of.get(SOFT)


def _probability(logits: FloatArray) -> FloatArray:
    probabilities: FloatArray = 1.0 / (1.0 + np.exp(-logits))
    return probabilities


def _aligned(everyone: IntArray, slots: IntArray, scores: FloatArray) -> FloatArray:
    """Return the score that a leg gave to each of all candidates; 0 for one that it did not find."""
    order = everyone.argsort(kind="stable")
    at = np.minimum(everyone.searchsorted(slots, sorter=order), everyone.size - 1)
    places = order[at]
    present = everyone[places] == slots
    result = np.zeros(everyone.size)
    result[places[present]] = scores[present]
    return result


def _is_first(values: FloatArray) -> FloatArray:
    first = np.zeros(values.size)
    if values.size and values[values.argmax()] > 0:
        first[values.argmax()] = 1.0
    return first
