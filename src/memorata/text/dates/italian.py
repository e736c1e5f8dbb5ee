"""How Italian names a time: data for :mod:`memorata.text.dates`."""

from __future__ import annotations

from typing import Final

from memorata.text.dates.grammar import Grammar
from memorata.text.dates.language import Prepositions, Vocabulary, forms, spelled, table

WORDS: Final = Vocabulary(
    month=table("gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto",
                "settembre", "ottobre", "novembre", "dicembre", first=1),
    weekday=table("lunedì,lunedi", "martedì,martedi", "mercoledì,mercoledi", "giovedì,giovedi",
                  "venerdì,venerdi", "sabato", "domenica"),
    season=table("primavera", "estate", "autunno", "inverno"),
    holiday={**spelled("natale", 1225), **spelled("vigilia di natale", 1224), **spelled("capodanno", 101),
             **spelled("san silvestro", 1231), **spelled("ferragosto", 815), **spelled("san valentino", 214),
             **spelled("halloween", 1031)},
    fixed={**spelled("l'altro ieri,altro ieri,avantieri", -2), **spelled("ieri", -1),
           **spelled("oggi,stamattina,stasera,stanotte,questa mattina,questa sera", 0),
           **spelled("domani", 1), **spelled("dopodomani", 2)},
    number={**table("un,una,uno", "due,un paio di", "tre,alcuni,alcune,qualche,pochi,poche",
                    "quattro,parecchi,diversi,diverse", "cinque", "sei", "sette", "otto", "nove", "dieci",
                    "undici", "dodici", "tredici", "quattordici", "quindici", "sedici", "diciassette",
                    "diciotto", "diciannove", "venti", first=1),
            **spelled("trenta", 30), **spelled("quaranta", 40), **spelled("cinquanta", 50),
            **spelled("cento", 100)},
    ordinal={},
    which={**spelled("scorso,scorsa,passato,passata,precedente", -1), **spelled("questo,questa,quest'", 0),
           **spelled("prossimo,prossima", 1)},
    decade={},
    units=forms(day="giorno,giorni", week="settimana,settimane", month="mese,mesi", year="anno,anni",
                weekend="fine settimana,weekend,week-end", quarter="trimestre", decade="decennio,decenni"),
    counted=r"per cento|persone|euro|dollari|metri|chilometri|km|kg|volte|giorni|anni|ore|minuti|pagine",
    denial=r"non|mai|nulla|niente",
)  # fmt: skip
PREPOSITIONS: Final = Prepositions(
    licences={**dict.fromkeys(("a", "ad", "in", "di", "verso"), "month"), "nel": "year month", "a natale": "",
              **dict.fromkeys(("durante", "per tutto"), "month year season holiday weekday"),
              **dict.fromkeys(("di", "questo", "lo"), "weekday"), "per": "holiday",
              "a": "month holiday"},
    bounds=forms(since="da,dal,a partire da,a partire dal", before="prima di,prima del",
                 after="dopo,dopo il", until="fino a,fino al,fino ad"),
    ranges={"tra": "e|e il", "fra": "e|e il", "da": "a|ad", "dal": "al|all'"},
    joins="a|al|-|–|—",
    lists="e|o|,|e a|o a",
    articles="il|lo|la|i|le",
    parts={**spelled("inizio,all'inizio di,inizio di,inizi di,inizi del", 0),
           **spelled("metà,metà di,a metà di", 1), **spelled("fine,fine di,alla fine di,alla fine del", 2)},
    measures=r"non|poco|appena|molto|ore|minuti",
)  # fmt: skip
ITALIAN: Final = Grammar(
    recently="recentemente|di recente|ultimamente|l'altro giorno|in questi giorni|poco fa",
    ago=(r"{number} {unit} fa", r"circa {number} {unit} fa"),
    ahead=(r"(?:tra|fra) {number} {unit}",),
    stretch=(r"(?:gli|le|negli|nelle) (?:ultimi|ultime|scorsi|scorse) {number} {unit}",),
    of=r"(?: di| del)?\s{1,3}",
    day=r"(?:º)?",
    day_ranges=(r"dal {day} al {last} {month}", r"tra il {day} e il {last} {month}",
                r"{day}\s?[-–—]\s?{last} {month}"),
    weekend="fine settimana|weekend|week-end",
    years="l'anno|anno|dell'anno|nell'anno",
    decades=r"(?:gli )?anni (?P<decade>(?:1[5-9]|20)?[2-9]0)",
    year_start=r"(?:all')?inizio (?:dell'anno|anno|d'anno)",
    year_end=r"(?:alla )?fine (?:dell'anno|anno|d'anno)",
    parts_of_day="mattina|pomeriggio|sera|notte",
).language(WORDS, PREPOSITIONS)  # fmt: skip
