"""How Spanish names a time: data for :mod:`memorata.text.dates`."""

from __future__ import annotations

from typing import Final

from memorata.text.dates.grammar import Grammar
from memorata.text.dates.language import Prepositions, Vocabulary, forms, spelled, table

WORDS: Final = Vocabulary(
    month=table("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto",
                "septiembre,setiembre", "octubre", "noviembre", "diciembre", first=1),
    weekday=table("lunes", "martes", "miércoles,miercoles", "jueves", "viernes", "sábado,sabado", "domingo"),
    season=table("primavera", "verano", "otoño", "invierno"),
    holiday={**spelled("navidad", 1225), **spelled("nochebuena", 1224), **spelled("nochevieja", 1231),
             **spelled("año nuevo", 101), **spelled("san valentín", 214), **spelled("halloween", 1031)},
    fixed={**spelled("anteayer,antes de ayer", -2), **spelled("ayer,anoche", -1),
           **spelled("hoy,esta mañana,esta tarde,esta noche", 0), **spelled("mañana", 1),
           **spelled("pasado mañana", 2)},
    number={**table("un,una,uno", "dos,un par de", "tres,unos,unas,unos pocos,unas pocas",
                    "cuatro,varios,varias", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce", "trece", "catorce",
                    "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve", "veinte", first=1),
            **spelled("treinta", 30), **spelled("cuarenta", 40), **spelled("cincuenta", 50),
            **spelled("cien", 100)},
    ordinal={},
    which={**spelled("pasado,pasada,último,última,anterior", -1), **spelled("este,esta", 0),
           **spelled("próximo,próxima,que viene,siguiente", 1)},
    decade={},
    units=forms(day="día,días,dia,dias", week="semana,semanas", month="mes,meses", year="año,años",
                weekend="fin de semana,fines de semana", quarter="trimestre", decade="década,décadas"),
    counted=r"por ciento|personas?|euros?|dólares|metros?|kilómetros?|km|veces|días|años|horas?|minutos?|páginas?",
    denial=r"no|nunca|jamás|nada",
)  # fmt: skip
PREPOSITIONS: Final = Prepositions(
    licences={"en": "month year holiday", "en el mes de": "month", "hacia": "month year",
              **dict.fromkeys(("durante", "todo"), "month year season holiday weekday"),
              **dict.fromkeys(("el", "este"), "weekday")},
    bounds=forms(since="desde,a partir de", before="antes de,antes del", after="después de,después del",
                 until="hasta"),
    ranges={"entre": "y|y el", "de": "a", "del": "al", "desde": "hasta"},
    joins="a|al|hasta|-|–|—",
    lists="y|o|,|y en|o en",
    articles="el|la|los|las",
    parts={**spelled("principios de,principios del,comienzos de,comienzos del,inicios de,inicios del", 0),
           **spelled("mediados de,mediados del", 1),
           **spelled("finales de,finales del,fines de,fines del,fin de", 2)},
    measures=r"no|poco|justo|mucho|horas?|minutos?",
)  # fmt: skip
SPANISH: Final = Grammar(
    recently="recientemente|últimamente|hace poco|el otro día|estos días",
    ago=(r"hace (?:casi )?{number} {unit}", r"{number} {unit} atrás"),
    ahead=(r"dentro de {number} {unit}",),
    stretch=(r"(?:los|las|estos|estas) (?:últimos|últimas|pasados|pasadas) {number} {unit}",
             r"(?:los|las) {number} (?:últimos|últimas) {unit}"),
    of=r"(?: de| del)?\s{1,3}",
    day=r"(?:º|ro)?",
    day_ranges=(r"del {day} al {last} de {month}", r"entre el {day} y el {last} de {month}",
                r"{day}\s?[-–—]\s?{last} de {month}"),
    weekend="fin de semana",
    years="el año|año|del año",
    decades=r"(?:los )?años (?P<decade>(?:1[5-9]|20)?[2-9]0)",
    year_start=r"(?:a )?(?:principios|comienzos|inicios) de(?:l)? año",
    year_end=r"(?:a )?(?:finales|fines) de(?:l)? año",
    parts_of_day="por la mañana|por la tarde|por la noche|a mediodía",
    not_fixed=r"(?<!la\x20)(?<!de\x20)",
).language(WORDS, PREPOSITIONS)  # fmt: skip
