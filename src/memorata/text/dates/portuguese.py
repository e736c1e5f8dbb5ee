"""How Portuguese names a time: data for :mod:`memorata.text.dates`."""

from __future__ import annotations

from typing import Final

from memorata.text.dates.grammar import Grammar
from memorata.text.dates.language import Prepositions, Vocabulary, forms, spelled, table

WORDS: Final = Vocabulary(
    month=table("janeiro", "fevereiro", "março,marco", "abril", "maio", "junho", "julho", "agosto",
                "setembro", "outubro", "novembro", "dezembro", first=1),
    weekday=table("segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira",
                  "sábado,sabado", "domingo"),
    season=table("primavera", "verão", "outono", "inverno"),
    holiday={**spelled("natal", 1225), **spelled("véspera de natal", 1224), **spelled("ano novo", 101),
             **spelled("véspera de ano novo,réveillon", 1231), **spelled("halloween", 1031)},
    fixed={**spelled("anteontem", -2), **spelled("ontem", -1), **spelled("hoje,esta manhã,esta noite", 0),
           **spelled("amanhã", 1), **spelled("depois de amanhã", 2)},
    number={**table("um,uma", "dois,duas", "três,tres,alguns,algumas,uns,umas", "quatro,vários,várias",
                    "cinco", "seis", "sete", "oito", "nove", "dez", "onze", "doze", "treze", "catorze,quatorze",
                    "quinze", "dezasseis,dezesseis", "dezassete,dezessete", "dezoito", "dezanove,dezenove",
                    "vinte", first=1),
            **spelled("trinta", 30), **spelled("quarenta", 40), **spelled("cinquenta", 50),
            **spelled("cem", 100)},
    ordinal={},
    which={**spelled("passado,passada,último,última,anterior", -1), **spelled("este,esta,neste,nesta", 0),
           **spelled("próximo,próxima,que vem,seguinte", 1)},
    decade={},
    units=forms(day="dia,dias", week="semana,semanas", month="mês,mes,meses", year="ano,anos",
                weekend="fim de semana,fins de semana", quarter="trimestre", decade="década,décadas"),
    counted=r"por cento|pessoas?|euros?|reais|dólares|metros?|quilômetros?|km|vezes|dias|anos|horas?|minutos?",
    denial=r"não|nunca|jamais|nada",
)  # fmt: skip
PREPOSITIONS: Final = Prepositions(
    licences={"em": "month year", "no mês de": "month", "por volta de": "month year",
              **dict.fromkeys(("durante", "todo o"), "month year season holiday weekday"),
              **dict.fromkeys(("na", "no"), "weekday holiday season")},
    bounds=forms(since="desde,a partir de", before="antes de,antes do,antes da",
                 after="depois de,depois do,depois da,após", until="até,até ao"),
    ranges={"entre": "e|e o", "de": "a|até", "desde": "até"},
    joins="a|até|-|–|—",
    lists="e|ou|,|e em|ou em",
    articles="o|a|os|as",
    parts={**spelled("início de,início do,começo de,começo do,princípios de", 0),
           **spelled("meados de,meio de", 1), **spelled("final de,final do,fim de,fim do,finais de", 2)},
    measures=r"não|pouco|logo|muito|horas?|minutos?",
)  # fmt: skip
PORTUGUESE: Final = Grammar(
    recently="recentemente|ultimamente|há pouco|outro dia|estes dias",
    ago=(r"há (?:cerca de )?{number} {unit}(?: atrás)?", r"{number} {unit} atrás"),
    ahead=(r"daqui a {number} {unit}", r"dentro de {number} {unit}"),
    stretch=(r"(?:os|as|nos|nas) (?:últimos|últimas) {number} {unit}",),
    of=r"(?: de| do)?\s{1,3}",
    day=r"(?:º)?",
    day_ranges=(r"de {day} a {last} de {month}", r"entre {day} e {last} de {month}",
                r"{day}\s?[-–—]\s?{last} de {month}"),
    weekend="fim de semana",
    years="o ano|ano|no ano de|ano de",
    decades=r"(?:os )?anos (?P<decade>(?:1[5-9]|20)?[2-9]0)",
    year_start=r"(?:no )?(?:início|começo) do ano",
    year_end=r"(?:no )?(?:final|fim) do ano",
    parts_of_day="de manhã|à tarde|à noite|de madrugada",
).language(WORDS, PREPOSITIONS)  # fmt: skip
