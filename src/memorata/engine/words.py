"""The words of a memory, field by field, and the words of a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from functools import lru_cache, partial
from typing import Final

from memorata._frozen import frozen
from memorata.engine.times import named_times
from memorata.model.memory import Memory
from memorata.text.analysers import Analyser, Languages, roots
from memorata.text.dates import date_terms
from memorata.text.folding import folded
from memorata.text.language import DETECTED_LANGUAGES, detect, tells_language
from memorata.text.tokens import is_unspaced
from memorata.text.tokens import words as cut

# No phrase holds a mark that opens one of its kind: a search from each of many that nothing closes would go
# through all that follows, again and again.
_PHRASE: Final = re.compile(
    r'"([^"]+)"|“([^“”]+)”|«([^«»]+)»|„([^„“”]+)[“”]|”([^“”„]+)”|「([^「」]+)」|『([^『』]+)』'
)
_MARKED: Final = re.compile(r'["“”«„「『]|(?<!\S)-')
# One letter after a minus is an option of a command, as in "kubectl apply -f", and a few digits are a number
# below zero, as in "-15.5 °C": both stand for themselves. A year may be excluded.
_EXCLUDED: Final = re.compile(
    r"(?<!\S)-(?!(?:[a-zA-Z]|[0-9]{1,3}(?:[.,][0-9]+)?[%‰]?(?:°\w?)?)[.,;:!?)]*(?:\s|$))(\w\S*)"
)
_FEW_LETTERS: Final = 60
"""Up to so many characters a question may be too short to tell its language."""
_OTHERS: Final = tuple(each for each in DETECTED_LANGUAGES if each not in ("english", "russian"))
_PLAIN_WORD: Final = re.compile(r"\w+")
_EXCLUDING: Final = re.compile(r"(?<!\S)-$")
_AFTER_WORDS: Final = ".,;:!?…)]}'’-"
"""What may stand behind a word without being part of it, as the signs of C++ and C# are."""


def words_of(memory: Memory, analyser: Analyser) -> dict[str, dict[str, int]]:
    """Return the analysed words of a memory: by field, each term and how often it occurs.

    The date words are those of the day it happened, such as "7 May 2023 Sunday", and of the times that its
    text names ("last summer"), so that a question that names a date finds what was said on it or of it. The
    names are the entities it mentions, each of them one term, the whole name folded: that is how what
    mentions an entity is found. The words of a name are also listed as words of entities, unless the name
    stands in the content, whose words are listed anyway. Cyrillic words are listed by their roots, too. Tags
    and the words of names are read by themselves, and also in the language of the content.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from memorata.text.analysers import ANALYSERS
    >>> tea = Memory(id="m1", content="Anna likes tea", tags=("drinks",),
    ...              created_at=datetime(2023, 5, 7, tzinfo=UTC))
    >>> words_of(tea, ANALYSERS["snowball"])["tags"]
    {'drink': 1}
    >>> bank = Memory(id="m2", content="It opens at nine", entities=("Bank of England",),
    ...               created_at=datetime(2023, 5, 7, tzinfo=UTC))
    >>> words_of(bank, ANALYSERS["snowball"])["names"]
    {'bank of england': 1}
    """
    content = memory.content
    terms, languages = analyser.read(content)
    found = {"content": counted(terms)}
    if memory.source.speaker:
        found["speaker"] = counted(analyser.tokens(memory.source.speaker))
    if memory.tags and (tags := " ".join(memory.tags)):
        found["tags"] = _beside(tags, languages, analyser)
    if memory.entities:
        if elsewhere := " ".join([name for name in memory.entities if name not in content]):
            found["entities"] = _beside(elsewhere, languages, analyser)
        found["names"] = {key: 1 for key in map(folded, memory.entities) if key}
    if beginnings := roots(content):
        found["roots"] = counted(beginnings)
    found["dates"] = _dates(memory, analyser)
    return found


