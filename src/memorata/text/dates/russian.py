"""How Russian names a time: data for :mod:`memorata.text.dates`.

Cases carry what prepositions carry elsewhere, so the tables hold every form that a rule can meet. Months are
written small: «Марта» is a name. Seasons stand alone for every year («летом мы купаемся»), so they need a
year, «прошлым» or «этим». Christmas is the Orthodox one, on 7 January.
"""

from __future__ import annotations

from typing import Final

from memorata.text.dates import readers as read
from memorata.text.dates.language import (
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
    r"процент\w*|градус\w*|метр\w*|километр\w*|км|кг|рубл\w*|долларов|евро|человек\w*|люд\w*|слов\w*|раза?|минут\w*|"
    r"час\w*|секунд\w*|дн\w+|день|недел\w*|месяц\w*|лет|шаг\w*|штук\w*|страниц\w*|очк\w*|строк\w*|калори\w*|голос\w*|"
    r"пользовател\w*|экземпляр\w*|тонн\w*|вольт|ватт|тысяч\w*"
)
_SOFT: Final = "ь|я|ю|е|ем"
_HARD: Final = "|а|у|е|ом"


WORDS: Final = Vocabulary(
    month=table(
        inflected("январ", _SOFT), inflected("феврал", _SOFT), inflected("март", _HARD),
        inflected("апрел", _SOFT),
        "май,мая,маю,мае,маем", inflected("июн", _SOFT), inflected("июл", _SOFT), inflected("август", _HARD),
        "сентябрь,сентября,сентябрю,сентябре,сентябрём,сентябрем",
        "октябрь,октября,октябрю,октябре,октябрём,октябрем",
        "ноябрь,ноября,ноябрю,ноябре,ноябрём,ноябрем",
        "декабрь,декабря,декабрю,декабре,декабрём,декабрем", first=1,
    ) | spelled("январём", 1) | spelled("февралём", 2),
    weekday=table(
        "понедельник,понедельника,понедельнику,понедельником", "вторник,вторника,вторнику,вторником",
        "среда,среду,среды,среде,средой", "четверг,четверга,четвергу,четвергом",
        "пятница,пятницу,пятницы,пятнице,пятницей", "суббота,субботу,субботы,субботе,субботой",
        "воскресенье,воскресенья,воскресенью,воскресеньем",
    ),
    season=table(
        "весной,весна,весну,весны,весне", "летом,лето,лета,лету,лете", "осенью,осень,осени",
        "зимой,зима,зиму,зимы,зиме",
    ),
    holiday={
        **spelled("рождество,рождества,рождеством", 107),
        **spelled("новый год,нового года,новым годом", 101),
        **spelled("новогоднюю ночь,новогодней ночи", 1231),
        **spelled("день победы,дня победы", 509),
        **spelled("хэллоуин,хэллоуина", 1031),
    },
    fixed={
        **spelled("позапозавчера", -3), **spelled("позавчера", -2),
        **spelled("вчера,вчерашний день,вчерашнего дня", -1),
        **spelled("сегодня", 0), **spelled("завтра", 1), **spelled("послезавтра", 2),
    },
    number={
        **table("один,одну,одна,одного,одной", "два,две,двух,пару,пара,парой",
                "три,трёх,трех,несколько,нескольких",
                "четыре,четырёх,четырех", "пять,пяти", "шесть,шести", "семь,семи", "восемь,восьми",
                "девять,девяти", "десять,десяти", "одиннадцать", "двенадцать", "тринадцать", "четырнадцать",
                "пятнадцать", "шестнадцать", "семнадцать", "восемнадцать", "девятнадцать",
                "двадцать", first=1),
        **spelled("тридцать", 30), **spelled("сорок", 40), **spelled("пятьдесят", 50), **spelled("сто", 100),
    },
    ordinal={
        **table(inflected("перв", "ый|ая|ое|ого|ой|ом|ую|ым"), inflected("втор", "ой|ая|ое|ого|ом|ую|ым"),
                "третий,третья,третье,третьего,третьей,третьем,третью,третьим",
                inflected("четвёрт четверт", "ый|ая|ое|ого|ой|ом|ую|ым"), first=1),
        **spelled(inflected("последн", "ий|яя|ее|его|ей|ем|юю|им"), -1),
        **{f"{digit}-{ending}": digit for digit in (1, 2, 3, 4) for ending in ("м", "й", "ом", "ем", "го")},
    },
    which={
        **spelled(inflected("прошл", "ый|ая|ое|ого|ой|ом|ую|ым|ых|ые|ыми|ому"), -1),
        **spelled(inflected("минувш", "ий|ая|ее|его|ей|ем|ую|им|их|ие"), -1),
        **spelled("этот,эта,это,этого,этой,этом,эту,этим,этих,эти,этому", 0),
        **spelled(inflected("следующ будущ", "ий|ая|ее|его|ей|ем|ую|им|их|ие|ему"), 1),
    },
    decade={
        word + ending: tens
        for word, tens in (("двадцат", 20), ("тридцат", 30), ("пятидесят", 50), ("шестидесят", 60),
                           ("семидесят", 70), ("восьмидесят", 80), ("девяност", 90), ("сороков", 40))
        for ending in ("ые", "ых", "ым")
    },
    units=forms(
        day="день,дня,дней,дню,дни", week="неделя,неделю,недели,неделе,недель,неделей",
        month="месяц,месяца,месяце,месяцев,месяцы,месяцу,месяцем", year="год,года,году,лет,годы,годом",
        weekend="выходные,выходных", quarter="квартал,квартале,квартала",
        decade="десятилетие,десятилетия,десятилетий,десятилетии",
    ),
    never_title=frozenset({"марта", "март", "марте", "мая", "август", "августа", "майя"}),
    counted=_COUNTED,
    past=r"\w+л[аио]?(?:сь|ся)?",
    denial="не|ни|никогда",
    ahead=r"(?<!\w)(?:будет|будут|буду|будем|будешь|будете|состоится)(?!\w)[^,;:.!?\n]*",
)  # fmt: skip

