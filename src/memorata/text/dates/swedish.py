"""How Swedish names a time: data for :mod:`memorata.text.dates`.

The last of a season or weekday is a word of its own: «i somras», «i måndags».
"""

from __future__ import annotations

from typing import Final

from memorata.text.dates import readers as read
from memorata.text.dates.grammar import Grammar
from memorata.text.dates.language import DateLanguage, Prepositions, Vocabulary, forms, spelled, table

WORDS: Final = Vocabulary(
    month=table("januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti", "september",
                "oktober", "november", "december", first=1),
    weekday=table("måndag,måndags,måndagen", "tisdag,tisdags,tisdagen", "onsdag,onsdags,onsdagen",
                  "torsdag,torsdags,torsdagen", "fredag,fredags,fredagen", "lördag,lördags,lördagen",
                  "söndag,söndags,söndagen"),
    season=table("våren,vår,våras", "sommaren,sommar,somras", "hösten,höst,höstas",
                 "vintern,vinter,vintras"),
    holiday={**spelled("jul,julen,juldagen", 1225), **spelled("julafton", 1224),
             **spelled("nyårsafton", 1231), **spelled("nyår,nyårsdagen", 101), **spelled("halloween", 1031)},
    fixed={**spelled("i förrgår,förrgår", -2), **spelled("igår,i går,igår kväll", -1),
           **spelled("idag,i dag,ikväll,i kväll,i morse", 0), **spelled("imorgon,i morgon", 1),
           **spelled("i övermorgon,övermorgon", 2)},
    number={**table("en,ett", "två,ett par", "tre,några", "fyra,flera", "fem", "sex", "sju", "åtta", "nio",
                    "tio", "elva", "tolv", "tretton", "fjorton", "femton", "sexton", "sjutton", "arton", "nitton",
                    "tjugo", first=1),
            **spelled("trettio", 30), **spelled("fyrtio", 40), **spelled("femtio", 50),
            **spelled("hundra", 100)},
    ordinal={},
    which={**spelled("förra,föregående", -1), **spelled("denna,den här,det här,detta", 0),
           **spelled("nästa,kommande", 1)},
    decade={},
    units=forms(day="dag,dagar,dagen,dagarna", week="vecka,veckan,veckor,veckorna",
                month="månad,månaden,månader,månaderna", year="år,året,åren", weekend="helg,helgen",
                quarter="kvartal,kvartalet", decade="årtionde,årtiondet"),
    counted=r"procent|personer|kronor|euro|meter|kilometer|km|kg|gånger|dagar|år|timmar|minuter|sidor",
    denial=r"inte|aldrig|ingen|inget",
)  # fmt: skip
PREPOSITIONS: Final = Prepositions(
    licences={"i": "month holiday", "under": "month year season holiday weekday", "omkring": "month year",
              "på": "weekday", "vid": "holiday", "år": "year"},
    bounds=forms(since="sedan,från och med", before="före,innan", after="efter",
                 until="till och med,fram till"),
    ranges={"mellan": "och", "från": "till|till och med"},
    joins="till|-|–|—",
    lists="och|eller|,|och i|eller i",
    articles="den|det",
    parts={**spelled("början av", 0), **spelled("mitten av", 1), **spelled("slutet av", 2)},
    measures=r"inte|strax|kort|länge|timmar|minuter",
)  # fmt: skip
_GRAMMAR: Final = Grammar(
    recently="nyligen|häromdagen|på sistone|den senaste tiden",
    ago=(r"för {number} {unit} sedan", r"för {number} {unit} sen"),
    ahead=(r"om {number} {unit}",),
    stretch=(r"(?:de )?(?:senaste|sista) {number} {unit}",),
    of=r"\s{1,3}",
    day=r"(?::?[ea])?",
    day_ranges=(r"från {day} till {last} {month}", r"mellan {day} och {last} {month}",
                r"{day}\s?[-–—]\s?{last} {month}"),
    weekend="helgen",
    years="år|året",
    decades=r"(?P<decade>(?:1[5-9]|20)?[2-9]0)-tal(?:et)?",
    year_start=r"(?:i )?början av året",
    year_end=r"(?:i )?slutet av året",
    parts_of_day="morse|morgon|kväll|eftermiddag|natt",
)  # fmt: skip
_PLAIN: Final = _GRAMMAR.language(WORDS, PREPOSITIONS)
SWEDISH: Final = DateLanguage(
    WORDS,
    PREPOSITIONS,
    (
        (read.last_season, r"i (?P<season>våras|somras|höstas|vintras)", "våras somras höstas vintras"),
        (
            read.last_weekday,
            r"i (?P<weekday>(?:mån|tis|ons|tors|fre|lör|sön)dags)",
            "måndags tisdags onsdags torsdags fredags lördags söndags",
        ),
        (read.last_year, r"i fjol", "fjol"),
        (read.this_year, r"i år", "år"),
        *_PLAIN.rules,
    ),
)