def embedded_text(memory: Memory) -> str:
    """Return what is embedded of a memory: its content, after the speaker's name if it has one.

    "I went to the museum" answers "Where did Anna go?" only for those who know that Anna said it.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from memorata.model import Source
    >>> said = Memory(id="m1", content="I went to the museum.", created_at=datetime(2023, 5, 7, tzinfo=UTC),
    ...               source=Source(speaker="Anna"))
    >>> embedded_text(said)
    'Anna: I went to the museum.'
    """
    return f"{memory.source.speaker}: {memory.content}" if memory.source.speaker else memory.content


def counted(terms: Sequence[str]) -> dict[str, int]:
    """Return how often each term occurs; for a sentence this takes a fifth of the time of a Counter.

    Examples
    --------
    >>> counted(["tea", "tea", "rum"])
    {'tea': 2, 'rum': 1}
    """
    # Few sentences say a word twice.
    counts = dict.fromkeys(terms, 1)
    if len(counts) < len(terms):
        counts = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
    return counts


def _beside(text: str, languages: Languages, analyser: Analyser) -> dict[str, int]:
    """Return the words of what stands beside the content, in every way that a question may read them.

    Who asks in the language of the content has „Katze" read as a German word, and so a tag „Katzen" has to
    be; who asks in another does not.
    """
    terms, own = analyser.read(text)
    alone = counted(terms)
    return alone if own == languages else counted(analyser.tokens_in(text, languages)) | alone


def _dates(memory: Memory, analyser: Analyser) -> dict[str, int]:
    own = _date_terms(memory.event_time.date(), analyser)
    named = named_times(memory.content, memory.created_at)
    if not named:
        return own
    terms = dict(own)
    for each in named:
        for term in analyser.tokens(date_terms(each.period)):
            # A date that is named twice is still one date.
            terms.setdefault(term, 1)
    return terms


@lru_cache(maxsize=4096)
def _date_terms(day: date, analyser: Analyser) -> dict[str, int]:
    written = f"{day.day} {_MONTHS[day.month - 1]} {day.year} {_WEEKDAYS[day.weekday()]}"
    return dict(Counter(analyser.tokens(written)))


@frozen
class Question:
    """A question, read.

    Attributes
    ----------
    text
        What to embed: the question without quotation marks and exclusions.
    terms
        Its analysed words and how often each stands in it.
    phrases
        What stood in quotation marks.
    excluded
        The analysed words that were marked with a minus.
    excluded_phrases
        What must not occur as it stands: what was quoted after a minus, and words after one that are made of
        several.
    not_excluded
        Words after a minus that are too short or too common to be listed, so that they exclude nothing.
    roots
        The roots of its words, in languages that need them, and how often each stands in it.
    read_otherwise
        Returns its words as they are read in other languages, where none of them tells its language: „Katzen"
        alone is read as an English word. They are looked for where its terms are nowhere found.
    speakers
        Those of its terms that name somebody who speaks, to be looked for there and not in what was said.
    topic
        What to embed instead of the text, where it names somebody who says much of all there is; else empty.
    entities
        What in it may be names, folded, and the terms of each; empty where nobody asks for them.
    """

    text: str
    terms: Mapping[str, int]
    phrases: tuple[str, ...]
    excluded: tuple[str, ...]
    excluded_phrases: tuple[str, ...] = ()
    not_excluded: tuple[str, ...] = ()
    roots: Mapping[str, int] = field(default_factory=dict)
    read_otherwise: Callable[[], Mapping[str, int]] = field(default=dict, compare=False)
    speakers: tuple[str, ...] = ()
    topic: str = ""
    entities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_question(text: str, analyser: Analyser) -> Question:
    """Read a question: its words, quoted phrases, and words and phrases that were excluded with a minus.

    Examples
    --------
    >>> from memorata.text.analysers import ANALYSERS
    >>> asked = read_question('who said "green tea" -coffee', ANALYSERS["snowball"])
    >>> asked.text, asked.phrases, asked.excluded
    ('who said green tea', ('green tea',), ('coffe',))
    >>> asked = read_question('tea -"green tea" -UAV-001', ANALYSERS["snowball"])
    >>> asked.text, asked.excluded_phrases
    ('tea', ('green tea', 'UAV-001'))
    """
    if not _MARKED.search(text):
        cleaned = " ".join(text.split())
        terms = counted(analyser.tokens(cleaned))
        others = partial(_read_otherwise, cleaned, terms, (), analyser)
        return Question(cleaned, terms, (), (), roots=counted(roots(cleaned)), read_otherwise=others)
    said: list[str] = []
    phrases: list[str] = []
    marked: list[str] = []
    unsaid: list[str] = []
    excluding = False
    # A cut at every phrase: what is outside, then a place for each kind of quotation mark. Inside them a
    # minus is a minus.
    for place, piece in enumerate(_PHRASE.split(text)):
        if place % (_PHRASE.groups + 1) == 0:
            marked += _EXCLUDED.findall(piece)
            left = _EXCLUDED.sub(" ", piece)
            excluding = _EXCLUDING.search(left) is not None
            said.append(left)
        elif piece is not None and piece.strip():
            if excluding:
                said[-1] = said[-1][:-1]
                unsaid.append(piece.strip())
            else:
                said.append(piece)
                phrases.append(piece)
    cleaned = " ".join(" ".join(said).split())
    without, as_they_stand, unlisted = _excluded(marked, cleaned, analyser)
    terms = counted(analyser.tokens(cleaned))
    for term in without:
        terms.pop(term, None)
    together = tuple(dict.fromkeys((*unsaid, *as_they_stand)))
    others = partial(_read_otherwise, cleaned, terms, without, analyser)
    listed = counted(roots(cleaned))
    return Question(cleaned, terms, tuple(phrases), without, together, unlisted, listed, others)


