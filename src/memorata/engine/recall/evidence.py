"""Evidence for a hit: features of its text, and the calibrated probability that it answers.

Legs compare whole texts with a query. The speaker, the years and the word order are read from the text
itself, for a few of the best candidates, and what they are worth is added to the score.

A score orders the candidates of one query and is relative to the best of them: the best of a bad lot has 1. A
confidence is comparable between queries, stores and embedders. It is a logistic regression (Platt, 1999)
over nine features, each without a unit: of ten hits with a confidence of 0.7, seven answer. That of a recall
is how likely one of the first five hits answers.

``benchmarks/answer_confidence.py`` learns the weights of both, with every set left out once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.conversation import is_by, is_mentioned
from memorata.engine.recall.fusion import LEXICAL, SOFT, VECTOR, Trace
from memorata.engine.recall.query import ParsedQuery, possible_names, word_terms
from memorata.index.index import Speakers
from memorata.index.record import ROLES
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.hit import Explanation
from memorata.model.memory import Memory
from memorata.text.analysers import Analyser
from memorata.text.relations import AskedRelations
from memorata.text.tokens import folded
from memorata.text.tokens import words as plain_words
from memorata.text.word_lists import word_set

EVIDENCE: Final = (
    *("who tells it", "told of oneself", "years that are named", "words in the same order"),
    "what is asked for, in other words",
)
EVIDENCE_WEIGHTS: Final = (0.15, 0.07, 0.318, 0.389, 0.15)
"""Weight of each feature, as a share of the best score; learnt on 3,728 questions of fourteen sets.

