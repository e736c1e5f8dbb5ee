"""How German names a time: data for :mod:`memorata.text.dates`.

„Morgen" with a capital is the morning, unless it begins a sentence; „guten morgen" is a greeting either way.
Seasons stand alone for every year („im Sommer wandern wir"), so they need a year, „letzten" or „diesen".
"""

from __future__ import annotations

from typing import Final

from memorata.text.dates import readers as read
from memorata.text.dates.language import (
    DIGITS,
    DateLanguage,
    Prepositions,
    Rule,
    Vocabulary,
    forms,
    inflected,
    spelled,
    table,
)

_COUNTED: Final = (
    r"prozent|grad|meter|metern|kilometer|kilometern|km|kg|euro|dollar|leute|leuten|menschen|personen|wörter|"
    r"wörtern|mal|minuten|stunden|sekunden|tage|tagen|wochen|monate|monaten|jahre|jahren|schritte|schritten|"
    r"stück|seiten|punkte|punkten|zeilen|kalorien|stimmen|uhr|exemplare|exemplaren"
)

WORDS: Final = Vocabulary(
    month=table(
        "januar,jänner,januars", "februar,feber,februars", "märz,maerz", "april,aprils", "mai", "juni,junis",
        "juli,julis", "august,augusts", "september,septembers", "oktober,oktobers", "november,novembers",
        "dezember,dezembers", first=1,
    ),
    weekday=table(
        "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag,sonnabend", "sonntag",
    ),
    season=table("frühling,frühjahr,frühlings,frühjahrs", "sommer,sommers", "herbst,herbsts",
                 "winter,winters"),
    holiday={
        **spelled("weihnachten", 1225),
        **spelled("heiligabend,heilig abend,heiligen abend,heiliger abend", 1224),
        **spelled("silvester", 1231),
        **spelled("neujahr", 101),
        **spelled("halloween", 1031),
        **spelled("valentinstag", 214),
    },
    fixed={
        "vorvorgestern": -3, "vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2,
    },
    number={
        **table("einem,einer,ein,eine,einen,eins", "zwei,zweien", "drei,ein paar,einigen,wenigen",
                "vier,mehreren",
                "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf", "dreizehn", "vierzehn",
                "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn", "zwanzig", first=1),
        **spelled("dreißig,dreissig", 30), **spelled("vierzig", 40), **spelled("fünfzig", 50),
        **spelled("hundert", 100),
    },
    ordinal={
        **table("erste,ersten,erstes,1.", "zweite,zweiten,zweites,2.", "dritte,dritten,drittes,3.",
                "vierte,vierten,viertes,4.", first=1),
        **spelled("letzte,letzten", -1),
    },
    which={
        **spelled(inflected("letzt vergangen vorig", "e|en|er|es|em"), -1),
        **spelled(inflected("dies", "e|en|er|es|em"), 0),
        **spelled(inflected("nächst kommend", "e|en|er|es|em"), 1),
    },
    decade={
        "zwanziger": 20, "dreißiger": 30, "vierziger": 40, "fünfziger": 50, "sechziger": 60, "siebziger": 70,
        "achtziger": 80, "neunziger": 90,
    },
    units=forms(
        day="tag,tage,tagen,tages", week="woche,wochen", month="monat,monate,monaten,monats",
        year="jahr,jahre,jahren,jahres", weekend="wochenende,wochenenden", quarter="quartal,quartals",
        decade="jahrzehnt,jahrzehnte,jahrzehnten",
    ),
    never_title=frozenset({"morgen"}),
    counted=_COUNTED,
    past=r"hat|hast|habe|haben|hatte|hatten|war|waren|bist",
    denial=r"nicht|nie|niemals|kein\w*",
    ahead=r"(?<!\w)(?:wird|werde|werden|wirst|werdet)(?!\w)[^,;:.!?\n]*|(?<!\w)(?:ist|sind) am ",
)  # fmt: skip

PREPOSITIONS: Final = Prepositions(
    licences={
        **dict.fromkeys(("im", "gegen", "vom", "von", "aus"), "month quarter decade"),
        "in": "quarter decade",
        **dict.fromkeys(("während", "über", "übers"), "month quarter decade holiday weekday"),
        **dict.fromkeys(("am", "an"), "day weekday holiday"),
        "zu": "holiday",
    },
    bounds=forms(since="seit,ab", before="vor", after="nach", until="bis,bis zum"),
    ranges={
        "zwischen": "und(?: dem)?",
        **dict.fromkeys(("von", "vom"), "bis|bis zum|bis zu|-|–|—"),
    },
    joins="bis|bis zum|-|–|—",
    lists="und|oder|,|und im|oder im",
    articles="dem|den|der|das|die",
    parts={**spelled("anfang", 0), **spelled("mitte", 1), **spelled("ende", 2)},
    measures=r"nacht|abend|morgen|kurz|stunden?|minuten?|nicht",
)