def _read_otherwise(
    text: str, terms: Mapping[str, int], without: Sequence[str], analyser: Analyser
) -> dict[str, int]:
    """Return the terms of a few words that do not tell their language, in every other language."""
    if not terms or analyser.language != "detect" or not (analyser.stop or analyser.stemming):
        return {}
    if len(text) > _FEW_LETTERS or tells_language(cut(text)):
        return {}
    found: dict[str, int] = {}
    for language in _OTHERS:
        found |= counted(analyser.tokens_in(text, (language, "russian")))
    return {term: times for term, times in found.items() if term not in terms and term not in without}


def readers(analyser: Analyser, text: str) -> tuple[Analyser, ...]:
    """Return what reads a word by itself, and what reads it as a word of a text: in the language of that.

    Examples
    --------
    >>> from memorata.text.analysers import ANALYSERS
    >>> [reader.tokens("Katzen") for reader in readers(ANALYSERS["snowball"], "Wo sind die Katzen?")]
    [['katzen'], ['katz']]
    """
    if analyser.language != "detect":
        return (analyser,)
    return analyser, replace(analyser, language=detect(text))


def _excluded(
    words: Sequence[str], question: str, analyser: Analyser
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the terms of excluded words, each as it is read alone and in the language of the question.

    A word alone seldom shows its language, and „Katzen" is one term in German and another in English. Then
    the words that texts are to be read for as they stand: of "UAV-001" many others have either part. And
    those that are no term of any text, which may be options of a command ("rm -rf").
    """
    if not words:
        return (), (), ()
    reading = readers(analyser, " ".join([question, *words]))
    terms: list[str] = []
    together: list[str] = []
    unlisted: list[str] = []
    for word in (marked.rstrip(_AFTER_WORDS) for marked in words):
        if len(cut(word)) > 1 or not _PLAIN_WORD.fullmatch(word) or (len(word) == 1 and is_unspaced(word)):
            together.append(word)
        elif read := [term for reader in reading for term in reader.tokens(word)]:
            terms += read
        else:
            unlisted.append(word)
    return tuple(dict.fromkeys(terms)), tuple(together), tuple(dict.fromkeys(unlisted))


# Not strftime's names: those change with the locale of the process.
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
