"""Where a person is named in a text, and where the same letters are a common word.

For what cannot be undone: "Will you mark it in May?" names neither Will nor Mark nor May. A name that is no
common word counts wherever it stands, in any case. One that is must be written with a capital where a
capital says something, not as a part of a longer name, nor as a month, nor behind an article; at the start of
a sentence, where a capital says nothing, a verb of a person acting has to follow. What is left
out so is little, and for a person to decide: texts that merely have the word can be asked for as such.

Where too much is better than too little, :func:`may_mention` takes any word of a name for the name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from typing import Final

from memorata.model import checks
from memorata.text.language import detect
from memorata.text.tokens import WORD, WordSpans, contains_any, folded, is_unspaced
from memorata.text.word_lists import (
    CALENDAR,
    DATE_PREPOSITIONS,
    NAMES_AND_WORDS,
    STOP_WORD_LANGUAGES,
    TITLES,
    common_words,
    word_set,
)

_DETERMINERS: Final = word_set(
    "the a an my your his her its our their this that these those no any every each some der die das den dem "
    "des ein eine einen einem einer le la les un une el los las il lo gli o os as uma um"
)
_SUBJECT_VERBS: Final = word_set("""is was has had says said told tells went goes came comes got gets gave
    gives made makes took takes saw sees left lost won met knew knows thinks thought felt feels became began
    wrote writes read reads bought buys sold built found taught teaches likes liked loves loved hates hated
    wants wanted needs needed prefers preferred lives lived works worked drinks drank eats ate plays played
    moved moves visited visits started starts finished called calls asked asks sent sends enjoys enjoyed
    drives drove owns owned studies studied speaks spoke runs ran died married wrote wears wore sings sang
    plans planned uses used and ist war hat hatte sagt sagte ging kam lebt wohnt arbeitet mag mochte trinkt
    isst est était habite travaille aime préfère es era tiene vive trabaja quiere prefiere è ha abita lavora
    ama""")
_BEFORE_SUBJECT: Final = re.compile(
    r"\s+(?:i|you|he|she|it|we|they|the|this|that|these|those|there|my|your|his|her|its|our|their|any(?:one|body|thing)"
    r"|someone|somebody|everyone|everybody|not)\b"
)
"""The object after a verb that asks or tells to do something."""
_SENTENCE_ENDS: Final = (*".!?…\"“”'’:;", "")
_MAX_HEADLINE_CAPITALS: Final = 1
_MIN_NAME_WORD: Final = 3
_WORD_RUN: Final = re.compile(r"\w+")


class NameMatcher:
    """Tells whether one of the names of a person or a thing stands in a text as a name.

    >>> will = NameMatcher(["Will"])
    >>> [will.matches(text) for text in ("I met Will.", "Will drinks tea.", "Will you come?", "I will.")]
    [True, True, False, False]
    >>> NameMatcher(["Marigold"]).matches("in the evening marigold sang")
    True
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._written = {name.strip() for name in names if name.strip()}
        spellings = {folded(name) for name in self._written}
        self.also_words = frozenset(name for name in spellings if is_also_word(name))
        self._plain = spellings - self.also_words

    def matches(self, text: str) -> bool:
        """Return whether one of the names stands in a text as a name."""
        if self._plain and contains_any(text, self._plain):
            return True
        return bool(self.also_words) and contains_any(text, self.also_words) and self._is_named(text)

    def _is_named(self, text: str) -> bool:
        spans = WordSpans(text)
        language = detect(text)
        alone = {name for name in self.also_words if " " not in name}
        return any(
            folded(word.text) in alone
            and self._stands_as_name(spans, at, language)
            and not (folded(word.text) in CALENDAR and _has_number_beside(text, spans, at))
            for at, word in enumerate(spans.words)
        ) or any(name in text for name in self._written if " " in name and name != folded(name))

    def _stands_as_name(self, spans: WordSpans, at: int, language: str) -> bool:
        words, word = spans.words, spans.words[at].text
        if not word[0].isupper() or (word.isupper() and len(word) > 1 and word not in self._written):
            return False
        before = words[at - 1] if at and spans.gaps[at] in (" ", ". ") else None
        after = words[at + 1] if at + 1 < len(words) and spans.gaps[at + 1] == " " else None
        if before is not None and before.lower in TITLES:
            return True
        if spans.starts(at):
            possessive = spans.gaps[at + 1 : at + 2] in (["'"], ["’"]) and words[at + 1].text == "s"
            return possessive or (after is not None and after.lower in _SUBJECT_VERBS)
        if before is not None and (
            before.lower in _DETERMINERS
            or (word.lower() in CALENDAR and before.lower in DATE_PREPOSITIONS)
            or (before.text[0].isupper() and not spans.starts(at - 1))
        ):
            return False
        if after is not None and after.text[0].isupper() and after.text != "I":
            return False
        # A German noun has a capital wherever it stands, and a headline's words have, too.
        return language != "german" and not _is_headline(spans, at)


