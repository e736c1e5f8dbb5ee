"""How Dutch names a time: data for :mod:`memorata.text.dates`."""

from __future__ import annotations

from typing import Final

from memorata.text.dates.grammar import Grammar
from memorata.text.dates.language import Prepositions, Vocabulary, forms, spelled, table

WORDS: Final = Vocabulary(
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
PREPOSITIONS: Final = Prepositions(
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
).language(WORDS, PREPOSITIONS)  # fmt: skip
