"""How Dutch and Swedish name a time: data for :mod:`memorata.text.dates`.

In Swedish the last of a season or weekday is a word of its own: «i somras», «i måndags».
"""

from __future__ import annotations

from typing import Final

from memorata.text.dates import readers as read
from memorata.text.dates.grammar import Grammar
from memorata.text.dates.language import DateLanguage, Prepositions, Vocabulary, forms, spelled, table

_DUTCH_WORDS: Final = Vocabulary(
    month=table("januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september",
                "oktober", "november", "december", first=1),
    weekday=table("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"),
    season=table("lente,voorjaar", "zomer", "herfst,najaar", "winter"),
    holiday={**spelled("kerstmis,kerst", 1225), **spelled("kerstavond", 1224), **spelled("nieuwjaar", 101),
             **spelled("oudejaarsavond,oud en nieuw", 1231), **spelled("koningsdag", 427),
             **spelled("sinterklaas", 1205), **spelled("halloween", 1031)},
    fixed={**spelled("eergisteren", -2), **spelled("gisteren,gisteravond,gisternacht", -1),
           **spelled("vandaag,vanavond,vanochtend,vanmiddag,vannacht", 0), **spelled("morgen", 1),
           **spelled("overmorgen", 2)},
    number={**table("een,één", "twee,een paar", "drie,enkele,enige", "vier,verschillende", "vijf", "zes",
                    "zeven", "acht", "negen", "tien", "elf", "twaalf", "dertien", "veertien", "vijftien", "zestien",
                    "zeventien", "achttien", "negentien", "twintig", first=1),
            **spelled("dertig", 30), **spelled("veertig", 40), **spelled("vijftig", 50),
            **spelled("honderd", 100)},
    ordinal={},
    which={**spelled("vorige,vorig,afgelopen,laatste", -1), **spelled("deze,dit", 0),
           **spelled("volgende,volgend,komende,komend", 1)},
    decade={},
    units=forms(day="dag,dagen", week="week,weken", month="maand,maanden", year="jaar,jaren",
                weekend="weekend,weekeinde", quarter="kwartaal", decade="decennium,decennia"),
    counted=r"procent|mensen|personen|euro|dollar|meter|kilometer|km|kg|keer|dagen|jaar|uur|minuten|pagina's",
    denial=r"niet|nooit|geen|niets",
)  # fmt: skip
_DUTCH_PREPOSITIONS: Final = Prepositions(
    licences={**dict.fromkeys(("in", "rond", "sinds"), "month year"), "in de maand": "month",
              **dict.fromkeys(("tijdens", "gedurende"), "month year season holiday weekday"),
              "op": "weekday day", "met": "holiday"},
    bounds=forms(since="sinds,vanaf", before="voor,vóór", after="na", until="tot,tot en met"),
    ranges={"tussen": "en", "van": "tot|tot en met|t/m", "vanaf": "tot"},
    joins="tot|tot en met|t/m|-|–|—",
    lists="en|of|,|en in|of in",
    articles="de|het",
    parts={**spelled("begin", 0), **spelled("midden,half,medio", 1), **spelled("eind,einde,eind van", 2)},
    measures=r"niet|kort|net|lang|uur|minuten",
)  # fmt: skip
DUTCH: Final = Grammar(
    recently="onlangs|laatst|recentelijk|pas geleden|de laatste tijd",
    ago=(r"{number} {unit} geleden",),
    ahead=(r"over {number} {unit}",),
    stretch=(r"(?:de )?(?:afgelopen|laatste|voorbije) {number} {unit}",),
    of=r"\s{1,3}",
    day=r"(?:e|de|ste)?",
    day_ranges=(r"van {day} tot (?:en met )?{last} {month}", r"tussen {day} en {last} {month}",
                r"{day}\s?[-–—]\s?{last} {month}"),
    weekend="weekend|weekeinde",
    years="het jaar|jaar",
    decades=r"(?:de )?jaren (?P<decade>(?:1[5-9]|20)?[2-9]0)",
    year_start=r"(?:aan het )?begin van het jaar",
    year_end=r"(?:aan het )?(?:eind|einde) van het jaar",
    parts_of_day="ochtend|middag|avond|nacht",
    not_fixed=r"(?<!goede\x20)(?<!elke\x20)(?<!de\x20)",
).language(_DUTCH_WORDS, _DUTCH_PREPOSITIONS)  # fmt: skip

_SWEDISH_WORDS: Final = Vocabulary(
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
_SWEDISH_PREPOSITIONS: Final = Prepositions(
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
_PLAIN: Final = _GRAMMAR.language(_SWEDISH_WORDS, _SWEDISH_PREPOSITIONS)
SWEDISH: Final = DateLanguage(
    _SWEDISH_WORDS,
    _SWEDISH_PREPOSITIONS,
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
