"""How English names a time: data for :mod:`memorata.text.dates`.

"may", "march" and "august" mean months in lower case only after a preposition or beside a year. Weekdays and
months are read in full or as "Sept", never as "sun", "sat", "mon" and the like, which are other words.
"""

from __future__ import annotations

from typing import Final

from memorata.text.dates import readers as read
from memorata.text.dates.language import DateLanguage, Prepositions, Rule, Vocabulary, forms, spelled, table

_COUNTED: Final = (
    r"percent|per|degrees?|miles?|km|kilometers?|kilometres?|met(?:er|re)s?|feet|pounds?|kg|dollars?|euros?|"
    r"bucks|people|persons?|users?|words?|times|minutes?|hours?|seconds?|days?|weeks?|months?|years?|steps?|"
    r"copies|units?|items?|pieces?|pages?|points?|lines?|calories|votes?|cases|rows?|tokens?|records?|files?|"
    r"am|pm|st|street|avenue|road|o'clock"
)

WORDS: Final = Vocabulary(
    month=table(
        "january,jan,jan.", "february,feb,feb.", "march,mar,mar.", "april,apr,apr.", "may", "june,jun,jun.",
        "july,jul,jul.", "august,aug,aug.", "september,sep,sept,sep.,sept.", "october,oct,oct.",
        "november,nov,nov.", "december,dec,dec.", first=1,
    ),
    weekday=table("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    season=table("spring,springtime", "summer,summertime", "autumn,fall", "winter,wintertime"),
    holiday={
        **spelled("christmas,christmas day,xmas", 1225),
        **spelled("christmas eve", 1224),
        **spelled("boxing day", 1226),
        **spelled("new year's eve,new years eve", 1231),
        **spelled("new year's day,new years day,new year's,new year", 101),
        **spelled("halloween", 1031),
        **spelled("valentine's day,valentines day,valentine's", 214),
        **spelled("st patrick's day,st. patrick's day", 317),
        **spelled("independence day,fourth of july", 704),
    },
    fixed={
        **spelled("day before yesterday,the day before yesterday", -2),
        **spelled("yesterday,last night", -1),
        **spelled("today,tonight,this morning,this afternoon,this evening", 0),
        **spelled("tomorrow", 1),
        **spelled("day after tomorrow,the day after tomorrow", 2),
    },
    number={
        **table("a,an,one", "two,a couple of,couple of,a couple,a pair of", "three,a few,few", "four,several",
                "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
                "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", first=1),
        **spelled("thirty", 30), **spelled("forty", 40), **spelled("fifty", 50),
        **spelled("ninety", 90), **spelled("a hundred,one hundred", 100),
    },
    ordinal={**table("first,1st", "second,2nd", "third,3rd", "fourth,4th", first=1), **spelled("last", -1)},
    which={
        **spelled("last,previous,this past", -1),
        **spelled("this,the current", 0),
        **spelled("next,the coming,this coming,the upcoming", 1),
    },
    decade={
        "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70,
        "eighties": 80, "nineties": 90,
    },
    units=forms(
        day="day,days,night,nights", week="week,weeks", fortnight="fortnight,fortnights",
        month="month,months", year="year,years", weekend="weekend,weekends", decade="decade,decades",
        quarter="quarter",
    ),
    only_title=frozenset({"may", "march", "mar", "august"}),
    counted=_COUNTED,
    past=r"did|didn['’]t|was|wasn['’]t|were|had|could|couldn['’]t|used to|went",
    denial=r"not|never|ever|\w+n['’]t|talked|spoken|first",
    # Will with a capital is somebody.
    ahead=r"(?:(?<!\w)(?:will|shall|won['’]t|plan to|(?<!was )(?<!were )going to)(?!\w)|['’]ll(?!\w))"
    r"[^,;:.!?\n]*"
    r"|(?<!\w)(?:is|are) (?:due |planned |scheduled |set )?(?:on|for|by) ",
)  # fmt: skip

PREPOSITIONS: Final = Prepositions(
    licences={
        **dict.fromkeys(("in", "back in", "around", "from"), "month year quarter decade"),
        **dict.fromkeys(("during", "throughout", "over"), "month year quarter decade season holiday weekday"),
        "on": "day weekday holiday",
        "at": "holiday weekday",
    },
    bounds=forms(
        since="since,ever since,starting",
        before="before,prior to",
        after="after,following",
        until="until,till",
    ),
    ranges={"between": "and|&", "from": "to|until|till|through|thru|-|–|—"},
    joins="to|until|till|through|-|–|—",
    lists="and|or|,|, and|and in|or in",
    articles="the",
    parts={
        **spelled("early,beginning of,the beginning of,start of,the start of", 0),
        **spelled("mid,middle of,the middle of", 1),
        **spelled("late,end of,the end of", 2),
    },
    measures=(
        r"(?:hour|minute|morning|evening|time|moment)s?|right|shortly|just|soon|long|immediately|not|\w+n't"
    ),
)

_DAY: Final = r"{day}(?:st|nd|rd|th)?"
_LAST: Final = r"{last}(?:st|nd|rd|th)?"
_TO: Final = r"(?:\s?[-–—]\s?| to | until | till | through )"
_WHICH: Final = r"(?<!the\x20)(?<!my\x20)(?<!her\x20)(?<!his\x20){which}"
# "Three weeks and two days ago" is not two days ago.
_NO_REST: Final = "".join(
    rf"(?<!{unit}\x20and\x20)(?<!{unit}\x20and\x20a\x20)"
    for unit in ("day", "days", "week", "weeks", "month", "months", "year", "years")
)
_NO_OTHER: Final = (
    r"(?! (?:of|roll|board|water|onion|down|apart|from (?!september|october|november)\w+)(?!\w))"
)
_NO_HABIT: Final = (
    r"(?! (?:\w+ )?(?:season|month|time|holiday|break|solstice|collection|term|semester|\w+ing)s?(?!\w))"
)
_NO_HEAT: Final = r"(?![^.!?]{0,30}(?:fahrenheit|celsius|degrees|°))"
_NO_NOUN: Final = (
    r"(?!'s)(?! (?:tree|card|dinner|lunch|party|present|gift|market|carol|song|music|movie|cookie|shopping|"
    r"decoration|light|ornament|sweater|resolution|costume|candy|story|spirit)s?(?!\w))"
)

RULES: Final[tuple[Rule, ...]] = (
    (read.fixed, r"{fixed}(?: (?:morning|afternoon|evening|night))?(?!-\w)"),
    (read.recently, r"recently|lately", "recently lately"),
    (read.recently, r"the other day", "day"),
    (read.ago, _NO_REST + r"(?<!-){number} {unit} ago"),
    (read.half_year_ago, r"half a year ago", "ago"),
    (read.ahead, r"in (?!an? (?!couple|few)|one |1 ){number} {unit}(?:'s time|' time| time)?(?! of)"),
    (read.ahead, r"{number} {unit} from (?:now|today)"),
    (read.stretch, r"(?:the )?(?:last|past|previous) (?!an? ){number} {unit}(?! of)"),
    (
        read.stretch,
        r"(?:in|over|during|for|within|throughout) the (?:last|past) "
        r"(?P<unit>week|month|quarter|year|decade)(?! of)",
        "week month quarter year decade",
    ),
    (
        read.which_unit,
        _WHICH + r" (?P<unit>week|weekend|month|quarter|year|decade)(?! of (?!this|last|next))",
        "week weekend month quarter year decade",
    ),
    (read.bare_weekend, r"weekend", "weekend"),
    (read.weekday, _WHICH + r" {weekday}" + _NO_OTHER),
    (read.weekday, r"{weekday}"),
    (read.weekday_of_week, r"{weekday} (?:of )?{which} week"),
    (read.weekday_of_week, r"{which} week (?:on )?{weekday}"),
    (read.day, rf"(?:the )?{_DAY}(?: of)? {{month}},? {{year}}"),
    (read.day, rf"(?:the )?{_DAY}(?: of)? {{month}}(?!'s)"),
    (read.day, rf"(?:the )?{_DAY}(?: of)? {{month}},? (?:of )?{{of_year}} year"),
    (read.day, rf"{{month}} (?:the )?{_DAY},? {{year}}"),
    (read.day, rf"{{month}} (?:the )?{_DAY},? (?:of )?{{of_year}} year"),
    (read.day, rf"{{month}} (?:the )?{_DAY}{{uncounted}}"),
    (read.day_range, rf"(?:from )?(?:the )?{_DAY}{_TO}(?:the )?{_LAST}(?: of)? {{month}}(?:,? {{year}})?"),
    (read.day_range, rf"between (?:the )?{_DAY} and (?:the )?{_LAST}(?: of)? {{month}}(?:,? {{year}})?"),
    (read.day_range, rf"(?:from )?{{month}} {_DAY}{_TO}{_LAST}(?:,? {{year}})?{{uncounted}}"),
    (read.day_range, rf"between {{month}} {_DAY} and {_LAST}(?:,? {{year}})?{{uncounted}}"),
    (read.month, r"{month},?(?: of)? {year}"),
    (read.month, r"{month},? (?:of )?{of_year} year"),
    (read.month, _WHICH + r" {month}(?! \d)" + _NO_OTHER),
    (read.month, r"{month}(?!'s)(?! company)"),
    (read.week_of_month, r"(?:the )?{ordinal} week (?:of|in) {month}(?:,? {year})?"),
    (read.weekend_of_month, r"(?:the )?{ordinal} weekend (?:of|in) {month}(?:,? {year})?"),
    (read.season, r"(?:the )?{season}(?: of|,)? {year}{uncounted}"),
    (read.season, r"(?:the )?{season} (?:of )?{of_year} year"),
    (read.season, _WHICH + r" {season}" + _NO_OTHER),
    (read.season, r"(?<=the\x20){season}" + _NO_OTHER + _NO_HABIT),
    (read.season_of_question, r"(?<=in\x20){season}" + _NO_OTHER + _NO_HABIT),
    (read.start_of_year, r"(?:the )?(?:beginning|start) of (?:the|this) year", "beginning start"),
    (read.end_of_year, r"(?:the )?end of (?:the|this) year", "end"),
    (read.holiday, r"{holiday}(?: of|,)? {year}"),
    (read.holiday, r"{holiday} (?:of )?{of_year} year"),
    (read.holiday, _WHICH + r" {holiday}" + _NO_NOUN),
    (read.holiday, r"{holiday}" + _NO_NOUN),
    (read.quarter, r"(?:the )?{ordinal} quarter(?: of|,)? {year}", "quarter"),
    (read.quarter, r"(?:the )?{ordinal} quarter of {of_year} year", "quarter"),
    (read.year, r"(?:the )?year(?: of)? {year}", "year"),
    (read.bare_year, r"{year}{uncounted}"),
    (read.year_range, r"{year}\s?[-–—]\s?{last_year}"),
    (read.decade, r"(?:the )?(?P<decade>(?:1[5-9]|20)\d0)'?s"),
    (read.decade, r"(?<=(?:the|rly|mid|ate)[\x20-])'?(?P<decade>[2-9]0)'?s{uncounted}" + _NO_HEAT),
    (read.decade, r"(?<=(?:the|rly|mid|ate)[\x20-]){decade}{uncounted}"),
)

ENGLISH: Final = DateLanguage(WORDS, PREPOSITIONS, RULES)
