"""The words of a memory, field by field, and by which rules the words of a store are read.

A store records the analyser that it was made with, and the version of the rules. An index is only as good as
the agreement between how memories and queries are read, so an analyser cannot be changed; where the rules
have changed since, the engine has a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final

from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.store import Store
from memorata.text.analysers import ANALYSERS, Analyser, Languages, analyser, roots, term_counts
from memorata.text.dates import (
    MONTHS,
    WEEKDAYS,
    TimeExpression,
    date_keys,
    date_terms,
    time_expressions,
    triggers,
)
from memorata.text.dates.phrases import has_no_trigger
from memorata.text.tokens import folded


def terms_of(memory: Memory, analyser: Analyser) -> dict[str, dict[str, int]]:
    """Return the analysed words of a memory: by field, each term and how often it occurs.

    The date words are those of the day it happened and of the times that its text names, so that a query
    that names a date finds what was said on it or of it. Each name it mentions is one term, folded; the
    words of a name are listed as words of entities unless the name stands in the content. Cyrillic words are
    listed by their roots, too.
    """
    content = memory.content
    terms, languages = analyser.read(content)
    fields, beginnings = {"content": term_counts(terms)}, roots(content)
    if memory.source.speaker:
        fields["speaker"] = term_counts(analyser.tokens(memory.source.speaker))
    if memory.tags and (tags := " ".join(memory.tags)):
        fields["tags"] = _beside(tags, languages, analyser)
    if memory.entities:
        if elsewhere := " ".join([name for name in memory.entities if name not in content]):
            fields["entities"] = _beside(elsewhere, languages, analyser)
        fields["names"] = {key: 1 for key in map(folded, memory.entities) if key}
    if beginnings:
        fields["roots"] = term_counts(beginnings)
    times = named_times(content, memory.created_at)
    fields["dates"] = _dates(memory, times, analyser)
    if times:
        # Beside the names, whose lists have no lengths that count: as words of the date these would make it
        # a long one, and hold back what names a time.
        keys = {key: 1 for time in times if not time.vague for key in date_keys(time.period)}
        fields["names"] = fields.get("names", {}) | keys
    return fields


def embedded_text(memory: Memory) -> str:
    """Return what is embedded of a memory: its content, after the name of its speaker."""
    return f"{memory.source.speaker}: {memory.content}" if memory.source.speaker else memory.content


def _beside(text: str, languages: Languages, analyser: Analyser) -> dict[str, int]:
    """Return the words of what stands beside the content, read by itself and in the content's language."""
    terms, own = analyser.read(text)
    alone = term_counts(terms)
    return alone if own == languages else term_counts(analyser.tokens_in(text, languages)) | alone


def _dates(memory: Memory, times: Sequence[TimeExpression], analyser: Analyser) -> dict[str, int]:
    event_terms = _date_terms(memory.event_time.date(), analyser)
    if not times:
        return event_terms
    terms = dict(event_terms)
    for time in times:
        for term in analyser.tokens(date_terms(time.period)):
            # A date that is named twice is still one date.
            terms.setdefault(term, 1)
    return terms


@lru_cache(maxsize=4096)
def _date_terms(day: date, analyser: Analyser) -> dict[str, int]:
    text = f"{day.day} {MONTHS[day.month - 1]} {day.year} {WEEKDAYS[day.weekday()]}"
    return dict(Counter(analyser.tokens(text)))


PHRASE: Final = "time_phrase"
"""The key of a memory's metadata that keeps the words its event time was read from."""

_DAY: Final = timedelta(days=1)


_MAX_CACHED_TEXT: Final = 1_000


def named_times(content: str, said_at: datetime) -> tuple[TimeExpression, ...]:
    """Return the times a text names; those of short texts are cached, since a write reads them repeatedly."""
    read = _short_named_times if len(content) <= _MAX_CACHED_TEXT else _named_times
    return read(content, said_at)


def _named_times(content: str, said_at: datetime) -> tuple[TimeExpression, ...]:
    if has_no_trigger(content, triggers()):
        return ()
    return time_expressions(content, said_at, nearest=True)


_short_named_times: Final[Callable[[str, datetime], tuple[TimeExpression, ...]]] = lru_cache(maxsize=4_096)(
    _named_times
)


