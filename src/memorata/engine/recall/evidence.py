"""Evidence for a hit in its text.

Legs compare whole texts with a query. The speaker, the years and the word order are read from the text
itself, for a few of the best candidates, and what they are worth is added to the score.

``benchmarks/answer_confidence.py`` learns the weights, with every set left out once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.conversation import is_by, is_mentioned
from memorata.engine.recall.query import ParsedQuery, possible_names, word_terms
from memorata.index.record import ROLES
from memorata.index.speakers import Speakers
from memorata.model.checks import FloatArray
from memorata.model.hit import Explanation
from memorata.model.memory import Memory
from memorata.text.analysers import Analyser
from memorata.text.queries import QUESTION_MARKS
from memorata.text.relations import AskedRelations
from memorata.text.tokens import folded
from memorata.text.tokens import words as plain_words
from memorata.text.word_lists import word_set

EVIDENCE: Final = (
    *("who tells it", "told of oneself", "years that are named", "words in the same order"),
    *("what is asked for, in other words", "only repeats the query"),
)
EVIDENCE_WEIGHTS: Final = (0.15, 0.07, 0.318, 0.389, 0.15, -1.0)
"""Weight of each feature, as a share of the best score; learnt on 3,728 questions of fourteen sets.

The first is half of the learnt weight (0.306): it finds as much, and keeps memories of another speaker among
the first, for queries that name the wrong person (LoCoMo's fifth kind of question: hit@5 60 to 80). The last
two were set on facts of no data set.
"""
TEXT_PARTS: Final = (*EVIDENCE, "a reply to the question before it")
"""The names of all that a text may add to a score, in explanations."""
_NO_EVIDENCE: Final = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_OWN_QUESTION: Final = 0.4
"""Value of a question by the named speaker: it is about someone else."""
_TURN_THAT_ASKS: Final = 0.1
"""Least repetition of a turn that only asks: it answers nothing, but may follow what does."""
_LONGER_TURN: Final = 2.0
"""A turn with more times the words of the query asks with facts in it: "my deadline is …, can you …?"."""
_SHORT_TURN: Final = 10
"""A turn of no more words has no room for them."""
_STORED_QUESTION: Final = 0.6
"""The same outside any session."""
_QUOTED: Final = 0.3
"""Repetition of a text that quotes the whole query and goes on, in its place for words in the same order."""
_MIN_QUOTED_LETTERS: Final = 6
"""A shorter query is within a text by chance."""
_QUOTED_SHARE: Final = 0.75
"""Share of the query's terms that a text with several questions has if it quotes the query."""
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
_QUESTION: Final = re.compile(r"(?:^|(?<=[.!?？؟。！]))[^.!?？؟。！]*[?？؟]")
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
    terms: frozenset[str] = frozenset()
    """The terms of the query."""
    analyser: Analyser | None = None
    question: str = ""
    """The letters of a query with a question mark, without what is between its words."""
    length: int = 0
    """The number of its words."""

    def __bool__(self) -> bool:
        return bool(self.people or self.years or self.phrases or self.asked or self.terms)


def requirements_of(query: ParsedQuery, analyser: Analyser, speakers: Callable[[], Speakers]) -> Requirements:
    """Return the requirements of a query; `speakers` is called only where the query names one."""
    words, named = _words(query.text), set(query.speakers)
    full_names = [query.aliases.get(word, word) for word in _WORD.findall(query.text)] if named else []
    people = tuple(
        dict.fromkeys(folded(name) for name in full_names if not named.isdisjoint(word_terms(analyser, name)))
    )
    length = len(words)
    words, relations = (words, query.relations) if len(words) <= _MAX_QUERY_WORDS else ([], frozenset())
    namespace_speakers = speakers() if people else None
    question = _letters(query.text) if any(mark in query.text for mark in QUESTION_MARKS) else ""
    return Requirements(
        people,
        namespace_speakers,
        namespace_speakers is not None and namespace_speakers.in_pairs,
        frozenset(_YEAR.findall(query.text)),
        {f" {first} {second} ": (first, second) for first, second in pairwise(words)},
        AskedRelations.of(relations, possible_names(query, analyser)) if relations else None,
        frozenset(query.terms),
        analyser,
        question if len(question) >= _MIN_QUOTED_LETTERS else "",
        length,
    )


def text_evidence(requirements: Requirements, memories: Sequence[Memory]) -> FloatArray:
    """Return the evidence for memories, from -1 to 1: a row for each, in the order of `EVIDENCE`."""
    phrases = tuple(requirements.phrases.values())
    rows = [_evidence(requirements, memory, phrases) for memory in memories]
    return np.array(rows, np.float64).reshape(-1, len(EVIDENCE))


def _evidence(
    requirements: Requirements, memory: Memory, phrases: Sequence[tuple[str, str]]
) -> tuple[float, float, float, float, float, float]:
    """Return the evidence for a memory; `phrases` are those of the query that it may share."""
    # Among several speakers, statements about the named one are often made by the others.
    alone = not memory.source.session
    attributed = bool(requirements.people) and (requirements.pair or alone)
    repetition = _repetition(requirements, memory.content)
    asks = repetition > 0 or _only_asks(memory.content)
    # In a conversation the turns around it tell what a turn is about (LoCoMo loses 1.1 of hit@5 otherwise).
    asked = requirements.asked if alone else None
    required = attributed or asks or requirements.years or asked or _quotes(requirements, memory.content)
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
    if asks:
        short = len(words) <= max(_SHORT_TURN, _LONGER_TURN * requirements.length)
        of_turn = _TURN_THAT_ASKS if short else 0.0
        repetition = max(repetition, _STORED_QUESTION if alone else of_turn)
    elif _quotes(requirements, text):
        repetition = _QUOTED
    if requirements.phrases and repetition < _QUOTED:
        row, phrases_of_query = f" {' '.join(words)} ", requirements.phrases
        same_order = len([phrase for phrase in phrases_of_query if phrase in row]) / len(phrases_of_query)
    return by_named, oneself, years, same_order, told, repetition


def _repetition(requirements: Requirements, text: str) -> float:
    """Return from 0 to 1 how far a text only repeats the query: its questions have nothing else, nor has it.

    The power keeps questions that name other things as well: users ask for what they told (BEAM: hit@1 47.2,
    43.1 with the square).
    """
    statement, analyser = _outside_questions(text), requirements.analyser
    if statement is text or analyser is None:
        return 0.0
    own, query = set(analyser.tokens(text)), requirements.terms
    if _is_too_short(statement):
        return (len(own & query) / len(own)) ** 4 if own else 1.0
    quotes = sum(map(text.count, QUESTION_MARKS)) > 1 and len(own & query) >= _QUOTED_SHARE * len(query)
    return float(quotes and query.isdisjoint(analyser.tokens(statement)))


def _quotes(requirements: Requirements, text: str) -> bool:
    """Return whether a text holds the whole query, which is a question: what answers has other words."""
    return bool(requirements.question) and requirements.question in _letters(text)


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
    return _QUESTION.sub(" ", text) if any(mark in text for mark in QUESTION_MARKS) else text


def _only_asks(text: str) -> bool:
    """Return whether a text is made of questions, but for a word or two."""
    statement = _outside_questions(text)
    return statement is not text and _is_too_short(statement)


def _is_too_short(statement: str) -> bool:
    """Return whether what is left of a text without its questions tells next to nothing; a number does."""
    return len(statement.strip(" .!,")) < _MIN_STATEMENT_LETTERS and not any(map(str.isdigit, statement))


def _words(text: str) -> list[str]:
    return _cut(_lowered(text))


def _cut(text: str) -> list[str]:
    """Return the words of a text in small letters; a plain one is cut in a quarter of the time."""
    return plain_words(text) if text.isascii() else _WORD.findall(text)


def _letters(text: str) -> str:
    return "".join(_cut(text.lower()))


def _lowered(text: str) -> str:
    """Return a text in small letters, its verbs in full: "I'm" and "I am" are the same words."""
    text = text.lower()
    if "'" in text or "’" in text:
        return _SHORT_VERB.sub(lambda verb: _FULL_VERBS[verb[1]], text)
    return text
