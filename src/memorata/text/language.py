"""The language of a text: by script first, then by the votes of its function words.

Function words are the shortest reliable sign of a language (Grefenstette 1995, "Comparing two language
identification schemes"). Each one votes with 1 / (number of languages that have it), so that *ich* says more
than *de*; letters that only some languages use vote as well. Nothing is learnt and nothing is random: equal
texts get equal answers.

The answer decides which stop words and which stemmer apply, so the aim is not to name every language of the
world: a text in none of the nine is ``"none"``, and is neither stemmed nor stopped. Analysers tell eight more
of Latin letters by a few words each, and give words of five more scripts the stemmer of their language.
:func:`familiarity` tells whether a model that was made for some languages knows the scripts of a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from memorata.lang import LANGUAGES, SHARED, languages_with
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.text.tokens import words
from memorata.text.word_lists import STOP_WORD_LANGUAGES, listed, negations, shared, stop_words

DETECTED_LANGUAGES: Final = (*STOP_WORD_LANGUAGES, "none")
"""Every answer :func:`detect` can give."""
_MORE: Final = languages_with("words", "function_words")
"""Languages of which only the most common function words are known: enough to tell them from others.
(py3langid tells 97 languages, and these in 99.8 of 100 passages of the development sets where votes do in 97;
it takes 0.4 s and 90 MB to load and 60 µs a text.)"""
_VOTED: Final = (*STOP_WORD_LANGUAGES, *_MORE, "none")

_LATIN = tuple(language for language in STOP_WORD_LANGUAGES if language != "russian")

_DETECTED = frozenset(DETECTED_LANGUAGES)
_MAX_WORDS = 256
"""Words that are read; a language shows itself long before, and a book costs no more than a page."""

_LETTER_VOTE = 1 / 3
"""What a word with a letter of few languages adds, shared between them."""
_DEFAULT_VOTE = 1 / 3
"""What the default starts with: "Zürich hotels" has one umlaut and no verb, and is no German for it."""

_LETTERS_OF: Final = {name: file["letters"] for name, file in LANGUAGES.items() if "letters" in file} | {
    "none": SHARED["letters"]["other"]
}
_LETTERS: Final[Mapping[str, Sequence[str]]] = {
    letter: [name for name, letters in _LETTERS_OF.items() if letter in letters]
    for letter in "".join(_LETTERS_OF.values())
}
"""By letter, the languages that have it."""

_NOT_LETTERS = re.compile(r"[\W\d_]+")
_LATIN_RANGES: Final = "a-zA-ZªºÀ-ÖØ-öø-ɏḀ-ỿ"
_CYRILLIC: Final = "Ѐ-ԯᲀ-\u1c8fꙀ-ꚟ"
_LATIN_LETTERS = re.compile(f"[{_LATIN_RANGES}]+")
_CYRILLIC_LETTERS = re.compile(f"[{_CYRILLIC}]+")
_OTHER_SCRIPTS: Final = {
    # The language whose stemmer words of a script are given, and its letters.
    "arabic": re.compile("[\u0600-\u06ff\u0750-\u077f]"),
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "hindi": re.compile("[\u0900-\u097f]"),
    "armenian": re.compile("[\u0530-\u058f]"),
    "tamil": re.compile("[\u0b80-\u0bff]"),
}
_ONLY_RUSSIAN = re.compile(r"[ыэёъЫЭЁЪ]")
_NEVER_RUSSIAN = re.compile(r"[^А-Яа-яЁё\W\d_]")
_SCRIPTS: Final = {
    "cyrillic": re.compile(f"[{_CYRILLIC}]"),
    "han": re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
    "kana": re.compile(r"[\u3040-\u30ff\uff66-\uff9d]"),
    "hangul": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
    "arabic": re.compile(r"[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff]"),
    "greek": re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]"),
    "hebrew": re.compile(r"[\u0590-\u05ff]"),
    "thai": re.compile(r"[\u0e00-\u0e7f]"),
    "devanagari": re.compile(r"[\u0900-\u097f]"),
    "latin": re.compile(f"[{_LATIN_RANGES}]"),
}
_LETTER: Final = re.compile(r"[^\W\d_]")
_OF_LANGUAGE: Final = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk", "sr", "kk"), ("cyrillic",)),
    "zh": ("han",),
    "ja": ("han", "kana"),
    "ko": ("hangul",),
    **dict.fromkeys(("ar", "fa", "ur"), ("arabic",)),
    "el": ("greek",),
    "he": ("hebrew",),
    "th": ("thai",),
    **dict.fromkeys(("hi", "mr", "ne"), ("devanagari",)),
}
"""The scripts of languages that are not written in Latin letters."""
_LETTERS_PER_WORD: Final = {"han": 4, "kana": 2, "hangul": 2}
"""How many Latin letters say about as much as one of these."""


def detect(text: str | Sequence[str], default: str = "english") -> str:
    """Return the language of `text`: one of nine, or ``"none"`` for any other.

    The script with the most letters decides first (Latin before Cyrillic before others when equal). Cyrillic
    is Russian unless letters that Russian does not have (і, ї, є, ґ, ў, ј, …) outnumber those that only it
    and few others have (ы, э, ё, ъ). Latin is put to the vote, where the default starts with a third of a
    vote and wins its ties; other ties go to the first of :data:`DETECTED_LANGUAGES`. Any other script is
    ``"none"``.

    Parameters
    ----------
    text
        A text, or its words in lower case. The first 256 words are read.
    default
        The answer where there is no evidence: no letters at all, or Latin words known to no list.

    Examples
    --------
    >>> detect("Where did I leave my keys?"), detect("Wo habe ich meine Schlüssel gelassen?")
    ('english', 'german')
    >>> detect("Где мои ключи?"), detect("Де мої ключі?"), detect("我的钥匙在哪里")
    ('russian', 'none', 'none')
    >>> detect("Los Angeles"), detect("15.2%", default="dutch")
    ('english', 'dutch')
    """
    if type(text) is str and text.isascii() and type(default) is str and default in _DETECTED:
        # Words without a letter have no vote, so they need not be distinguished from a text without words.
        return _supported(_vote(words(text)[:_MAX_WORDS], default, ascii_only=True))
    latin, cyrillic, script = languages_by_script(text, default)
    return {"latin": _supported(latin), "cyrillic": cyrillic, "other": "none", "": default}[script]


def _supported(language: str) -> str:
    """Return a language of which more than the commonest words are known; ``"none"`` for another."""
    return language if language in _DETECTED else "none"


LANGUAGE_CODES: Final[Mapping[str, str]] = {name: file["code"] for name, file in LANGUAGES.items()}
"""By the name of a language, its ISO 639-1 code."""
_CODES_OF_SCRIPTS: Final = {
    "han": "zh",
    "hangul": "ko",
    "arabic": "ar",
    "greek": "el",
    "hebrew": "he",
    "thai": "th",
}


def language_code(text: str) -> str:
    """Return the ISO 639-1 code of a text's language; empty where it cannot be detected.

    Of scripts that several languages share, such as the Arabic one, it is the code of the largest.

    >>> [language_code(text) for text in ("Wo ist mein Schlüssel?", "鍵はどこですか", "钥匙在哪里", "42")]
    ['de', 'ja', 'zh', '']
    """
    latin, cyrillic, script = languages_by_script(text)
    if script in ("latin", "cyrillic"):
        return LANGUAGE_CODES.get(latin if script == "latin" else cyrillic, "")
    counts = script_counts(text)
    if counts["kana"]:
        return "ja"
    return _CODES_OF_SCRIPTS.get(max(counts, key=lambda name: counts[name]), "") if script else ""


def function_words(language: str) -> frozenset[str]:
    """Return the few function words of a language that is detected by them alone; none of any other."""
    return listed("function_words", language)


def languages_by_script(text: str | Sequence[str], default: str = "english") -> tuple[str, str, str]:
    """Return the language of the Latin words, that of the Cyrillic words, and the dominant script.

    The script is ``"latin"``, ``"cyrillic"``, ``"other"``, or empty when there are no letters. Latin words
    inside a text of another script are taken as English: they are names and terms, too few to vote.
    Parameters are those of :func:`detect`.
    """
    if type(default) is not str or default not in _DETECTED:
        checks.one_of("default", default, DETECTED_LANGUAGES)
    read = _read(text)
    try:
        joined = "".join(read)
    except TypeError:
        for position, token in enumerate(read):
            checks.text(f"text[{position}]", token)
        raise
    if joined.isascii():
        script = "latin" if _LATIN_LETTERS.search(joined) else ""
        return _vote(read, default, ascii_only=True), "russian", script
    latin = len("".join(_LATIN_LETTERS.findall(joined)))
    cyrillic_letters = "".join(_CYRILLIC_LETTERS.findall(joined))
    other = len(_NOT_LETTERS.sub("", joined)) - latin - len(cyrillic_letters)
    never, only = len(_NEVER_RUSSIAN.findall(cyrillic_letters)), len(_ONLY_RUSSIAN.findall(cyrillic_letters))
    cyrillic = "none" if never > only else "russian"
    largest = max(latin, len(cyrillic_letters), other)
    if largest == 0:
        return default, cyrillic, ""
    if latin == largest:
        return _vote(read, default, ascii_only=False), cyrillic, "latin"
    return "english", cyrillic, "cyrillic" if len(cyrillic_letters) == largest else "other"


def latin_language(tokens: list[str]) -> str:
    """Return the language of the Latin words of an ASCII text, given its words in lower case.

    That is what :func:`languages_by_script` returns first, in half the time: there are no scripts to weigh.
    """
    return _vote(tokens if len(tokens) <= _MAX_WORDS else tokens[:_MAX_WORDS], "english", ascii_only=True)


def tells_language(tokens: Sequence[str]) -> bool:
    """Return whether any of some words, in lower case, is a function word of a language with Latin letters.

    Without one a text is taken for English as long as nothing speaks against it, which is a guess.
    """
    return any(checks.text(f"tokens[{place}]", token) in _ballots() for place, token in enumerate(tokens))


def script_of(token: str) -> str:
    """Return the script a word starts in: ``"latin"``, ``"cyrillic"`` or ``"other"``."""
    if _LATIN_LETTERS.match(checks.text("token", token)):
        return "latin"
    return "cyrillic" if _CYRILLIC_LETTERS.match(token) else "other"


def script_language(token: str) -> str:
    """Return the language of a word in a script of few languages, such as Arabic or Greek, or ``"none"``."""
    return next((language for language, letters in _OTHER_SCRIPTS.items() if letters.match(token)), "none")


def _read(text: str | Sequence[str]) -> Sequence[str]:
    """Return the first words of `text`; what is no sequence of words is refused."""
    if isinstance(text, str):
        return words(text)[:_MAX_WORDS]
    if type(text) is not list and (not isinstance(text, Sequence) or isinstance(text, bytes | bytearray)):
        raise InvalidArgument("text", text, "a string or a list of words")
    return text[:_MAX_WORDS]


def _vote(tokens: Sequence[str], default: str, *, ascii_only: bool) -> str:
    """Return the language most words of a Latin text vote for."""
    if ascii_only and (not tokens or _votes_against(default).isdisjoint(tokens)):
        # No other language can overtake the default, which gets as large a vote wherever another gets one.
        return default
    totals = {default: _DEFAULT_VOTE}
    for ballot in filter(None, map(_ballots().get, tokens)):
        for language, weight in ballot:
            totals[language] = totals.get(language, 0.0) + weight
    for token in () if ascii_only else tokens:
        if not token.isascii():
            # One vote per word, however many accents: a single foreign name must not outvote a sentence.
            languages_of_letter = next((_LETTERS[letter] for letter in token if letter in _LETTERS), ())
            for language in languages_of_letter:
                totals[language] = totals.get(language, 0.0) + _LETTER_VOTE / len(languages_of_letter)
    top_score = max(totals.values())
    # Thirds and quarters do not add up exactly; what differs by less than a vote can is a tie.
    tied = [language for language, total in totals.items() if total > top_score - 1e-9]
    return default if default in tied else min(tied, key=_VOTED.index)


@cache
def _votes_against(default: str) -> frozenset[str]:
    """Return the words that vote for other languages, but not for `default`."""
    return frozenset(word for word, ballot in _ballots().items() if default not in dict(ballot))


@cache
def _ballots() -> dict[str, tuple[tuple[str, float], ...]]:
    """Return, for each word that votes, the languages it votes for and the weight of each vote."""
    speakers: dict[str, list[str]] = {}
    for language in _LATIN:
        for word in stop_words(language) | negations(language) | listed("familiar", language):
            speakers.setdefault(word, []).append(language)
    for language in _MORE:
        for word in function_words(language):
            speakers.setdefault(word, []).append(language)
    for word in speakers.keys() & shared("names", "also_english"):
        if "english" not in speakers[word]:
            speakers[word].append("english")
    return {
        word: tuple((language, 1 / len(several)) for language in several)
        for word, several in speakers.items()
    }


@lru_cache(maxsize=64)
def _scripts_of(languages: tuple[str, ...]) -> frozenset[str]:
    return frozenset(script for language in languages for script in _OF_LANGUAGE.get(language, ("latin",)))


def script_counts(text: str) -> dict[str, int]:
    """Return how many letters of each script a text has."""
    return {script: len(pattern.findall(text)) for script, pattern in _SCRIPTS.items()}


def familiarity(text: str, languages: Collection[str]) -> float:
    """Return the share of a text that is in a script of some languages, from 0 to 1.

    An English model knows the letters of German and makes something of its words; of Chinese it makes noise,
    which is no reason to rank anything. 1 for no languages, where nothing is known, and for a text
    without letters. `languages` are ISO 639-1 codes.

    >>> familiarity("Where are my keys?", ["en"]), familiarity("我的钥匙在哪里", ["en"])
    (1.0, 0.0)
    >>> round(familiarity("我的 iPhone 在哪里", ["en"]), 2), familiarity("Где ключи?", ["en", "ru"])
    (0.23, 1.0)
    """
    scripts = _scripts_of(tuple(languages))
    if not scripts or (text.isascii() and "latin" in scripts):
        return 1.0
    letters = len(_LETTER.findall(text))
    counted = script_counts(text)
    others = letters - sum(counted.values())
    word_counts = {script: count * _LETTERS_PER_WORD.get(script, 1) for script, count in counted.items()}
    total = sum(word_counts.values()) + max(0, others)
    return sum(word_counts[script] for script in scripts) / total if total else 1.0
