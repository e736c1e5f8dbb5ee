"""Conversations: names and terms for a query that continues one, and turns that reply to a question.

"What does she like?" has no name. Where the caller passes the turns before it, a query with a pronoun of the
third person gets the names of the latest turn that has any, and the words of the last few turns count as a
part of their own in search by words and meaning, the older the less.

In a stored conversation a question is often more like the query than the reply to it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from memorata.engine.recall.query import ParsedQuery, parse_query
from memorata.model.memory import Memory
from memorata.text.analysers import Analyser
from memorata.text.known_names import is_also_word
from memorata.text.language import detect
from memorata.text.queries import QUESTION_MARKS
from memorata.text.tokens import folded
from memorata.text.word_lists import CALENDAR

TURNS: Final = 4
"""The number of last turns that are read."""
WORD_SHARE: Final = 0.5
"""The weight of a word of the latest turn, where one of the query has 1."""
_TURN_DECAY: Final = 0.7
"""The weight of a turn's words as a share of the weight of the next turn's."""
_MAX_NAMES: Final = 2
_MAX_EMBEDDED_LETTERS: Final = 600
"""Characters of the conversation that are embedded with the query."""
_REPLY_MARGIN: Final = 0.001
"""How far a reply stands above its question, as a share of the question's score."""
_WORD: Final = re.compile(r"\w+")
_NAME: Final = re.compile(r"[^\W\d_]\w+")
_ENDS: Final = '.!?…:;"“”«»()[]-–—'
_PRONOUNS: Final = re.compile(
    r"(?<!\w)(?:he|she|him|her|hers|his|they|them|their|theirs|it|its|"
    r"er|sie|ihn|ihm|ihr|ihre|ihren|sein|seine|seinen|"
    r"il|elle|lui|ils|elles|leur|leurs|él|ella|ellos|ellas|suyo|suya|sus?|"
    r"lei|loro|suo|sua|suoi|ele|ela|eles|elas|seu|seus|"
    r"hij|zij|hem|haar|han|hon|hans|hennes|honom|henne|de|dem|"
    r"он|она|они|его|её|ее|ему|ей|им|их)(?!\w)|[他她它]|彼女?|그녀|그는|그의",
    re.IGNORECASE,
)


def with_names(text: str, history: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return a query with the names its pronouns stand for, and these names.

    A query that has a name itself is returned unchanged.

    Examples
    --------
    >>> with_names("What does she like?", ["Tell me about tea.", "Anna came by yesterday."])
    ('What does she like? Anna', ('Anna',))
    >>> with_names("What does Ben like?", ["Anna came by."])
    ('What does Ben like?', ())
    """
    if not history or not _PRONOUNS.search(text) or _names(text):
        return text, ()
    for turn in reversed(history[-TURNS:]):
        if names := _names(turn):
            return f"{text} {' '.join(names)}", names
    return text, ()


def background(query: ParsedQuery, history: Sequence[str], analyser: Analyser) -> dict[str, float]:
    """Return the words of the last turns that the query does not have, and the weight of each."""
    worth: dict[str, float] = {}
    share = WORD_SHARE
    for turn in reversed(history[-TURNS:]):
        for term in parse_query(turn, analyser).terms:
            if term not in query.terms and term not in query.excluded:
                worth.setdefault(term, share)
        share *= _TURN_DECAY
    return worth


def embedded_with(text: str, history: Sequence[str]) -> str:
    """Return the text to embed for a query in a conversation: as much of its end as fits, then the query.

    A query that has a name and no pronoun is embedded alone.
    """
    if _names(text) and not _PRONOUNS.search(text):
        return text
    before = " ".join(history[-TURNS:])
    return f"{before[-_MAX_EMBEDDED_LETTERS:]} {text}".strip()


def is_by(people: Sequence[str], speaker: str) -> bool:
    """Return whether a speaker is one of some people, by a word of the name; names of people are folded."""
    return not set(people).isdisjoint(_WORD.findall(folded(speaker)))


def is_mentioned(name: str, text: str, spoken: bool) -> bool:
    """Return whether a text has a name, and not only as a form of address."""
    standing, called = _name_patterns(name)
    return standing.search(called.sub(" ", text) if spoken else text) is not None


@lru_cache(maxsize=256)
def _name_patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    own = re.escape(name)
    before = (
        r"(?:^|[,.!?;]\s*|\b(?:hey|hi|thanks|wow|yeah|yes|oh|well|ok|okay|no|so|bye|congrats|sorry)\s*,?\s+)"
    )
    return re.compile(rf"\b{own}\b"), re.compile(rf"{before}{own}\s*(?:[,.!?;]|$)")


def reply_leads(people: Sequence[str], turns: Sequence[Memory], scores: Sequence[float]) -> list[float]:
    """Return what each turn needs to stand above the question that it replies to; 0 if it does, or to none.

    A reply is a turn of one of `people`, whom the query names, right after a turn of another speaker that
    ends with a question. Of a query about Anna that question is no answer, however alike it is.
    """
    leads = [0.0] * len(turns)
    if not people:
        return leads
    numbers = {(turn.source.session, turn.source.position): number for number, turn in enumerate(turns)}
    for asking, score in zip(turns, scores, strict=True):
        source = asking.source
        if not source.is_turn or not asking.content.rstrip().endswith(QUESTION_MARKS):
            continue
        number = numbers.get((source.session, (source.position or 0) + 1))
        if number is None or not is_by(people, turns[number].source.speaker) or is_by(people, source.speaker):
            continue
        leads[number] = max(0.0, score * (1 + _REPLY_MARGIN) - scores[number])
    return leads


def _names(text: str) -> tuple[str, ...]:
    """Return the last words of a text that are names by their capital letter.

    A common word at the beginning of a sentence is no name, nor is one in German, where all nouns have a
    capital.
    """
    german = detect(text) == "german"
    names = []
    for match in _NAME.finditer(text):
        word, before = match[0], text[: match.start()].rstrip()
        begins = not before or before[-1] in _ENDS
        if (
            word[0].isupper()
            and word.casefold() not in CALENDAR
            and not ((begins or german) and is_also_word(word))
        ):
            names.append(word)
    return tuple(dict.fromkeys(reversed(names)))[:_MAX_NAMES][::-1]
