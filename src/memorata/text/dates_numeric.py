"""Dates in figures, in no language: 2023-05-07, 2023-05, 7.5.2023, 13/5/2023, Q3 2024.

Points put the day first, everywhere. Slashes do so in most of the world and the month first in the United
States: 13/5/2023 and 5/13/2023 can only mean one day, 7/5/2023 could be two and is not read, unless the
language of the text is known to put the day first.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from memorata.text import date_readers as read
from memorata.text.date_tongue import Rule, Tongue
from memorata.text.date_vocabulary import DIGITS, Prepositions, Vocabulary

_NONE: Final = MappingProxyType[str, int]({})
_MONTH: Final = r"(?P<month_number>1[0-2]|0?[1-9])"
_CLOCK: Final = r"(?:[t\s]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:z|[+-]\d\d:?\d\d)?)?"

_WORDS: Final = Vocabulary(
    _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, MappingProxyType({})
)
_PREPOSITIONS: Final = Prepositions({}, {}, {}, "-|–|—", "(?!)", "(?!)", {}, "(?!)")
_RULES: Final[tuple[Rule, ...]] = (
    (read.iso_day, r"{year}-(?P<month_number>1[0-2]|0[1-9])-(?P<day>3[01]|[12]\d|0[1-9])" + _CLOCK),
    (read.iso_day, rf"{{year}}/{_MONTH}/{{day}}"),
    (read.iso_day, rf"{{day}}\.\s?{_MONTH}\.\s?{{year}}"),
    (read.iso_month, r"{year}-(?P<month_number>1[0-2]|0[1-9])(?!-)"),
    (read.quarter, r"q(?P<ordinal>[1-4])[\s/-]?(?:of )?{year}", DIGITS),
    (read.quarter, r"{year}[\s/-]?q(?P<ordinal>[1-4])", DIGITS),
    (read.quarter, r"q(?P<ordinal>[1-4])", DIGITS),
)
_SLASHED: Final = r"(?P<first>3[01]|[12]\d|0?[1-9])/(?P<second>3[01]|[12]\d|0?[1-9])/{year}"

NUMERIC: Final = Tongue(_WORDS, _PREPOSITIONS, (*_RULES, (read.slashed_day, _SLASHED)))
DAY_FIRST: Final = Tongue(_WORDS, _PREPOSITIONS, (*_RULES, (read.slashed_day_first, _SLASHED)))
