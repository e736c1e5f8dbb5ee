"""The words by which claims are compared: attributes, classes, polarity, change; in several languages.

A word ends in ``*`` if anything may follow it. English, German, Spanish, French, Chinese, and Russian where
:mod:`~memorata.dedupe.cue_words` has it. General words of a language, not those of any data set: what is
listed is a closed class (negations, pronouns, words of change), or one of the few attributes of which a
person or a thing has one value at a time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.cue_words import CHANGES, FIRST_PERSON, LIGHT, NEGATIONS, SLOTS, SPEAKER, SPEAKERS, WEEK

_ATTRIBUTES: Final = {
    "residence": "live lives living lived reside* based home flat apartment house relocat* moved wohn* "
    "lebt lebe leben "
    "gezogen umgezogen vive vivo vivir vivimos viven casa piso mud* habite* habitons vit vis vivons "
    "domicil* "
    "déménag* emménag* maison appartement 住 住在 家 家在 搬到 搬家 定居",
    "work": "work* job* employ* career* profession* occupation earns living arbeit* beruf* umgeschult "
    "trabaj* gana "
    "oficio emple* travaill* métier* boulot emploi 工作 上班 当 做 职业 一名 是做 任职",
    "partner": "married remarried spouse husband wife partner engaged fiancé* heirat* verheiratet ehemann "
    "ehefrau "
    "verlobt casad* casó casarse marid* espos* pareja marié* mariage mari époux épouse conjoint* dating "
    "girlfriend "
    "boyfriend novi* zusammen couple 结婚 老公 老婆 丈夫 妻子 男朋友 女朋友",
    "name": "name* called heiss* namens llam* nombre appel* nomm* prénom nom 叫 名字 名叫",
    "age": "age aged old turned jahre alt años edad ans âge cumpli* 岁 年龄 多大 年的",
    "birth": "born geboren nació naciste née né birthday geburtstag cumpleaños anniversaire 出生 出生在 "
    "生日",
    "favourite": "favourite* favorite* best liebling* bevorzug* favorit* préféré* preferid* 最喜欢 最爱",
    "preference": "prefer* bevorzug* lieber prefier* préfèr* 更喜欢 宁愿",
    "phone": "phone* number* telefon* nummer* handy teléfono número téléphone* numéro* 电话 号码 手机 微信",
    "mail": "email* e-mail correo courriel 邮箱",
    "address": "address* reach* adresse* dirección 地址",
    "secret": "password* passphrase pin passcode passwort kennwort contraseña clave 密码",
    "host": "server* host* ip port url endpoint domain gateway 服务器",
    "price": "cost* price* fee fees salary budget rent kostet kosten preis* miete gehalt cuesta precio "
    "alquiler sueldo "
    "coûte prix loyer salaire 价格 房租 工资 预算 月薪",
    "weight": "weigh* wiegt wiege gewicht pesa peso pèse poids 体重",
    "height": "height tall grösse mide taille 身高 个子",
    "time": "meeting* appointment* deadline* due dentist* flight* train wedding* interview* exam* "
    "lecture* starts start "
    "begins opens closes departs leaves arrives termin* besprech* treffen frist* beginnt flug hochzeit "
    "prüfung* "
    "cita reunión vuelo boda examen empieza rendez-vous réunion* vol mariage examen commence 会议 开会 "
    "约会 预约 "
    "航班 婚礼 考试",
    "shift": "shift* schicht* turno* nachtschicht frühschicht équipe 班次 夜班 早班",
    "holder": "boss manager ceo landlord* director supervisor chef chefin vorgesetzt* vermieter* jefe "
    "jefa patron* "
    "directeur directrice 老板 经理 上司 领导 导师",
    "school": "school* pupil student enrol* studies studying university college grammar schule schüler* "
    "studier* uni "
    "universität gymnasium escuela colegio estudi* universidad instituto école* étudi* lycée université "
    "学校 上学 大学 "
    "学的是 专业 读书",
    "diet": "diet eat eats eating cook cooks cooking vegetarian* vegan* ernähr* isst esse essen dieta "
    "come comer "
    "régime mange* manger 吃 素食 吃素",
    "car": "car cars drive drives driving drove vehicle auto wagen fährt fahre coche conduc* conduzco "
    "voiture* condui* 车 开车 车子",
    "origin": "hometown native originally stammt herkunft heimat natal origin* originaire 来自 老家 家乡 "
    "人 本地人 "
    "哪里人",
    "use": "use uses using nutzt nutze verwendet verwende benutzt usa uso utiliza utilise* 用 使用",
    "editor": "editor ide browser 编辑器 浏览器",
    "memory": "ram memory disk storage gb tb mb speicher arbeitsspeicher memoria mémoire 内存 硬盘",
    "state": "status version runs running läuft estado statut 版本 状态",
    "place": "located headquarter* office capital sitz büro hauptstadt oficina sede capitale bureau siège "
    "办公室 总部 首都",
    "gender": "male female 男的 女的 男生 女生 男孩 女孩",
    "where": "在 在哪",
    "frequency": "often times weekly daily oft mal veces fois 次 经常 一周 一星期 每星期 多久",
}  # fmt: skip
"""Attributes that have one value at a time, and the words that name them."""

_SEVERAL: Final = (
    "like likes liked love loves loved enjoy* fond keen speak* spoke visit* travel* been went go goes "
    "going bought buy buys "
    "own owns owned allergic play* know knows knew learn* read reads watch* met meet meets saw ordered "
    "spent sister* "
    "brother* sibling* friend* hobby hobbies mag mögen liebt gern spricht spreche besucht* kauft* gekauft "
    "kennt lernt "
    "spielt gesehen schwester bruder geschwister freund* gusta* encanta* habla* visit* viaj* compr* "
    "conoce* juega* "
    "hermano* hermana* amigo* aime* adore* parle* visité* voyag* acheté* connaît joue* frère* sœur* ami "
    "amis 喜欢 爱 会说 去过 "
    "买 认识 哥哥 姐姐 弟弟 妹妹 朋友 爱好 听 看 玩 会做"
)
"""Words that may be true of several things at once."""

_CLASSES: Final = {
    "meat": "meat fleisch carne viande 肉 | steak* beef pork ham bacon burger* sausage* chicken lamb rind* "
    "schwein* schnitzel "
    "wurst ternera cerdo pollo jamón filete bœuf porc poulet jambon 牛排 牛肉 猪肉 鸡肉",
    "fish": "fish fisch pescado poisson 鱼 | salmon tuna sushi lachs atún saumon",
    "alcohol": "alcohol* alkohol alcool* 酒 喝酒 | beer* wine* whisky whiskey vodka gin rum cocktail* bier* "
    "wein* schnaps "
    "cerveza* vino* bière* vin rhum 啤酒 白酒 红酒",
    "coffee": "coffee* kaffee café cafés 咖啡 | espresso latte cappuccino",
    "tea": "tea teas tee té thé thés 茶 |",
    "smoke": "smok* cigarette* rauch* zigarette* fum* cigarr* tabac 抽烟 吸烟 烟 |",
    "pets": "pet pets haustier* mascota* animal animaux 宠物 | dog dogs cat cats puppy kitten hund* katze* "
    "kater perro* perra "
    "gato* gata chien* chat chats chatte 狗 猫 小狗 小猫",
    "children": "child children kid kids kinder hijos enfant* 孩子 小孩 | son sons daughter* twins baby "
    "kind "
    "sohn tochter "
    "zwillinge hijo hija hijas fils fille* 儿子 女儿",
    "siblings": "sibling* geschwister 兄弟姐妹 | brother* sister* bruder brüder schwester* hermano* "
    "hermana* "
    "frère* sœur* "
    "哥哥 姐姐 弟弟 妹妹",
    "drive": "drive* driving drove licence license führerschein conduc* conducir carnet permis conduire "
    "开车 驾照 驾驶 | auto coche "
    "conduit voiture",
    "swim": "swim* swam schwimm* nadar nager nage 游泳 游 |",
    "fly": "fly flying flew plane* fliegen fliegt flog flugzeug volar vuela avión voler avion 飞机 坐飞机 |",
    "spicy": "spicy scharf picante épicé* 辣 吃辣 | chili pimenté",
    "work": "work works working job employ* arbeitet arbeiten trabaj* travaill* 工作 上班 |",
    "partner": "married verheiratet casad* marié* 结婚 | wife husband spouse wedding remarried geheiratet "
    "heiratet ehefrau "
    "ehemann casó marido esposa mari épouse 老公 老婆 丈夫 妻子",
    "hearing": "hear hears hearing hört hören gehör oye oír entend entendre 听力 听见 |",
    "come": "come comes coming attend* kommt kommen viene venir vient 参加 |",
}  # fmt: skip
"""Classes of things that somebody does, has or takes, or does not: names of the class, and of what is in it.

