"""How Chinese, Japanese and Korean name a time: data for :mod:`memorata.text.dates`.

Words are not told apart by spaces, so that a rule may match inside a run of characters, and what opens a
phrase to one side stands behind it: 五月以来, 2020年から, 3월부터. The characters of a text stand among its words,
and the triggers of the rules are single characters.
"""

from __future__ import annotations

from typing import Final

from memorata.text.dates import readers as read
from memorata.text.dates.language import DateLanguage, Prepositions, Rule, Vocabulary, forms, spelled, table
from memorata.text.dates.readers import Reader

_DIGITS: Final = "一二三四五六七八九"
_NUMERALS: Final = {
    **{digit: value for value, digit in enumerate(_DIGITS, 1)}, "十": 10, "二十": 20, "三十": 30, "三十一": 31,
    **{f"十{digit}": 10 + value for value, digit in enumerate(_DIGITS, 1)},
    **{f"二十{digit}": 20 + value for value, digit in enumerate(_DIGITS, 1)},
}  # fmt: skip
_DAY: Final = rf"(?P<day>3[01]|[12]\d|0?[1-9]|三十一?|二?十[{_DIGITS}]?|二十[{_DIGITS}]?|[{_DIGITS}])"
_LEFT: Final = r"(?<!\d)(?<!\d[.,:])"
_RIGHT: Final = r"(?!\d)"


def _months(character: str, *, numerals: bool) -> dict[str, int]:
    """Return the months by figures, and by numerals where a language has them."""
    months = {f"{number}{character}": number for number in range(1, 13)}
    if numerals:
        months |= {f"{numeral}{character}": value for numeral, value in _NUMERALS.items() if value <= 12}
    return months


def _bounded(rules: tuple[Rule, ...], **endings: str) -> tuple[Rule, ...]:
    """Return rules whose phrase is followed by what opens it to one side, and the rules themselves."""
    opened: list[Rule] = []
    for bound, words in endings.items():
        for reader, pattern, *triggers in rules:
            opened.append((read.bounded(reader, bound), rf"{pattern}\s?(?:{words})", *triggers))  # type: ignore[arg-type]
    return (*opened, *rules)


def _sure(reader: Reader) -> Reader:
    return read.surely(reader)


_NO_PREPOSITIONS: Final = "(?!)"


def _prepositions(joins: str) -> Prepositions:
    return Prepositions({}, {}, {}, joins, _NO_PREPOSITIONS, _NO_PREPOSITIONS, {}, _NO_PREPOSITIONS)


_CHINESE: Final = Vocabulary(
    month=_months("月", numerals=True),
    weekday={
        f"{week}{name}": value
        for week in ("星期", "周", "週", "礼拜", "禮拜")
        for name, value in table("一", "二", "三", "四", "五", "六", "日,天").items()
    },
    season=table("春天,春季", "夏天,夏季,暑假", "秋天,秋季", "冬天,冬季"),
    holiday={**spelled("圣诞节,聖誕節,圣诞", 1225), **spelled("元旦", 101), **spelled("国庆节,國慶節,国庆", 1001),
             **spelled("情人节,情人節", 214), **spelled("劳动节,勞動節", 501), **spelled("平安夜", 1224)},
    fixed={**spelled("大前天", -3), **spelled("前天", -2), **spelled("昨天,昨晚,昨日", -1),
           **spelled("今天,今晚,今早,今日", 0), **spelled("明天,明早,明晚,明日", 1), **spelled("后天,後天", 2)},
    number={**_NUMERALS, **spelled("两,兩", 2), **spelled("几,幾", 3), **spelled("半", 1)},
    ordinal={},
    which={**spelled("上个,上個,上,去,前一个", -1), **spelled("这个,這個,这,這,本,今", 0),
           **spelled("下个,下個,下,明", 1)},
    decade={},
    units=forms(day="天,日", week="周,週,星期,礼拜,禮拜,个星期,個星期,个礼拜", month="月,个月,個月", year="年",
                weekend="周末,週末", quarter="季度"),
    boundaries=(_LEFT, _RIGHT),
)  # fmt: skip
_CHINESE_DATES: Final[tuple[Rule, ...]] = (
    (read.day, rf"{{year}}年\s?{{month}}份?\s?{_DAY}[日号號]", "月"),
    (read.day, rf"{{of_year}}年\s?{{month}}份?\s?{_DAY}[日号號]", "月"),
    (_sure(read.day), rf"{{month}}份?\s?{_DAY}[日号號]", "月"),
    (_sure(read.month), r"{year}年\s?{month}份?", "月"),
    (_sure(read.month), r"{of_year}年\s?{month}份?", "月"),
    (_sure(read.month), r"{month}份?(?![的]?[日号號天])", "月"),
    (read.day_of_month, rf"{{which}}(?P<unit>月)\s?{_DAY}[日号號]", "月"),
    (_sure(read.season), r"{year}年的?{season}", "春 夏 秋 冬 暑"),
    (_sure(read.season), r"{of_year}年的?{season}", "春 夏 秋 冬 暑"),
    (_sure(read.holiday), r"{holiday}"),
    (read.year, r"{year}年"),
)
CHINESE: Final = DateLanguage(
    _CHINESE,
    _prepositions("到|至|-|–|—|~|～|和"),
    (
        (read.fixed, r"{fixed}(?:早上|上午|中午|下午|晚上|夜里|凌晨)?", "昨 今 明 前 后 後"),
        (read.recently, r"最近(?!的?{number})|近来|近期|前几天|前些天", "近 前"),
        (read.ago, r"(?<![哪某每]){number}\s?{unit}(?:之前|以前|前)", "前"),
        (read.half_year_ago, r"半年(?:之前|以前|前)", "前"),
        (read.ahead, r"(?<![哪某每]){number}\s?{unit}(?:之后|之後|以后|以後|后|後)", "后 後"),
        (read.stretch, r"(?:最近|过去|過去|近)的?{number}\s?{unit}", "近 过 過"),
        (read.which_unit, r"{which}{unit}", "上 去 这 這 本 今 下 明 前"),
        (read.weekday_of_week, r"{which}个?{weekday}", "星 周 週 礼 禮"),
        (_sure(read.weekday), r"{weekday}", "星 周 週 礼 禮"),
        (read.start_of_year, r"(?:{which}年)?年?(?:年初|年头)", "初 头"),
        (read.end_of_year, r"(?:{which}年)?年?(?:年底|年末|年终)", "底 末 终"),
        *_bounded(_CHINESE_DATES, since="以来|以來|起|开始|至今", before="之前|以前", after="之后|以后|之後"),
    ),
)