def dated(memory: Memory) -> Memory:
    """Return the memory with the first day its text names as its event time, if it has none of its own."""
    if memory.valid_from is not None or PHRASE in memory.metadata:
        return memory
    for time in named_times(memory.content, memory.created_at):
        period = time.period
        if period.end - period.start <= _DAY and period.tolerance <= _DAY:
            if memory.valid_to is not None and memory.valid_to < period.start:
                return memory
            noted = {**memory.metadata, PHRASE: time.phrase}
            return replace(memory, valid_from=period.start, metadata=noted)
    return memory


ANALYSER: Final = "analyser"
LANGUAGE: Final = "language"
MIN_LENGTH: Final = "min_length"
VERSION: Final = "words_version"
WORDS_VERSION: Final = "2"
"""Raised whenever `terms_of` gives any text other terms: new stems, stop words, names or times.

2: thirteen more stemmers, and the times that texts in twelve languages name."""
_FIRST_VERSION: Final = "1"
"""That of stores in which none is recorded."""
_DEFAULTS: Final = {VERSION: WORDS_VERSION, ANALYSER: "snowball", LANGUAGE: "detect"}
"""In the order in which they are recorded: a store that was read by the first rules has an analyser and no
version, and a process killed in between must not leave one that looks so."""


class WordSettings:
    """What a store records of how its words are read, and what is asked for besides."""

    def __init__(
        self, store: Store, analyser_name: str | None, language: str | None, min_length: int | None
    ) -> None:
        self._store = store
        recorded = {setting: store.setting(setting) for setting in (*_DEFAULTS, MIN_LENGTH)}
        length = None if min_length is None else str(min_length)
        recorded_analyser = ANALYSERS.get(recorded[ANALYSER] or "")
        if recorded_analyser is not None and length is not None and recorded[MIN_LENGTH] is None:
            # The default length of the analyser: none was recorded when the store was made.
            recorded[MIN_LENGTH] = str(recorded_analyser.min_length)
        if recorded[ANALYSER] is not None and recorded[VERSION] is None:
            recorded[VERSION] = _FIRST_VERSION
        self._recorded = recorded
        self._requested = _non_null({ANALYSER: analyser_name, LANGUAGE: language, MIN_LENGTH: length})

    def analyser(self) -> Analyser:
        """Return what reads words; raise if another is asked for than the store was made with."""
        for setting, value in self._requested.items():
            if self._recorded[setting] not in (None, value):
                raise InvalidArgument(
                    setting,
                    value,
                    f"{self._recorded[setting]!r}, as the words of this store were read; make a new store to "
                    "change it",
                )
        settings = self._requested | _non_null(self._recorded)
        length = settings.get(MIN_LENGTH)
        return checked_analyser(
            settings.get(ANALYSER), settings.get(LANGUAGE), None if length is None else int(length)
        )

    def outdated(self) -> str:
        """Return what :func:`outdated_words` does, as it was recorded."""
        return _outdated(self._recorded[VERSION])

    def record(self) -> None:
        """Record in a new store what it is made with."""
        for setting, value in (_DEFAULTS | self._requested).items():
            if self._recorded[setting] is None and not self._store.read_only:
                self._store.remember_setting(setting, value)


def outdated_words(store: Store) -> str:
    """Return that the words of a store were read by other rules than queries are; empty if they were not."""
    version = store.setting(VERSION)
    if version is None and store.setting(ANALYSER) is not None:
        version = _FIRST_VERSION
    return _outdated(version)


def _outdated(version: str | None) -> str:
    if version in (None, WORDS_VERSION):
        return ""
    return (
        f"the words of this store were read by version {version} of the rules, and queries are read by "
        f"version {WORDS_VERSION}: some memories are not found by stems and times that differ; "
        "`memorata admin check --repair` reads them anew"
    )


def note_words_read(store: Store) -> None:
    """Record that all words of a store were read anew."""
    store.remember_setting(VERSION, WORDS_VERSION)


def checked_analyser(name: str | None, language: str | None, min_length: int | None) -> Analyser:
    """Return what reads words, or raise if there is none such."""
    changes = {} if min_length is None else {"min_length": checks.whole(MIN_LENGTH, min_length, 1)}
    return analyser(
        checks.one_of(ANALYSER, _DEFAULTS[ANALYSER] if name is None else name, tuple(ANALYSERS)),
        language=_DEFAULTS[LANGUAGE] if language is None else language,
        **changes,
    )


def _non_null(values: Mapping[str, str | None]) -> dict[str, str]:
    return {setting: value for setting, value in values.items() if value is not None}