The first is half of the learnt weight (0.306): it finds as much, and keeps memories of another speaker among
the first, for queries that name the wrong person (LoCoMo's fifth kind of question: hit@5 60 to 80). The last
was set on facts of no data set: only short facts have such questions.
"""
TEXT_PARTS: Final = (*EVIDENCE, "a reply to the question before it")
"""The names of all that a text may add to a score, in explanations."""
_NO_EVIDENCE: Final = (0.0, 0.0, 0.0, 0.0, 0.0)
_OWN_QUESTION: Final = 0.4
"""Value of a question by the named speaker: it is about someone else."""
_QUESTION_TO_NAMED: Final = -1.0
"""Value of a question to the named speaker: it answers nothing."""
_STORED_QUESTION: Final = -4.0
"""Value of a question outside any session, which is like other questions and often before their answers."""
_ADDRESSED: Final = 0.7
"""Value of a statement addressed to the named speaker by the only other speaker."""
_MIN_STATEMENT_LETTERS: Final = 12
"""A turn with fewer letters outside its questions is a question only."""
_MAX_QUERY_WORDS: Final = 20
"""Longer queries are turns of a conversation, and share phrases by chance."""
_MIN_STATEMENT_WORDS: Final = 4
"""A query with fewer words outside its questions does not continue a conversation."""
_WORD: Final = re.compile(r"\w+")
# Anchored at the beginning of a sentence: otherwise every letter of an unended one is scanned to the end.
_QUESTION: Final = re.compile(r"(?:^|(?<=[.!?？。！]))[^.!?？。！]*[?？]")
# The apostrophe comes first: a pattern that begins with the letter before it would stop at every letter.
_SHORT_VERB: Final = re.compile(r"['’](?<=\w['’])(m|re|ve|ll)\b")
_FULL_VERBS: Final = {"m": " am", "re": " are", "ve": " have", "ll": " will"}
_YEAR: Final = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_FIRST_PERSON: Final = word_set(
    "i my me mine we our us ich mein meine meinen meinem meiner mir mich wir uns unser unsere je j mon ma "
    "mes moi nous notre yo mi mis soy nosotros nuestra nuestro"
)
_SECOND_PERSON: Final = word_set("you your yours ya du dein deine deinen tu ton ta tes vous votre tú tus")
_EITHER_PERSON: Final = _FIRST_PERSON | _SECOND_PERSON
_PERSON_DEPTH: Final = 10
"""How many of the best memories are compared by their speaker."""
_YEAR_DEPTH: Final = 5
"""How many of the best memories are searched for the years of the query."""
_CLEAR_GAP: Final = 0.15
"""Difference of scores, as a share of the best, from which the speaker is clear."""


@frozen(eq=False)
class Requirements:
    """What a query requires of a text: its speaker, years and word order."""

    people: tuple[str, ...]
    """The speakers that the query names, folded."""
    speakers: Speakers | None
    """The speakers of the namespace; None where the query names none of them."""
    pair: bool
    """Whether the namespace, or almost every session of it, has two speakers at most."""
    years: frozenset[str]
    phrases: Mapping[str, tuple[str, str]]
    """Neighbouring words of the query, by both joined between blanks."""
    asked: AskedRelations | None = None

    def __bool__(self) -> bool:
        return bool(self.people or self.years or self.phrases or self.asked)


def requirements_of(query: ParsedQuery, analyser: Analyser, speakers: Callable[[], Speakers]) -> Requirements:
    """Return the requirements of a query; `speakers` is called only where the query names one."""
    words, named = _words(query.text), set(query.speakers)
    full_names = [query.aliases.get(word, word) for word in _WORD.findall(query.text)] if named else []
    people = tuple(
        dict.fromkeys(folded(name) for name in full_names if not named.isdisjoint(word_terms(analyser, name)))
    )
    words, relations = (words, query.relations) if len(words) <= _MAX_QUERY_WORDS else ([], frozenset())
    namespace_speakers = speakers() if people else None
    return Requirements(
        people,
        namespace_speakers,
        namespace_speakers is not None and namespace_speakers.in_pairs,
        frozenset(_YEAR.findall(query.text)),
        {f" {first} {second} ": (first, second) for first, second in pairwise(words)},
        AskedRelations.of(relations, possible_names(query, analyser)) if relations else None,
    )


def text_evidence(requirements: Requirements, memories: Sequence[Memory]) -> FloatArray:
    """Return the evidence for memories, from -4 to 1: a row for each, in the order of `EVIDENCE`."""
    phrases = tuple(requirements.phrases.values())
    rows = [_evidence(requirements, memory, phrases) for memory in memories]
    return np.array(rows, np.float64).reshape(-1, len(EVIDENCE))


def _evidence(
    requirements: Requirements, memory: Memory, phrases: Sequence[tuple[str, str]]
) -> tuple[float, float, float, float, float]:
    """Return the evidence for a memory; `phrases` are those of the query that it may share."""
    # Among several speakers, statements about the named one are often made by the others.
    alone = not memory.source.session
    attributed = bool(requirements.people) and (requirements.pair or alone)
    asks = (attributed or alone) and _only_asks(memory.content)
    # In a conversation the turns around it tell what a turn is about (LoCoMo loses 1.1 of hit@5 otherwise).
    asked = requirements.asked if alone else None
    required = attributed or asks or requirements.years or asked
    if not required and not phrases:
        return _NO_EVIDENCE
    text = _lowered(memory.content)
    if not required and not _may_share(phrases, text):
        return _NO_EVIDENCE
    words = _cut(text)
    by_named = oneself = years = same_order = told = 0.0
    if attributed:
        by_named = person_match(requirements, memory, words)
        # Outside a session "I …" by the named speaker and "Anna …" are alike (short facts: hit@5 86 to 87).
        oneself = float(by_named == 1 if alone else not _FIRST_PERSON.isdisjoint(words))
    if requirements.years:
        years = len(requirements.years.intersection(words)) / len(requirements.years)
    if asked is not None and not asks:
        told = asked.told_share(memory.source.speaker, memory.content, words)
    if asks and by_named == 0:
        by_named = _STORED_QUESTION if alone else _QUESTION_TO_NAMED
    elif requirements.phrases:
        row, phrases_of_query = f" {' '.join(words)} ", requirements.phrases
        same_order = len([phrase for phrase in phrases_of_query if phrase in row]) / len(phrases_of_query)
    return by_named, oneself, years, same_order, told


def _may_share(phrases: Sequence[tuple[str, str]], text: str) -> bool:
    """Return whether a text contains both words of a phrase, as words or as parts of others.

    A substring search takes a tenth of the time of splitting the text into words.
    """
    for first, second in phrases:  # noqa: SIM110 - any() takes twice as long for so few
        if first in text and second in text:
            return True
    return False


def continues(query: str) -> bool:
    """Return whether a query continues a conversation: outside its questions it has me or you."""
    words = _words(_outside_questions(query))
    return len(words) >= _MIN_STATEMENT_WORDS and not _EITHER_PERSON.isdisjoint(words)


def person_match(requirements: Requirements, memory: Memory, words: Sequence[str] | None = None) -> float:
    """Return from 0 to 1 how far a memory is by or about a person that the query names.

    `words` are those of the memory in small letters, where they are at hand.
    """
    text, speaker = memory.content, memory.source.speaker
    spoken = bool(speaker) and speaker.casefold() not in ROLES
    statement = _outside_questions(text)

    def to_you() -> bool:
        statement_words = words if statement is text and words is not None else _words(statement)
        return not _SECOND_PERSON.isdisjoint(statement_words) and _FIRST_PERSON.isdisjoint(statement_words)

    if spoken and is_by(requirements.people, speaker):
        return _OWN_QUESTION if statement is not text and (_is_too_short(statement) or to_you()) else 1.0
    plain = folded(text)
    if any(name in plain and is_mentioned(name, plain, spoken) for name in requirements.people):
        return 1.0
    addressed = spoken and requirements.pair and to_you() and _speaks_in(requirements, memory.source.session)
    return _ADDRESSED if addressed else 0.0


def requirements_met(requirements: Requirements, memories: Sequence[Memory], scores: FloatArray) -> float:
    """Return from -2 to 2 whether the best memories meet the requirements on persons and years.

    The best memory of the named person is compared with the best of others, where there are two speakers or
    no session. The years of the query are searched in the first five texts, where texts have years at all. A
    requirement that the query does not have counts 0.
    """
    met, best = 0.0, float(scores[0]) if scores.size else 0.0
    first = memories[:_PERSON_DEPTH]
    if (
        requirements.people
        and best > 0
        and (requirements.pair or not any(memory.source.session for memory in first))
    ):
        matches = np.array([person_match(requirements, memory) for memory in first])
        shares = scores[:_PERSON_DEPTH] / best
        lead = np.max(shares * matches) - np.max(shares * (1 - matches))
        met += float(np.clip(lead / _CLEAR_GAP, -1, 1))
    if requirements.years:
        years = [set(_YEAR.findall(memory.content)) for memory in memories[:_YEAR_DEPTH]]
        if sum(map(bool, years)) > 1:
            most = max(len(requirements.years & of_text) for of_text in years)
            met += 2 * most / len(requirements.years) - 1
    return met


def text_parts(requirements: Requirements, memories: Sequence[Memory], best: float) -> list[list[float]]:
    """Return what the text of each memory adds to its score, in the order of `EVIDENCE`.

    Empty where nothing is added to any score.
    """
    if best <= 0 or not requirements or not memories:
        return []
    # Most phrases of a query have a word that none of the texts has: one search instead of one for each.
    together = _lowered("\n".join([memory.content for memory in memories]))
    phrases = [
        (first, second)
        for first, second in requirements.phrases.values()
        if first in together and second in together
    ]
    evidence = [_evidence(requirements, memory, phrases) for memory in memories]
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
    leaves = [Explanation.leaf(name, value) for name, value in zip(TEXT_PARTS, parts, strict=True) if value]
    return Explanation.of("sum", "with what its text says", [explain(), *leaves])


def _speaks_in(requirements: Requirements, session: str) -> bool:
    """Return whether a named person speaks in a session; True where the session has no speakers."""
    assert requirements.speakers is not None  # a pair implies a named speaker
    names = requirements.speakers.of(session)
    return not names or any(is_by(requirements.people, name) for name in names)


def _outside_questions(text: str) -> str:
    """Return a text without its questions; the same object where it has none."""
    return _QUESTION.sub(" ", text) if "?" in text or "？" in text else text


def _only_asks(text: str) -> bool:
    """Return whether a text is made of questions, but for a word or two."""
    statement = _outside_questions(text)
    return statement is not text and _is_too_short(statement)


def _is_too_short(statement: str) -> bool:
    """Return whether what is left of a text without its questions tells next to nothing."""
    return len(statement.strip(" .!,")) < _MIN_STATEMENT_LETTERS


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
BIAS: Final = -3.047
WEIGHTS: Final = np.array([0.722, -0.242, 0.587, 1.649, 5.88, 0.164, 0.486, -1.203, 0.17])
"""Learnt on 4,026 questions of thirteen sets, ten hits of each, found with two embedders: it fits both."""
RECALL_FEATURES: Final = (
    "what is asked for is met",
    "best cosine above noise",
    "words of the first hit",
    "language known",
)
RECALL_BIAS: Final = 1.37
RECALL_WEIGHTS: Final = np.array([0.683, 1.974, 0.602, -1.511])
"""Learnt on the same questions."""
_ANSWER_DEPTH: Final = 5
"""The confidence of a recall is the probability that one of this many hits answers."""
_MAX_OTHERS: Final = 5
"""The number of best other scores that a score is compared with."""
_USUAL_OTHER: Final = 0.75
"""The usual score of those, as a share of the best; stands for those that a small store does not have."""


@frozen(eq=False)
class LegScores:
    """What the legs say of all candidates, as shares of the best possible.

    - `familiarity`: the embedder's with the query.
    - `cosines`, `matches`, `soft`: of meaning, words, and words of like meaning (None without such a leg).
    """

    familiarity: float
    cosines: FloatArray
    matches: FloatArray
    soft: FloatArray | None

    @classmethod
    def of(cls, trace: Trace) -> LegScores:
        """Return those of a recall; 0 for a candidate that is not among the leg's."""
        moment, slots = trace.moment, trace.slots
        order = slots.argsort()
        ascending = slots[order]
        scores_of = {name: _aligned(ascending, order, own, scores) for name, own, scores in trace.legs}
        nothing = np.zeros(slots.size)
        familiarity, noise = moment.familiarity if moment.meant else 0.0, max(0.0, moment.noise)
        above = (scores_of.get(VECTOR, nothing) - noise) / (1.0 - noise)
        cosines = familiarity * np.minimum(np.maximum(above, 0.0), 1.0)
        matches = np.minimum(scores_of.get(LEXICAL, nothing) / (moment.ceiling or 1.0), 1.0)
        return cls(familiarity, cosines, matches, scores_of.get(SOFT))


def answer_features(
    legs: LegScores, scores: FloatArray, places: Sequence[int], lifted: Sequence[float], met: float
) -> FloatArray:
    """Return the features of candidates: a row for each, in the order of :data:`FEATURES`.

    - `scores`: the scores of all candidates.
    - `places`: which candidates, by their place in the ranking of all of them.
    - `lifted`: the score of each with what its text adds.
    - `met`: whether the best meet the requirements; see :func:`requirements_met`.
    """
    at = np.array(places, np.intp)
    familiarity, soft = legs.familiarity, legs.soft
    scores = scores.copy()
    scores[at] = lifted
    top = float(scores[scores.argmax()])
    scores = scores / top if top > 0 else np.zeros(scores.size)
    best = np.sort(scores)[::-1][: _MAX_OTHERS + 1]
    own, others = scores[at], best.sum() + (_MAX_OTHERS + 1 - best.size) * _USUAL_OTHER
    around = np.where(own >= best[-1], others - own, best[:_MAX_OTHERS].sum()) / _MAX_OTHERS
    features = np.empty((len(FEATURES), at.size))
    features[0] = legs.cosines[at]
    features[1] = legs.matches[at]
    # Without a token table the score replaces its feature: the weights were learnt with one.
    features[2] = familiarity * (own if soft is None else soft[at])
    features[3] = own
    features[4] = own - around
    features[5] = familiarity * _is_first(legs.cosines, at)
    features[6] = _is_first(legs.matches, at)
    features[7] = familiarity
    features[8] = met
    return features.T


def recall_features(legs: LegScores, places: Sequence[int], met: float) -> FloatArray:
    """Return the features of a recall from those of its first hits, in the order of `RECALL_FEATURES`."""
    cosine = max(legs.cosines[place] for place in places[:_ANSWER_DEPTH])
    return np.array([met, max(0.0, cosine), legs.matches[places[0]], legs.familiarity])


class Estimates:
    """The confidences of a recall and of its hits, computed together on first use.

    - `positions`: positions of the hits among the kept candidates, best first.
    - `memories`: the memories of these hits, in the same order.
    - `lifted`: their scores with what their texts add; set later, as is `order`: the order in which the hits
      are shown.
    """

    def __init__(
        self,
        trace: Trace | None,
        requirements: Requirements,
        positions: Sequence[int],
        memories: Sequence[Memory],
    ) -> None:
        self._trace, self._positions = trace, positions
        self.requirements, self.memories = requirements, memories
        self.lifted: Sequence[float] = ()
        self.order: Sequence[int] = ()

    def of(self, number: int) -> float:
        """Return the probability that the hit with this number, counted from 0, answers."""
        return self._of_hits[number]

    def answered(self) -> float:
        """Return the probability that one of the first five hits answers."""
        if self._trace is None or not self.order:
            return 0.0
        return float(_probability(self.of_recall @ RECALL_WEIGHTS + RECALL_BIAS))

    @property
    def of_recall(self) -> FloatArray:
        """The features of the recall; see :func:`recall_features`."""
        assert self._trace is not None  # callers check
        return recall_features(self._legs, [self._places[number] for number in self.order], self._met)

    @cached_property
    def features(self) -> FloatArray:
        """The features of the hits, by their numbers; see :func:`answer_features`."""
        if self._trace is None or not self.lifted:
            return np.zeros((0, len(FEATURES)))
        return answer_features(self._legs, self._trace.scores, self._places, self.lifted, self._met)

    @cached_property
    def _of_hits(self) -> list[float]:
        if self._trace is None:
            return [0.0] * len(self._positions)
        probabilities: list[float] = _probability(self.features @ WEIGHTS + BIAS).tolist()
        return probabilities

    @cached_property
    def _legs(self) -> LegScores:
        assert self._trace is not None  # callers check
        return LegScores.of(self._trace)

    @cached_property
    def _places(self) -> list[int]:
        assert self._trace is not None  # callers check
        places: list[int] = self._trace.kept[np.array(self._positions, np.intp)].tolist()
        return places

    @cached_property
    def _met(self) -> float:
        assert self._trace is not None  # callers check
        scores = self._trace.scores[np.array(self._places, np.intp)]
        return requirements_met(self.requirements, self.memories, scores)


def _probability(logits: FloatArray) -> FloatArray:
    probabilities: FloatArray = 1.0 / (1.0 + np.exp(-logits))
    return probabilities


def _aligned(ascending: IntArray, order: IntArray, slots: IntArray, scores: FloatArray) -> FloatArray:
    """Return a leg's score of each candidate, whose slots are ascending in an order; 0 for one without."""
    at = np.minimum(ascending.searchsorted(slots), ascending.size - 1)
    present = ascending[at] == slots
    result = np.zeros(order.size)
    if present.all():
        result[order[at]] = scores
    else:
        result[order[at[present]]] = scores[present]
    return result


def _is_first(values: FloatArray, places: IntArray) -> BoolArray:
    """Return for each place whether it has the first of the largest values, if that is above 0."""
    if not values.size:
        return np.zeros(places.size, np.bool_)
    first = int(values.argmax())
    is_first: BoolArray = places == (first if values[first] > 0 else -1)
    return is_first
