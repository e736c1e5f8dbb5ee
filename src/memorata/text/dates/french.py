"""How French names a time: data for :mod:`memorata.text.dates`."""

from __future__ import annotations

from typing import Final

from memorata.text.dates.grammar import Grammar
from memorata.text.dates.language import Prepositions, Vocabulary, forms, spelled, table

WORDS: Final = Vocabulary(
    month=table("janvier", "février,fevrier", "mars", "avril", "mai", "juin", "juillet", "août,aout",
                "septembre", "octobre", "novembre", "décembre,decembre", first=1),
    weekday=table("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    season=table("printemps", "été", "automne", "hiver"),
    holiday={**spelled("noël,noel", 1225), **spelled("réveillon de noël,veille de noël", 1224),
             **spelled("nouvel an,jour de l'an", 101), **spelled("saint-sylvestre", 1231),
             **spelled("saint-valentin", 214), **spelled("halloween", 1031)},
    fixed={**spelled("avant-hier", -2), **spelled("hier", -1),
           **spelled("aujourd'hui,ce matin,ce soir,cet après-midi", 0),
           **spelled("demain", 1), **spelled("après-demain", 2)},
    number={**table("un,une", "deux", "trois,quelques", "quatre,plusieurs", "cinq", "six", "sept", "huit",
                    "neuf", "dix", "onze", "douze", "treize", "quatorze", "quinze", "seize", "dix-sept",
                    "dix-huit", "dix-neuf", "vingt", first=1),
            **spelled("trente", 30), **spelled("quarante", 40), **spelled("cinquante", 50),
            **spelled("cent", 100)},
    ordinal={},
    which={**spelled("dernier,dernière,derniere,passé,passée,précédent,précédente", -1),
           **spelled("ce,cet,cette", 0), **spelled("prochain,prochaine", 1)},
    decade={},
    units=forms(day="jour,jours", week="semaine,semaines", month="mois", year="an,ans,année,années",
                weekend="week-end,week-ends,weekend", quarter="trimestre", decade="décennie"),
    counted=r"pour cent|personnes?|euros?|dollars?|mètres?|kilomètres?|km|fois|jours?|ans?|heures?|minutes?|pages?",
    past=r"a|ai|as|ont|avons|avez|était|étais|\w{2,}ait|\w{2,}aient",
    denial=r"pas|jamais|plus|rien",
)  # fmt: skip
PREPOSITIONS: Final = Prepositions(
    licences={**dict.fromkeys(("en", "dès", "vers"), "month year"), "au mois de": "month",
              **dict.fromkeys(("pendant", "durant"), "month year season holiday weekday"),
              **dict.fromkeys(("le", "ce", "du"), "weekday"), "à": "holiday"},
    bounds=forms(since="depuis,à partir de,à partir du", before="avant", after="après",
                 until="jusqu'à,jusqu'en,jusqu'au"),
    ranges={"entre": "et|et le", "de": "à", "du": "au", "depuis": "jusqu'à|jusqu'en"},
    joins="à|au|-|–|—",
    lists="et|ou|,|et en|ou en",
    articles="le|la|les",
    parts={**spelled("début,au début de,au début du,début de", 0), **spelled("mi,mi-,milieu de,milieu du", 1),
           **spelled("fin,à la fin de,à la fin du,fin de", 2)},
    measures=r"pas|peu|juste|longtemps|heures?|minutes?",
)  # fmt: skip
FRENCH: Final = Grammar(
    recently="récemment|dernièrement|l'autre jour|ces derniers temps|ces derniers jours",
    ago=(r"il y a {number} {unit}", r"il y a (?:environ|à peu près) {number} {unit}"),
    ahead=(r"dans {number} {unit}",),
    stretch=(r"(?:ces|les|des) {number} (?:derniers|dernières) {unit}",),
    of=r"\s{1,3}",
    day=r"(?:er)?",
    day_ranges=(r"du {day}(?:er)? au {last} {month}", r"entre le {day}(?:er)? et le {last} {month}",
                r"{day}\s?[-–—]\s?{last} {month}"),
    weekend="week-end|weekend",
    years="l'année|année",
    decades=r"(?:les )?années (?P<decade>(?:1[5-9]|20)?[2-9]0)",
    year_start=r"(?:au )?début (?:de l'année|d'année)",
    year_end=r"(?:à la )?fin (?:de l'année|d'année)",
    parts_of_day="matin|midi|après-midi|soir|nuit",
    question_seasons=("au", "en"),
    this=r"(?:-ci)?",
).language(WORDS, PREPOSITIONS)  # fmt: skip