_JAPANESE: Final = Vocabulary(
    month=_months("月", numerals=True),
    weekday=table("月曜日,月曜", "火曜日,火曜", "水曜日,水曜", "木曜日,木曜", "金曜日,金曜", "土曜日,土曜", "日曜日,日曜"),
    season=table("春", "夏", "秋", "冬"),
    holiday={**spelled("クリスマス", 1225), **spelled("クリスマスイブ", 1224), **spelled("元日,元旦", 101),
             **spelled("大晦日", 1231), **spelled("バレンタイン,バレンタインデー", 214), **spelled("ハロウィン", 1031)},
    fixed={**spelled("一昨日,おととい", -2), **spelled("昨日,昨夜,昨晩,きのう", -1),
           **spelled("今日,今朝,今夜,今晩,きょう", 0), **spelled("明日,あした", 1), **spelled("明後日,あさって", 2)},
    number={**_NUMERALS, **spelled("数,何", 3)},
    ordinal={},
    which={**spelled("先々,前の", -1), **spelled("先,昨,去,前", -1), **spelled("今,本,この", 0),
           **spelled("来,次の,翌", 1)},
    decade={},
    units=forms(day="日,日間", week="週,週間", month="月,か月,ヶ月,カ月,ヵ月,か月間,ヶ月間", year="年,年間",
                weekend="週末", quarter="四半期"),
    boundaries=(_LEFT, _RIGHT),
)  # fmt: skip
_JAPANESE_DATES: Final[tuple[Rule, ...]] = (
    (read.day, rf"{{year}}年\s?{{month}}\s?{_DAY}日", "月"),
    (read.day, rf"{{of_year}}年の?\s?{{month}}\s?{_DAY}日", "月"),
    (_sure(read.day), rf"{{month}}\s?{_DAY}日", "月"),
    (_sure(read.month), r"{year}年\s?{month}(?!曜)", "月"),
    (_sure(read.month), r"{of_year}年の?\s?{month}(?!曜)", "月"),
    (_sure(read.month), r"{month}(?!曜)", "月"),
    (read.day_of_month, rf"{{which}}(?P<unit>月)の?\s?{_DAY}日", "月"),
    (_sure(read.season), r"{year}年の?{season}", "春 夏 秋 冬"),
    (_sure(read.season), r"{of_year}年の?{season}", "春 夏 秋 冬"),
    (_sure(read.holiday), r"{holiday}", "ク 元 大 バ ハ"),
    (read.year, r"{year}年"),
)
JAPANESE: Final = DateLanguage(
    _JAPANESE,
    _prepositions("から|-|–|—|~|～|〜"),
    (
        (read.fixed, r"{fixed}", "昨 今 明 お き あ"),
        (read.recently, r"最近|近頃|先日|この間|このあいだ", "近 先 間 い"),
        (read.ago, r"{number}\s?{unit}前", "前"),
        (read.half_year_ago, r"半年前", "前"),
        (read.ahead, r"{number}\s?{unit}後", "後"),
        (read.stretch, r"(?:この|ここ|過去|直近の?){number}\s?{unit}", "こ 過 直"),
        (read.which_unit, r"{which}(?P<unit>週末|週|月|年|四半期)(?!\d)", "先 昨 去 前 今 本 来 次 翌 こ"),
        (read.weekday_of_week, r"{which}週の?{weekday}", "曜"),
        (read.weekday, r"{which}{weekday}", "曜"),
        (_sure(read.weekday), r"{weekday}", "曜"),
        (read.start_of_year, r"(?:{which}年の?)?(?:年初|年始|年の初め|初め頃)", "初 始"),
        (read.end_of_year, r"(?:{which}年の?)?(?:年末|年の終わり)", "末 終"),
        *_bounded(_JAPANESE_DATES, since="から|以来|以降", before="より前|以前|の前", after="の後|より後"),
    ),
)

