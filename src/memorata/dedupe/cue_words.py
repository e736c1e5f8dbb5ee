"""The words that a comparison of two statements has to know: English, German and Russian.

Closed classes, listed by hand: words that carry no claim of their own, words that turn a claim round, words
that say a state has changed, verbs and nouns whose slot holds one value at a time, and pairs that cannot both
be true. Everything is in the folded form of :func:`~memorata.dedupe.fingerprint.folded` with ``ё`` read
as ``е``.
"""

from __future__ import annotations

from typing import Final


def _set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


LIGHT: Final = _set(
    "a an the this that these those of to in on at by for from with into as and also too so very really",
    "quite just indeed actually well please is are was were be been being am do does did has have had having",
    "'s s t it its there here currently presently still already again today",
    "der die das den dem des ein eine einen einem einer eines und auch so sehr wirklich ja mal in im am an",
    "auf bei beim zu zum zur von vom mit für aus als ist sind war waren sein bin bist hat haben habe hatte",
    "wird werden wurde schon noch wieder heute derzeit gerade momentan aktuell sich es da hier eben",
    "halt doch",
    "и а в во на с со у к ко из за по о об от для это этот эта эти то же ли бы есть был была было были очень",
    "уже еще опять снова сегодня сейчас действительно также тоже вот ведь",
    "le les l une el la los un una",
)
"""Words without a claim of their own."""

FILLERS: Final = _set(
    "a an the really very quite just indeed actually well please also too so that",
    "der die das den dem des ein eine einen einem einer eines wirklich sehr ja mal eben halt doch auch so",
    "очень действительно просто вот ведь же именно также тоже",
)
"""Words that can be left out of a statement, and it is still the same; all of them are light."""

QUALIFIERS: Final = _set(
    "only until unless except but if when while before after since although because if maybe perhaps",
    "probably",
    "almost nearly sometimes rarely once or instead than",
    "nur bis ausser aber wenn falls bevor nachdem seit obwohl weil vielleicht wahrscheinlich fast beinahe",
    "manchmal selten einmal oder statt als",
    "только пока если кроме но когда до после хотя потому может наверное почти иногда редко или вместо чем",
)
"""Words after which a statement is no longer the one it began as."""

NEGATIONS: Final = _set(
    "not no never none neither nor without cannot n't isn't aren't wasn't weren't don't doesn't didn't won't",
    "can't couldn't wouldn't shouldn't hasn't haven't hadn't nobody nothing nowhere isnt dont doesnt",
    "didnt cant",
    "wont hardly",
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends ohne kaum",
    "не нет никогда никто ничего нигде без ни",
)
"""Words that turn a claim round."""

CHANGES: Final = _set(
    "now moved moves moving switched switches changed changes became becomes left quit quits stopped stops",
    "anymore instead nowadays started joined retired sold resigned renamed replaced rescheduled postponed",
    "cancelled canceled longer divorced replaces new neu neue neuer neues neuen nuevo nueva nouveau nouvelle",
    "jetzt nun inzwischen mittlerweile umgezogen gezogen zog gewechselt wechselte wechselt geändert geworden",
    "wurde gekündigt kündigte aufgehört statt stattdessen mehr verschoben neuerdings verkauft umbenannt",
    "abgesagt",
    "теперь переехал переехала переехали сменил сменила перешел перешла стал стала бросил бросила уволился",
    "уволилась вместо больше перенесли перенесена перенесен продал продала поменял поменяла отменили",
    "отменена",
    "maintenant désormais ahora ya",
)
"""Words that say a state has changed."""

SPEAKER: Final = _set(
    "i me myself we us", "ich mir mich wir uns", "je moi nous nosotros", "я мне меня мы нас"
)
"""Whoever speaks: one subject, whichever form of the pronoun is used."""

SPEAKERS: Final = _set(
    "my our mein meine meinen meinem meiner meines unser unsere unseren unserem",
    "mon ma mes notre mi mis nuestro nuestra",
    "мой моя мое мои мою моего моей моим наш наша наше наши нашу",
)
"""What is the speaker's: the subject is the word that follows."""

FIRST_PERSON: Final = _set(
    "soy estoy vivo trabajo tengo tomo bebo como conduzco uso voy hago estudio hablo prefiero odio fumo",
    "juego duermo vuelvo empecé dejé vendí compré cambié",
)
"""Verbs of Spanish that say by themselves who: "vivo en Lima" needs no pronoun."""