_TO: Final = r"\.?(?:\s?[-–—]\s?| bis (?:zum )?)"
_NOUN: Final = r"(?! (?:de[sr]|vor|im) )"

RULES: Final[tuple[Rule, ...]] = (
    (
        read.fixed,
        r"(?<!guten\x20)(?<!guter\x20)(?<!am\x20)(?<!jeden\x20)(?<!heute\x20)(?<!gestern\x20){fixed}"
        r"(?: (?:früh|morgen|vormittag|mittag|nachmittag|abend|nacht))?(?!-\w)",
    ),
    (
        read.recently,
        r"kürzlich|neulich|letztens|unlängst|vor kurzem|in letzter zeit|in den letzten tagen|dieser tage",
        "kürzlich neulich letztens unlängst kurzem zeit tagen tage",
    ),
    (read.ago, r"vor (?:etwa |ungefähr |rund |gut |knapp |circa |ca\. )?{number} {unit}"),
    (read.half_year_ago, r"vor einem halben jahr", "halben"),
    (read.ahead, r"in (?:etwa |ungefähr |rund |gut |knapp )?{number} {unit}(?! lang)"),
    (read.stretch, r"(?:in |während |über )?(?:den|die) (?:letzten|vergangenen) {number} {unit}"),
    (
        read.which_unit,
        r"(?<!das\x20)(?<!die\x20){which} "
        r"(?P<unit>woche|wochenende|monats?|jahr|jahres|quartals?|jahrzehnt)" + _NOUN,
        "woche wochenende monat monats jahr jahres quartal quartals jahrzehnt",
    ),
    (read.bare_weekend, r"wochenende", "wochenende"),
    (read.weekday, r"{which} {weekday}" + _NOUN),
    (read.weekday, r"{weekday}"),
    (read.weekday_of_week, r"{weekday} (?:in der )?{which} woche"),
    (read.weekday_of_week, r"{which} woche (?:am )?{weekday}"),
    (read.day, r"{day}\.\s{0,3}{month},? {year}"),
    (read.day, r"{day}\.\s{0,3}{month}"),
    (read.day, r"{day}\.\s{0,3}{month} {of_year} jahres"),
    (read.iso_day, r"(?:am|vom|zum) {day}\.\s?(?P<month_number>1[0-2]|0?[1-9])\.", DIGITS),
    (read.day_range, rf"(?:vom )?{{day}}{_TO}{{last}}\.\s{{0,3}}{{month}}(?: {{year}})?"),
    (read.day_range, r"zwischen (?:dem )?{day}\. und (?:dem )?{last}\.\s{0,3}{month}(?: {year})?"),
    (read.month, r"{month},?(?: des jahres)? {year}"),
    (read.month, r"{month} {of_year} jahres"),
    (read.month, r"{which} {month}(?! \d)"),
    (read.month, r"{month}"),
    (read.week_of_month, r"{ordinal} woche (?:im|des|vom) (?:monats )?{month}(?: {year})?"),
    (read.week_of_month, r"{ordinal} (?P<month>januar|februar|märz|april|mai|juni|juli|august|september|"
                         r"oktober|november|dezember)woche(?: {year})?"),
    (read.season, r"{season}(?: des jahres)? {year}{uncounted}"),
    (read.season, r"{season} {of_year} jahres"),
    (read.season, r"{which} {season}" + _NOUN),
    (read.season_of_question, r"(?<=im\x20){season}"),
    (read.start_of_year, r"(?:am )?anfang des jahres|zu jahresbeginn", "anfang jahresbeginn"),
    (read.end_of_year, r"(?:am )?ende des jahres|zum jahresende", "ende jahresende"),
    (read.holiday, r"{holiday} {year}"),
    (read.holiday, r"{holiday} {of_year} jahres"),
    (read.holiday, r"{which} {holiday}"),
    (read.holiday, r"{holiday}"),
    (read.quarter, r"{ordinal} quartal(?: des jahres)? {year}", "quartal"),
    (read.quarter, r"{ordinal} quartal {of_year} jahres", "quartal"),
    (read.year, r"(?:dem |des )?jahre?s? {year}", "jahr jahre jahres"),
    (read.bare_year, r"{year}{uncounted}"),
    (read.year_range, r"{year}\s?[-–—]\s?{last_year}"),
    (read.decade, r"(?P<decade>(?:1[5-9]|20)\d0)er[ns]?(?:[\s-]jahren?)?", "er ern ers"),
    (read.decade, r"(?<=(?:den|die|der)\x20)(?P<decade>[2-9]0)er[ns]?(?:[\s-]jahren?)?", "er ern ers"),
    (read.decade, r"(?<=(?:den|die|der)\x20){decade}n?(?:[\s-]?jahren?)?"),
)  # fmt: skip

GERMAN: Final = DateLanguage(WORDS, PREPOSITIONS, RULES)
