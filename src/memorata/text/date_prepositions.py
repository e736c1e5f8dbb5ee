"""What the words before and between time phrases make of them.

Two phrases become one range where "between … and …" or "from … to …" holds them. "Since", "before" and
"after" open a phrase to one side, "early" and "the end of" cut it, "two days before" moves it. And a phrase
that could be something else (June, 2020, Friday, summer) is believed only after a preposition that goes with
its kind: June alone is also a name, and 2020 a number.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final, NamedTuple

from memorata.text import calendar_periods as calendar
from memorata.text.calendar_periods import Days
from memorata.text.date_readers import Reading
from memorata.text.date_tongue import Tongue
from memorata.text.date_vocabulary import Prepositions, Vocabulary

_BEFORE: Final = 40
"""How many characters before a phrase can hold its preposition."""
_DIVISIBLE: Final = ("month", "year", "decade", "quarter", "season")
"""What has an early and a late part."""
_DAY: Final = timedelta(days=1)


class Found(NamedTuple):
    """A phrase in a text: where, and which days it means."""

    start: int
    end: int
    days: Days


class Atom(NamedTuple):
    """A phrase as its rule read it, before prepositions."""

    start: int
    end: int
    reading: Reading


def joined(atoms: list[Atom], lower: str, tongue: Tongue, today: date) -> list[Found]:
    """Return the phrases that atoms make with the words before and between them."""
    prepositions = tongue.prepositions
    found: list[Found] = []
    position, carried = 0, ""
    while position < len(atoms):
        atom = atoms[position]
        before = prepositions.before.search(lower, max(0, atom.start - _BEFORE), atom.start)
        assert before is not None  # it matches nothing at all, too
        after = atoms[position + 1] if position + 1 < len(atoms) else None
        pair = None if after is None else _pair(atom, after, lower, prepositions, before["preposition"])
        if after is not None and pair is not None:
            opened = before["preposition"] in prepositions.ranges and pair.kind == "range"
            found.append(Found(before.start("preposition") if opened else atom.start, after.end, pair.days))
            position, carried = position + 2, ""
            continue
        if found and not before["preposition"] and _lists(lower[found[-1].end : atom.start], prepositions):
            preposition = carried
        else:
            preposition = carried = before["preposition"] or ""
        single = _single(atom, lower, tongue, before, preposition, today)
        if single is not None:
            found.append(single)
        position += 1
    return found


def _pair(
    first: Atom, last: Atom, lower: str, prepositions: Prepositions, opener: str | None
) -> Reading | None:
    """Return what two phrases mean together; None where they have nothing to do with each other."""
    try:
        return _range(first, last, lower, prepositions, opener) or _beside(first, last, lower, prepositions)
    except (ValueError, OverflowError):  # 29 February of a year that has none, the week before the year 1
        return None


def _range(
    first: Atom, last: Atom, lower: str, prepositions: Prepositions, opener: str | None
) -> Reading | None:
    """Return the days from one phrase to the next where they are the ends of a range."""
    between = lower[first.end : last.start].strip()
    if len(between) > 12:
        return None
    if opener is not None and opener in prepositions.ranges:
        if not re.fullmatch(prepositions.ranges[opener], between):
            return None
    elif not (
        last.reading.strong
        and first.reading.kind == last.reading.kind
        and re.fullmatch(prepositions.joins, between)
    ):
        return None
    start, end = first.reading.days, last.reading.days
    if first.reading.every_year is not None:
        start = first.reading.every_year(end.first.year)
        if start.first > end.first:
            start = first.reading.every_year(end.first.year - 1)
    elif first.reading.kind == "weekday" and start.first > end.first:
        start = Days(start.first - 7 * _DAY, start.after - 7 * _DAY)
    if start.first > end.first:
        return None
    return Reading("range", Days(start.first, end.after, max(start.tolerance, end.tolerance)))


def _beside(first: Atom, last: Atom, lower: str, prepositions: Prepositions) -> Reading | None:
    """Return the weekday next to a day: "the Sunday before 25 October 2022"."""
    bound = prepositions.bounds.get(" ".join(lower[first.end : last.start].split()))
    if bound not in ("before", "after") or first.reading.kind != "weekday" or last.reading.kind != "day":
        return None
    if (first.reading.days.after - first.reading.days.first).days > 1:
        return None
    number, day = first.reading.days.first.weekday(), last.reading.days
    days = calendar.beside(day.first, number, -1 if bound == "before" else 1)
    return Reading("beside", days)


def _lists(between: str, prepositions: Prepositions) -> bool:
    return len(between) < 12 and re.fullmatch(prepositions.lists, between.strip()) is not None


def _single(
    atom: Atom, lower: str, tongue: Tongue, before: re.Match[str], preposition: str, today: date
) -> Found | None:
    """Return a phrase opened or cut by what stands before it; None if nothing makes it believable."""
    prepositions = tongue.prepositions
    kind, days, strong, _ = atom.reading
    start = atom.start
    # "in the 2022 film": an article makes a year part of a name; a part without one is an age, "her mid-30s".
    article = before["article"] is not None
    if before["part"] is not None and kind in _DIVISIBLE and (strong or kind != "decade" or article):
        days, strong = calendar.part(days, prepositions.parts[" ".join(before["part"].split())]), True
        start = before.start("part")
    elif kind in prepositions.licences.get(preposition, "").split() and not (kind == "year" and article):
        strong = True
    bound = prepositions.bounds.get(before["preposition"] or "")
    if bound is not None and kind != "recently":
        at = before.start("preposition")
        measure = tongue.measure.search(lower, max(0, at - _BEFORE), at)
        try:
            if measure is None:
                days = _bounded(days, bound, today)
                start, strong = at, True
            elif measure["unit"] is not None and bound in ("before", "after"):
                days = _shifted(days, measure, bound, tongue.vocabulary)
                start, strong = measure.start(), True
        except (OverflowError, ValueError):
            return None
    if not strong or days.first >= days.after:
        return None
    return Found(start, atom.end, days)


def _shifted(days: Days, measure: re.Match[str], bound: str, vocabulary: Vocabulary) -> Days:
    """Return the time some days, weeks or months before or after others: "two days before Christmas"."""
    count = vocabulary.value("number", measure["number"]) if measure["number"] is not None else 1
    unit = vocabulary.units[measure["unit"]]
    if bound == "before":
        return calendar.shifted(days.first, unit, -count)
    return calendar.shifted(days.after - _DAY, unit, count)


def _bounded(days: Days, bound: str, today: date) -> Days:
    if bound == "since":
        return calendar.since(days, today)
    if bound == "after":
        return calendar.later_than(days, today)
    earlier = calendar.earlier_than(days)
    return earlier if bound == "before" else earlier._replace(after=days.after)