_SLOTS: Final = {
    "residence": "live lives living lived reside resides resided moved moves relocated based residence "
    "wohnt wohne "
    "wohnen wohnte lebt lebe leben umgezogen gezogen zog zieht живет живу живут живем жил жила "
    "переехал переехала "
    "переехали проживает",
    "work": "work works working worked employed employer joined job arbeitet arbeite arbeiten "
    "arbeitete angestellt "
    "arbeitgeber job gekündigt работает работаю работают работал работала устроился устроилась работодатель",
    "partner": "married husband wife spouse engaged fiancé fiancée divorced single partner verheiratet "
    "ehemann ehefrau "
    "verlobt geschieden ledig женат замужем муж жена супруг супруга разведен разведена холост",
    "name": "name called named renamed surname heisst heisse nachname vorname зовут имя фамилия называется",
    "birth": "born birthday birthdate geboren geburtstag родился родилась рождения",
    "age": "old age aged jahre alt лет года год возраст",
    "favourite": "favourite favorite lieblingsessen lieblingsfarbe lieblingsgetränk lieblingsfilm "
    "lieblingsbuch "
    "lieblingstee lieblings lieblingsband lieblingssport любимый любимая любимое любимые",
    "contact": "phone number email e-mail address telefonnummer nummer mailadresse adresse телефон "
    "номер адрес почта",
    "secret": "password pin passphrase code passwort kennwort пароль код",
    "price": "cost costs price rent salary fee budget kostet kosten preis miete gehalt стоит цена "
    "аренда зарплата бюджет",
    "measure": "weigh weighs weight height tall wiege wiegt gewicht gross grösse весит вес рост",
    "time": "meeting appointment deadline due starts start begins flight train departs leaves arrives "
    "opens closes "
    "expires interview wedding party lecture course class exam termin besprechung frist fällig beginnt "
    "flug zug abfahrt "
    "öffnet schliesst hochzeit prüfung kurs встреча срок начинается рейс поезд вылетает отправляется "
    "открывается "
    "закрывается экзамен свадьба собрание совещание",
    "holder": "ceo boss manager owner owns president director leader lead head landlord doctor dentist "
    "teacher chef chefin "
    "leiter leiterin besitzer besitzerin eigentümer geschäftsführer geschäftsführerin hausarzt "
    "zahnarzt lehrer lehrerin "
    "директор начальник начальница владелец владелица руководитель врач стоматолог",
    "place": "located headquarters headquartered office capital sitz büro hauptsitz hauptstadt "
    "standort находится офис "
    "штаб-квартира столица",
    "state": "status version runs статус версия",
    "use": "uses using drives studies nutzt verwendet benutzt fährt studiert использует ездит учится",
    "diet": "vegetarian vegan pescatarian omnivore vegetarier vegetarierin veganer veganerin "
    "вегетарианец вегетарианка "
    "веган веганка",
}  # fmt: skip

WEEK: Final = _set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays",
    "saturdays sundays january february march april may june july august september october november december",
    "tomorrow morning noon afternoon evening night midnight",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags",
    "freitags samstags sonntags januar februar märz mai juni juli oktober dezember morgen mittag abend nacht",
    "понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье января",
    "февраля марта",
    "апреля мая июня июля августа сентября октября ноября декабря завтра утром днем вечером ночью",
)
"""Days, months and times of day: values of a time, and of nothing else."""

SLOTS: Final = {word: slot for slot, words in _SLOTS.items() for word in words.split()}
"""Words of a slot that holds one value at a time, and which slot that is."""

_OPPOSITES: Final = (
    "like likes love loves enjoy enjoys / hate hates dislike dislikes detest detests",
    "open / closed shut",
    "on / off",
    "married / single divorced",
    "employed / unemployed retired",
    "alive / dead",
    "smokes smoker / non-smoker nonsmoker",
    "available / unavailable",
    "possible / impossible",
    "allowed / forbidden",
    "enabled / disabled",
    "public / private",
    "accepted / rejected declined",
    "won / lost",
    "full / empty",
    "hot / cold",
    "passed / failed",
    "vegetarian vegan / meat steak omnivore carnivore",
    "increased rose / decreased fell",
    "confirmed / cancelled canceled",
    "true / false",
    "always / never",
    "left-handed / right-handed",
    "mag liebt liebe / hasst hasse verabscheut",
    "offen geöffnet / geschlossen zu",
    "verheiratet / ledig geschieden",
    "erlaubt / verboten",
    "möglich / unmöglich",
    "an / aus",
    "voll / leer",
    "bestanden / durchgefallen",
    "zugesagt / abgesagt",
    "raucher / nichtraucher",
    "immer / nie",
    "любит люблю / ненавидит ненавижу",
    "открыт открыта открыто / закрыт закрыта закрыто",
    "женат / холост разведен",
    "можно / нельзя",
    "включен включена / выключен выключена",
    "разрешено / запрещено",
    "всегда / никогда",
    "сдал сдала / провалил провалила",
    "男的 男生 男孩 / 女的 女生 女孩",
)


def _opposites() -> dict[str, frozenset[str]]:
    opposites: dict[str, frozenset[str]] = {}
    for pair in _OPPOSITES:
        one, other = (frozenset(side.split()) for side in pair.split(" / "))
        for side, against in ((one, other), (other, one)):
            for word in side:
                opposites[word] = opposites.get(word, frozenset()) | against
    return opposites


OPPOSITES: Final = _opposites()
"""For a word, those that cannot be true of the same thing at the same time."""

ENDINGS: Final = tuple(
    sorted(
        _set("s es d ed ing ly e en er em es n t te st а я ы и у ю е ой ом ам ов ет ут ит ат ть л ла ли"),
        key=len,
        reverse=True,
    )
)
"""Endings in which two forms of one word may differ."""