_KOREAN: Final = Vocabulary(
    month=_months("월", numerals=False),
    weekday=table("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"),
    season=table("봄", "여름", "가을", "겨울"),
    holiday={**spelled("크리스마스,성탄절", 1225), **spelled("새해 첫날,신정", 101), **spelled("어린이날", 505),
             **spelled("광복절", 815), **spelled("핼러윈", 1031)},
    fixed={**spelled("그저께,그제", -2), **spelled("어제,어젯밤", -1), **spelled("오늘,오늘밤,오늘 아침", 0),
           **spelled("내일", 1), **spelled("모레", 2)},
    number={**table("한,일", "두,이", "세,석,삼,몇", "네,사", "다섯,오", "여섯,육", "일곱,칠", "여덟,팔", "아홉,구", "열,십",
                    first=1), **spelled("하루", 1), **spelled("이틀", 2), **spelled("사흘", 3)},
    ordinal={},
    which={**spelled("지난,저번,작", -1), **spelled("이번,금,올", 0), **spelled("다음,오는,내", 1)},
    decade={},
    units=forms(day="일,날", week="주,주일,주간", month="달,개월", year="년,해", weekend="주말", quarter="분기"),
    boundaries=(r"(?<![\w])", _RIGHT),
)  # fmt: skip
_KOREAN_DATES: Final[tuple[Rule, ...]] = (
    (read.day, r"{year}년\s?{month}\s?{day}일", "월"),
    (_sure(read.day), r"{month}\s?{day}일", "월"),
    (_sure(read.month), r"{year}년\s?{month}(?!요일)", "월"),
    (_sure(read.month), r"{which}(?:년|해)\s?{month}(?!요일)", "월"),
    (_sure(read.month), r"{month}(?!요일)", "월"),
    (_sure(read.season), r"{year}년\s?{season}", "봄 여 가 겨"),
    (_sure(read.season), r"{which}\s?{season}", "봄 여 가 겨"),
    (_sure(read.holiday), r"{holiday}", "크 성 새 신 어 광 핼"),
    (read.year, r"{year}년"),
)
KOREAN: Final = DateLanguage(
    _KOREAN,
    _prepositions("부터|에서|-|–|—|~"),
    (
        (read.fixed, r"{fixed}(?: (?:아침|점심|저녁|밤|오전|오후))?(?!\w요일)", "그 어 오 내 모"),
        (read.recently, r"최근(?!\s?{number})|요즘|얼마 전|며칠 전", "최 요 얼 며"),
        (read.ago, r"{number}\s?{unit}\s?전", "전"),
        (read.days_ago, r"(?P<number>하루|이틀|사흘)\s?전", "전"),
        (read.half_year_ago, r"반년 전", "전"),
        (read.ahead, r"{number}\s?{unit}\s?(?:후|뒤)", "후 뒤"),
        (read.stretch, r"(?:지난|최근)\s?{number}\s?{unit}(?!\s?전)", "지 최"),
        (
            read.which_unit,
            r"{which}\s?(?P<unit>주말|주|달|해|년|분기)(?!\s?{weekday})",
            "지 저 작 이 금 올 다 오 내",
        ),
        (read.weekday_of_week, r"{which}\s?주\s?{weekday}", "요"),
        (read.weekday, r"{which}\s?{weekday}", "요"),
        (_sure(read.weekday), r"{weekday}", "요"),
        (read.start_of_year, r"(?:{which}(?:년|해)\s?)?연초", "초"),
        (read.end_of_year, r"(?:{which}(?:년|해)\s?)?연말", "말"),
        *_bounded(_KOREAN_DATES, since="부터|이후로|이래", before="이전|전까지|전에", after="이후|후에"),
    ),
)
