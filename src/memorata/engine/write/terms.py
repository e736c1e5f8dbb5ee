"""The words of a memory, field by field, and the words of a query."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final

from memorata.model.memory import Memory
from memorata.text.analysers import Analyser, Languages, roots, term_counts
from memorata.text.dates import TimeExpression, date_keys, date_terms, time_expressions, triggers
from memorata.text.dates.phrases import has_no_trigger
from memorata.text.tokens import folded


def terms_of(memory: Memory, analyser: Analyser) -> dict[str, dict[str, int]]:
    """Return the analysed words of a memory: by field, each term and how often it occurs.

    The date words are those of the day it happened, such as "7 May 2023 Sunday", and of the times that its
    text names ("last summer"), so that a query that names a date finds what was said on it or of it. The
    names are the entities it mentions, each of them one term, the whole name folded: that is how what
    mentions an entity is found. The words of a name are also listed as words of entities, unless the name
    stands in the content, whose words are listed anyway. Cyrillic words are listed by their roots, too. Tags
    and the words of names are read by themselves, and also in the language of the content.
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
    fields["dates"] = _dates(memory, analyser)
    if times := named_times(content, memory.created_at):
        # Beside the names, whose lists have no lengths that count: as words of the date these would make it
        # a long one, and hold back what names a time.
        keys = {key: 1 for time in times if not time.vague for key in date_keys(time.period)}
        fields["names"] = fields.get("names", {}) | keys
    return fields


def embedded_text(memory: Memory) -> str:
    """Return what is embedded of a memory: its content, after the speaker's name if it has one.

    "I went to the museum" answers "Where did Anna go?" only together with its speaker, Anna.
    """
    return f"{memory.source.speaker}: {memory.content}" if memory.source.speaker else memory.content


def _beside(text: str, languages: Languages, analyser: Analyser) -> dict[str, int]:
    """Return the words of what stands beside the content, in every way that a query may read them.

    A query in the language of the content has „Katze" read as a German word, and so a tag „Katzen" has to
    be; a query in another language does not.
    """
    terms, own = analyser.read(text)
    alone = term_counts(terms)
    return alone if own == languages else term_counts(analyser.tokens_in(text, languages)) | alone


def _dates(memory: Memory, analyser: Analyser) -> dict[str, int]:
    event_terms = _date_terms(memory.event_time.date(), analyser)
    times = named_times(memory.content, memory.created_at)
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
    text = f"{day.day} {_MONTHS[day.month - 1]} {day.year} {_WEEKDAYS[day.weekday()]}"
    return dict(Counter(analyser.tokens(text)))


# Not strftime's names: those change with the locale of the process.
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


PHRASE: Final = "time_phrase"
"""The key of a memory's metadata that keeps the words its event time was read from."""

_DAY: Final = timedelta(days=1)


@lru_cache(maxsize=4_096)
def named_times(content: str, said_at: datetime) -> tuple[TimeExpression, ...]:
    """Return the times a text names; remembered, since a write asks twice."""
    if has_no_trigger(content, triggers()):
        return ()
    return time_expressions(content, said_at, nearest=True)


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