PREPOSITIONS: Final = Prepositions(
    licences={
        **dict.fromkeys(("в", "во"), "month quarter decade weekday holiday"),
        "на": "weekday holiday",
        **dict.fromkeys(("за", "около", "от", "в течение"), "month quarter decade"),
    },
    bounds=forms(since="с,со,начиная с", before="до", after="после", until="по,вплоть до"),
    ranges={"между": "и", **dict.fromkeys(("с", "со"), "по|до|-|–|—"), "от": "до"},
    joins="-|–|—",
    lists="и|или|,|и в|или в",
    articles="(?!)",
    parts={
        **spelled("начале,начала,начало", 0), **spelled("середине,середины,середину", 1),
        **spelled("конце,конца,конец", 2),
    },
    measures=r"час\w*|минут\w*|вечер\w*|утр\w+|сразу|вскоре|не",
)  # fmt: skip

_YEAR: Final = r"{year}(?:-?(?:го|м))?(?: года| году| год| гг?\.?(?!\w))?"
_DAY: Final = r"{day}(?:-?(?:го|е))?"
_OF_YEAR: Final = r"{of_year} года"
_AGO: Final = r" (?:тому )?назад"
# «Три недели и два дня назад» is not two days ago.
_NO_REST: Final = "".join(
    rf"(?<!{unit}\x20и\x20)"
    for unit in ("неделю", "недели", "недель", "месяц", "месяца", "месяцев", "год", "года", "лет")
)