Who has no pets has no cat; who has no cat may have a dog."""

_LACKS: Final = {
    "meat": "vegetarian* vegan* vegetarier* veganer* vegetarian* végétarien* végane* 素食 吃素 素食者",
    "alcohol": "teetotal* sober abstinent abstemio abstinente 戒酒",
    "smoke": "non-smoker nonsmoker nichtraucher* 戒烟",
    "children": "childless kinderlos* 丁克",
    "partner": "single unmarried divorced widowed ledig geschieden verwitwet solter* divorciad* viud* "
    "célibataire* divorcé* "
    "veuf veuve 单身 未婚 离婚 还没结婚",
    "work": "retired unemployed jobless rentner* arbeitslos* pensioniert jubilad* retraité* chômage "
    "chômeur 退休 失业 辞职 找工作",
    "hearing": "deaf taub gehörlos sord* sourd* 聋",
}  # fmt: skip
"""Words that deny a class by themselves."""

_GOOD: Final = (
    "like likes liked love loves loved enjoy* adore* fond prefer* mag mögen liebt liebe gern gerne gusta* "
    "encanta* aime* adore* "
    "喜欢 爱 热爱 最爱"
)
_BAD: Final = (
    "hate* dislike* detest* loathe* hasst hasse verabscheu* ausstehen odia* detesta* aborrec* "
    "déteste* haïs haine 讨厌 厌烦 烦 恨"
)

_CHANGED: Final = (
    "now moved moving switched changed quit left became become stopped gave sold new cancelled canceled "
    "postponed "
    "rescheduled reopened instead anymore longer nowadays started remarried relocated retired resigned "
    "renamed replaced traded enrolled "
    "dropped split broke gone jetzt nun inzwischen mittlerweile neu* neuerdings umgezogen gezogen "
    "gewechselt wechselte geändert "
    "geworden umgeschult verlegt verschoben abgesagt aufgehört gekündigt verkauft getrennt ahora cambió "
    "cambiado mudó dejó "
    "dejado pasado aplazado vendió canceló cancelado vendí dejé désormais maintenant changé "
    "reporté* arrêté* quitté* vendu* "
    "annulé* déménagé dorénavant 现在 改到 换了 换 搬到 不再 已经不 辞职 改成 改为 取消 分手 戒 如今 目前 "
    "变成 新 "
    "actually correction correct"
)
_NEW: Final = "new neu* nuevo nueva nouveau nouvelle started joined actually 新"
"""Words of change that tell of one only where an attribute is named: "my new boss", but "new dishes"."""
_ENDED: Final = (
    "quit left stopped gave sold cancelled canceled dropped split broke gone resigned paid longer anymore "
    "gekündigt aufgehört "
    "verkauft getrennt abgesagt dejó dejado dejé vendió vendí canceló arrêté* quitté* vendu* annulé* "
    "辞职 分手 取消 戒 不再 "
    "已经不 离开 卖了"
)
_PAST: Final = (
    "formerly once previously lived ago früher damals ehemals einst antes anteriormente antiguamente "
    "autrefois jadis "
    "auparavant 以前 曾经 从前 当时 раньше"
)
_PLANNED: Final = (
    "will shall plan* planning hope* applied applying saving want* wants werde wird möchte plant quiere "
    "planea va voudrait "
    "veut prévoit 打算 想 要去 计划"
)
_NEVER: Final = "never nie niemals nunca jamás jamais 从不 从来 从未 没有过 никогда"
_NEGATIVE: Final = (
    "kein keine keinen keinem keiner nicht nie niemals ohne nunca jamás sin ningún ninguna tampoco ne pas "
    "jamais sans aucun "
    "aucune plus n' nothing nobody 不 没 没有 无 别 不是 不会 不能 不想 没什么 从不 还没 非"
)
_FUNCTION: Final = (
    "there you he she they him her his their it its who which what that's let via about than then when "
    "while because after "
    "before will would can could should may might must only mostly strictly other another some any every "
    "each both one ones "
    "er sie ihr ihre ihnen du dein wer was dass weil nach vor kann muss soll nur jeden jede jedes seit "
    "über um bis "
    "él ella ellos su sus el la los las lo le les se un una unos unas de del al a en con por para que y o "
    "es está están "
    "son fue ha han hay como muy más todo todos cada desde ser estar tiene tengo "
    "il elle ils elles son sa ses ce cette le la les l' d' qu' s' c' un une des du de au aux en dans avec "
    "par pour que "
    "qui et ou est sont était a ont comme très tout tous chaque depuis être avoir chez sur mon ma mes "
    "last month week year day days today yesterday months weeks years letzte letzten woche monat jahr tag "
    "mes semana año día mois semaine année jour par "
    "的 了 是 在 我 你 他 她 呢 啊 吧 吗 呀 哦 嗯 也 都 就 很 还 和 有 个 这 那 一 一个 一只 一家 我们 你们 "
    "他们 到 说 每天 早上 晚上 上周 "
    "别人 特别 分别 区别 性别 级别 别墅 无聊 很多 太多 好多 东西 一起 在一起 多 "
    "已经 一点 但是 不过 因为 所以 可以 什么 哪里 什么样 今年 去年 明年 昨天 今天 明天 上个月 下个月 最近"
)
_PERSONS: Final = (
    "sister* brother* mother* father* mum mom dad parent* son daughter* child children kid kids friend* "
    "uncle aunt cousin* neighbour* neighbor* colleague* grandmother grandfather twin* dog cat baby "
    "girlfriend boyfriend roommate* "
    "flatmate* schwester* bruder brüder mutter vater eltern sohn tochter kind* freund* onkel tante "
    "nachbar* kolleg* hund* "
    "katze* hermano* hermana* madre padre* hijo* hija* amigo* amiga* tío tía vecin* perro* gato* gata "
    "primo* "
    "sœur* frère* mère père parent* fils fille enfant* ami amie* oncle voisin* chien* chat chatte cousin* "
    "姐姐 妹妹 哥哥 弟弟 妈妈 爸爸 父亲 母亲 父母 儿子 女儿 孩子 朋友 同事 狗 猫 下属 同学 "
    "邻居 表姐 表妹 表哥 表弟 堂姐 堂妹 堂哥 堂弟 姑姑 阿姨 叔叔 舅舅 爷爷 奶奶 外公 外婆 侄子 侄女 外甥 "
    "сестра брат мать отец сын дочь"
)
"""Those whom somebody is related to: what is said of them is not said of him."""
_PLACES: Final = (
    "北京 上海 天津 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 "
    "四川 贵州 云南 陕西 甘肃 青海 台湾 内蒙古 广西 西藏 宁夏 新疆 香港 澳门 东北 广州 深圳 杭州 南京 武汉 "
    "成都 西安 苏州 长沙 郑州 青岛 沈阳 大连 厦门 合肥 昆明 哈尔滨 济南 宁波 福州 南昌 太原 兰州 贵阳"
)
"""Provinces and large cities of China: read as one word, and who is of one is of there."""
_MINE: Final = "mi mis yo me nosotros nos nuestr* je j' moi mon ma mes nous notre nos 我 我的 我们 咱"

_NUMBERS: Final = {
    word: value
    for value, words in enumerate(
        (
            "zero", "one eins", "two zwei dos deux 两 二", "three drei tres trois 三",
            "four vier cuatro quatre 四", "five fünf cinco cinq 五", "six sechs seis 六",
            "seven sieben siete sept 七", "eight acht ocho huit 八", "nine neun nueve neuf 九",
            "ten zehn diez dix 十", "eleven elf onze", "twelve zwölf doce douze",
        )
    )
    for word in words.split()
}  # fmt: skip
_HAN_WEEK: Final = " ".join(f"{week}{day}" for week in ("周", "星期", "礼拜") for day in "一二三四五六日天")
_UNITS: Final = ["岁", "年", "次", "只", "天", "小时", "公里", "元", "块", "个月", "点"]
"""Words of Chinese that a number counts."""


ATTRIBUTES: Final = tuple(dict.fromkeys((*_ATTRIBUTES, *SLOTS.values())))
CLASSES: Final = tuple(_CLASSES)


def word_set(*lines: str) -> frozenset[str]:
    """Return the words of some lines."""
    return frozenset(word for line in lines for word in line.split())


@frozen
class Sense:
    """What a word means to a comparison of claims."""

    attributes: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    light: bool = False


class _Lexicon:
    """Words and beginnings of words, each with what it stands for."""

    def __init__(self) -> None:
        self.words: dict[str, set[tuple[str, str]]] = {}
        self.starts: dict[str, set[tuple[str, str]]] = {}
        self.openings: set[str] = set()
        """The first three letters of all beginnings; shorter ones are found nowhere."""

    def add(self, kind: str, name: str, words: str) -> None:
        for word in words.split():
            table, key = (self.starts, word[:-1]) if word.endswith("*") else (self.words, word)
            table.setdefault(key, set()).add((kind, name))
            if table is self.starts:
                self.openings.add(key[:3])

    def look_up(self, word: str) -> set[tuple[str, str]]:
        senses = set(self.words.get(word, ()))
        if word[:3] in self.openings:
            for end in range(3, len(word) + 1):
                senses |= self.starts.get(word[:end], set())
        return senses


def _lexicon() -> _Lexicon:
    lexicon = _Lexicon()
    for kind, table in (("attributes", _ATTRIBUTES), ("lacks", _LACKS)):
        for name, words in table.items():
            lexicon.add(kind, name, words)
    for name, words in _CLASSES.items():
        heads, _, members = words.partition("|")
        lexicon.add("heads", name, heads)
        lexicon.add("classes", name, heads + members)
    for name, words in (
        ("several", _SEVERAL), ("good", _GOOD), ("bad", _BAD), ("changed", _CHANGED), ("ended", _ENDED),
        ("past", _PAST), ("planned", _PLANNED), ("never", _NEVER), ("negative", _NEGATIVE),
        ("negative", " ".join(NEGATIONS)), ("changed", " ".join(CHANGES)), ("me", _MINE),
        ("me", " ".join(SPEAKER | SPEAKERS)), ("light", _FUNCTION), ("light", " ".join(LIGHT)),
        ("week", " ".join(WEEK)), ("week", _HAN_WEEK), ("person", _PERSONS), ("place", _PLACES),
        ("first", " ".join(FIRST_PERSON)), ("new", _NEW),
    ):  # fmt: skip
        lexicon.add("flags", name, words)
    for word, slot in SLOTS.items():
        if not word.isascii() and re.match("[а-яё]", word):
            lexicon.words.setdefault(word, set()).add(("attributes", slot))
    return lexicon


_LEXICON: Final = _lexicon()


@lru_cache(maxsize=256)
def plain_words(kind: str, name: str) -> tuple[str, ...]:
    """Return the words of plain letters that stand for something; one that may go on ends in ``*``."""
    listed = [
        word + end
        for table, end in ((_LEXICON.words, ""), (_LEXICON.starts, "*"))
        for word, senses in table.items()
        if word.isascii() and (kind, name) in senses
    ]
    return tuple(listed)


PLAIN: Final = Sense()
"""That of a word which is not listed."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
HAN_WORDS: Final = frozenset(word for word in (*_LEXICON.words, *_UNITS, *_NUMBERS) if _HAN.match(word))
"""Words of Chinese that are read as one; any other character stands for itself."""
MAX_HAN: Final = max(map(len, HAN_WORDS))


@lru_cache(maxsize=16_384)
def sense(word: str) -> Sense:
    """Return what a folded word means to a comparison of claims."""
    entry = _LEXICON.look_up(word)
    if not entry:
        return PLAIN

    def named(kind: str) -> frozenset[str]:
        return frozenset(name for of, name in entry if of == kind)

    flags = named("flags")
    return Sense(
        named("attributes"), named("classes"), named("heads"), named("lacks"), flags, "light" in flags
    )


def number(word: str) -> str | None:
    """Return the value of a number, in digits or in words; None for any other word."""
    if word[:1].isdigit():
        return word
    value = _NUMBERS.get(word)
    return None if value is None else str(value)