def name_words(names: Iterable[str], language: str = "english") -> frozenset[str]:
    """Return the folded words of some names that can stand for the whole of one.

    Those of at least three letters that are no months, weekdays, stop words, negations or common words of the
    language of the text in which they may stand: "ella" is a name in English, and "she" in Spanish.
    """
    candidates = {word for name in checks.texts("names", names) for word in _WORD_RUN.findall(folded(name))}
    return frozenset(
        word for word in candidates if len(word) >= _MIN_NAME_WORD and word not in _unnamed(language)
    )


def may_mention(text: str, names: Collection[str]) -> bool:
    """Return whether a name, spelt in any way, or a word that can stand for it is in a text.

    Words that are common in the language of the text stand for no name: the "Will" of Will Hart.
    """
    spellings = {folded(name) for name in checks.texts("names", names)}
    return contains_any(text, spellings | name_words(spellings, detect(text)))


_MIN_NICKNAME, _MIN_MISSPELT, _MIN_TWICE_MISSPELT = 2, 4, 8
"""How many letters a nickname has at least, and a name in which one or two letters may be wrong."""


def alias_of(word: str, names: Iterable[str]) -> str:
    """Return the word of one of some names that a word is short for or misspells; empty for none or several.

    A nickname is how the name begins (Mel for Melanie); a spelling may differ by one letter that is missing,
    too many, another or in its neighbour's place, by two in a name of eight letters or more, and must begin
    alike. What is a common word as well ("May" for Maya) stands for itself.

    >>> people = ["Melanie", "Caroline", "Priya Raman", "Maya"]
    >>> alias_of("Mel", people), alias_of("Pryia", people), alias_of("May", people)
    ('Melanie', 'Priya', '')
    >>> alias_of("Ann", ["Anna", "Annette"])
    ''
    """
    short = folded(checks.text("word", word))
    if len(short) < _MIN_NICKNAME or is_unspaced(short) or _is_word(short) or short in NAMES_AND_WORDS:
        return ""
    return _stands_for(short, frozenset(names))


@lru_cache(maxsize=1_024)
def _stands_for(short: str, names: frozenset[str]) -> str:
    own = _words_by_letter(names).get(short[0], ())
    for fits in (_begins, _misspells):
        matches = [(part, key) for part, key in own if fits(short, key)]
        if len({key for _, key in matches}) == 1:
            return min(part for part, _ in matches)
        if matches:
            return ""
    return ""


@lru_cache(maxsize=16)
def _words_by_letter(names: frozenset[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the words of some names, as they are written and folded, by their first letter."""
    words: dict[str, list[tuple[str, str]]] = {}
    for part in {part for name in checks.texts("names", list(names)) for part in _WORD_RUN.findall(name)}:
        if key := folded(part):
            words.setdefault(key[0], []).append((part, key))
    return words


def _begins(short: str, name: str) -> bool:
    return len(short) < len(name) and name.startswith(short)


def _misspells(word: str, name: str) -> bool:
    shorter = min(len(word), len(name))
    if shorter < _MIN_MISSPELT or word[0] != name[0] or word == name:
        return False
    return _edits(word, name) <= (2 if shorter >= _MIN_TWICE_MISSPELT else 1)


def _edits(first: str, second: str) -> int:
    """Return how many letters are inserted, left out, changed or swapped with their neighbour (OSA)."""
    if abs(len(first) - len(second)) > 2:
        return 3
    before, above = list[int](), list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 < column and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, above = above, current
    return above[-1]


def is_only_word(name: str, text: str) -> bool:
    """Return whether a name that is also a word stands in a text only as that word: before a subject.

    >>> [is_only_word("Will", text) for text in ("Will you come?", "Will fixed it.", "Will he? Ask Will.")]
    [True, False, False]
    """
    if not is_also_word(folded(name)):
        return False
    places = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return all(
        text[: place.start()].rstrip()[-1:] in _SENTENCE_ENDS and _BEFORE_SUBJECT.match(text, place.end())
        for place in places
    )


def is_also_word(name: str) -> bool:
    """Return whether a folded name could be a common word, or nothing but common words.

    >>> [is_also_word(name) for name in ("will", "mark", "the who", "anna", "will hart")]
    [True, True, True, False, False]
    """
    if any(map(is_unspaced, name)):
        return False
    words = [folded(word) for word in WORD.findall(name)]
    return bool(words) and all(map(_is_word, words))


def _is_word(word: str) -> bool:
    return (
        len(word) < 2
        or word in CALENDAR
        or word in NAMES_AND_WORDS
        or any(word in common_words(language) for language in STOP_WORD_LANGUAGES)
    )


def _has_number_beside(text: str, spans: WordSpans, at: int) -> bool:
    start, end = spans.span(at, at)
    return any(map(str.isdigit, text[max(0, start - 4) : start] + text[end : end + 3]))


def _is_headline(spans: WordSpans, at: int) -> bool:
    """Return whether common words other than the one at a place have capitals, too, for no reason."""
    common = common_words("english")
    capitals = [
        other
        for other, word in enumerate(spans.words)
        if other != at and len(word.text) > 1 and word.text[0].isupper() and word.lower in common
    ]
    return sum(not spans.starts(other) for other in capitals) > _MAX_HEADLINE_CAPITALS


@cache
def _unnamed(language: str) -> frozenset[str]:
    """Return the folded words of a language that are no part of a name."""
    return frozenset(folded(word) for word in CALENDAR | common_words(language))