RULES: Final[tuple[Rule, ...]] = (
    (read.fixed, r"{fixed}(?: (?:утром|днём|днем|вечером|ночью))?(?!-\w)"),
    (read.fixed, r"(?:утром|днём|днем|вечером|ночью) {fixed}"),
    (read.recently, r"недавно|на днях|в последнее время|в последние дни", "недавно днях время последние"),
    (read.ago, _NO_REST + r"{number} {unit}" + _AGO),
    (read.ago, _NO_REST + r"(?<!\d\x20)(?P<unit>неделю|месяц|год)" + _AGO, "назад"),
    (read.half_year_ago, r"полгода" + _AGO, "полгода"),
    (read.ahead, r"через {number} {unit}"),
    (read.ahead, r"через (?P<unit>неделю|месяц|год)", "через"),
    (read.stretch, r"(?:за |в )?последни[ехй] {number} {unit}"),
    (read.stretch, r"за последн(?:юю|ий|ее) {unit}"),
    (read.which_unit, r"(?!(?:\w+[ыи][ех]|эти|этих) (?!выходн)){which} {unit}"),
    (read.bare_weekend, r"выходные|выходных", "выходные выходных"),
    (read.weekday, r"{which} {weekday}"),
    (read.weekday, r"{weekday}(?! (?:обитания|разработки|общения|передачи|выполнения))"),
    (read.weekday_of_week, r"{weekday} (?:на )?{which} недел[еи]"),
    (read.weekday_of_week, r"{which} неделе в[о]? {weekday}"),
    (read.day, rf"{_DAY} {{month}},? {_YEAR}"),
    (read.day, rf"{_DAY} {{month}}"),
    (read.day, rf"{_DAY} {{month}} {_OF_YEAR}"),
    (read.day_range, rf"с[о]? {_DAY} (?:по|до) {{last}}(?:-?(?:го|е))? {{month}}(?: {_YEAR})?"),
    (read.day_range, rf"{_DAY}\s?[-–—]\s?{{last}} {{month}}(?: {_YEAR})?"),
    (read.day_range, rf"между {_DAY} и {{last}}(?:-?м)? {{month}}(?: {_YEAR})?"),
    (read.month, rf"{{month}},? {_YEAR}"),
    (read.month, rf"{{month}} {_OF_YEAR}"),
    (read.month, r"{which} {month}"),
    (read.month, r"{month}"),
    (read.week_of_month, rf"{{ordinal}} недел[яюеи] {{month}}(?: {_YEAR})?"),
    (read.season, rf"{{season}} {_YEAR}"),
    (read.season, rf"{{season}} {_OF_YEAR}"),
    (read.season, r"{which} {season}"),
    (read.season_of_question, r"(?P<season>весной|летом|осенью|зимой)", "весной летом осенью зимой"),
    (read.start_of_year, r"в начале (?:этого )?года", "начале"),
    (read.end_of_year, r"в конце (?:этого )?года", "конце"),
    (read.holiday, rf"{{holiday}} {_YEAR}"),
    (read.holiday, r"{which} {holiday}"),
    (read.holiday, r"{holiday}"),
    (read.quarter, rf"{{ordinal}} квартал(?:е|а|ом)? {_YEAR}", "квартал квартале квартала кварталом"),
    (read.quarter, rf"(?P<ordinal>[1-4]) квартал(?:е|а|ом)? {_YEAR}", "квартал квартале квартала кварталом"),
    (read.quarter, rf"{{ordinal}} квартал(?:е|а|ом)? {_OF_YEAR}", "квартал квартале квартала кварталом"),
    (read.year, r"{year}(?:-?(?:го|м))? (?:году|года|год|годом|г\.(?!\w))", "году года год годом г"),
    (read.bare_year, r"{year}{uncounted}"),
    (read.year_range, r"{year}\s?[-–—]\s?{last_year}(?: годах| годы| годов| гг\.?)?"),
    (read.decade, r"(?P<decade>(?:1[5-9]|20)\d0)-?(?:е|х|ые|ых)(?: год(?:ы|ах|ов))?"),
    (read.decade, r"(?P<decade>[2-9]0)-?(?:е|х|ые|ых)(?: год(?:ы|ах|ов))?"),
    (read.decade, r"{decade}(?: год(?:ы|ах|ов))?"),
)

RUSSIAN: Final = DateLanguage(WORDS, PREPOSITIONS, RULES)
