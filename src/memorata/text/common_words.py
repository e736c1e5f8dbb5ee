"""Words that begin a sentence without being a name: data for :mod:`memorata.text.capitalised_names`.

A capital at the start of a sentence says nothing, so there a word must not be one of these, one of the stop
words, or built like a common word (:func:`is_common`). The lists are short on purpose: words that people
often begin with, chosen by hand and completed by what begins the turns of a chat (LoCoMo, dev split).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from memorata.text.stopwords import negations, stop_words


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text: long lists read better as running text."""
    return frozenset(words.split())


CALENDAR: Final = word_set("""january february march april may june july august september october november
    december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday
    saturday sunday mon tue tues wed thu thurs fri sat mondays tuesdays wednesdays thursdays fridays saturdays
    sundays januar februar märz marz mai juni juli oktober dezember montag dienstag mittwoch donnerstag
    freitag samstag sonnabend sonntag janvier février fevrier avril juin juillet août aout septembre octobre
    novembre décembre decembre lundi mardi mercredi jeudi vendredi samedi dimanche enero febrero marzo abril
    mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes
    sábado domingo январь января январе февраль февраля феврале март марта марте апрель апреля апреле май мая
    мае июнь июня июне июль июля июле август августа августе сентябрь сентября сентябре октябрь октября
    октябре ноябрь ноября ноябре декабрь декабря декабре понедельник вторник среда среду четверг пятница
    пятницу суббота субботу воскресенье""")
"""Months and days of the week: dates are read elsewhere."""

DATE_PREPOSITIONS: Final = word_set(
    "in on since until till by next last this every early late mid of from before after during im am"
)
"""After one of these, May and April are months even where there is a person of that name."""

TITLES: Final = word_set("""mr mrs ms miss dr prof professor sir madam lord lady herr frau herrn monsieur
    madame mme señor señora sr sra signor signora господин госпожа""")
"""Forms of address: not part of the name, so that Dr. Keller is Keller."""

NOT_NAMES: Final = word_set("""ok tv am pm ad bc id ids api apis pdf faq diy ceo cto cfo hr pr it ai ml ui ux
    os pc dvd cd gps sms vip fyi btw lol omg asap todo eta tbd tba aka rsvp imo imho ttyl idk brb xmas bbq dna
    url urls http https json csv xml html css sql utc gmt cpu gpu ram ssd usb wifi lgbtq lgbt ps pps qa atm iq
    q1 q2 q3 q4""")
"""Capitals that are no name: abbreviations of everyday words."""

NAME_BEGINNINGS: Final = word_set("""new great big little old red white black blue green golden royal grand
    national united bank lake mount north south east west central upper lower university museum best good iron
    rock city first second third young long san saint fort port cape silicon sunday spider apple super family
    love""")
"""Common words that often begin a name of several words: New York, Red Cross, Lake Como."""

_COMMON: Final = {
    "english": """thanks thank wow yeah hey sounds keep take glad yep cool congrats last see nice look oh sure
        nature good got great awesome check long plus well haha bye pets looks love super music yup maybe
        gonna gotta wanna life hope art agreed hi hello sorry way family woah whoa enjoy crazy fingers cheers
        stay talk bet woohoo sometimes catch guess nah makes whenever nope wish tell animals animal remember
        dogs dog cats cat lots ah yay pretty right people cute rock yum anytime bummer finally yea oof btw
        like hard classic time mental care next feel show woo believe go heard anyways make pepper found two
        three four five six seven eight nine ten first second third mind garlic hang little count man men
        woman women clay change create strong thoughts stuff need oops kids kid respect besides later best
        read build big follow enough quite happy ugh real words word put rest movies movie sound apart dang
        tough proud already alright kinda city safety email think small max daily work give miss used plants
        plant remind somewhere buddy ha ouch mix get start things thing come won tons met safe fresh luxury
        car cars live road progress together means perhaps without moments felt today tomorrow yesterday
        tonight morning evening afternoon night noon midnight week weekend month year years days day hours
        hour minutes soon late early ago suddenly usually instead however therefore moreover otherwise
        meanwhile thus hence despite except unlike dear note reminder warning error update question answer
        summary title subject re fwd task idea fact tip call ask send write wrote buy bought sell sold find
        try use open close run ran set add remove delete fix turn move bring brought meet visit book order pay
        play watch listen learn teach speak say said says told know knew want wants seems saw seen leave left
        help wait stop begin began eat ate drink drank cook sleep slept drive drove fly flew walk swim sing
        dance draw paint clean wash cut break broke fall fell lose lost win hold kept let made gave took went
        came became grew spent thought understood user users customer customers client clients patient
        patients student students teacher doctor driver manager boss team staff everybody nobody somebody mom
        mum dad mother father sister brother son daughter wife husband uncle aunt grandma grandpa grandmother
        grandfather cousin neighbour neighbor friend friends baby child children boy girl guy guys folks tea
        coffee water milk beer wine juice bread cheese butter rice pasta pizza soup salad chicken fish meat
        beef pork egg eggs fruit apple apples banana chocolate cake sugar salt dinner lunch breakfast food
        house home room kitchen garden door window table chair bed phone computer laptop screen keyboard
        server servers battery power engine bike train bus plane boat traffic weather rain snow sun wind
        summer winter spring autumn school college office company business money price cost tax bank market
        shop store health exercise sport sports football soccer tennis yoga running books song songs film game
        games news paper letter photo photos picture pictures video story stories history science math maths
        language english data code test tests bug bugs version release deploy login password account file
        files folder disk memory network internet website page link row column index query cache part parts
        half none nothing something anything everything problem problems issue issues plan plans project
        projects meeting meetings deadline report reports result results reason example examples case point
        number numbers list name names place places side end rule rules step steps level type types kind sort
        colour color red blue green yellow black white light dark old new young high low hot cold warm free
        full empty true false wrong different same similar important possible likely ready busy tired sick
        fine poor rich sad angry bad better worse worst less least only another several most welcome goodbye
        goodnight please pardon excuse bravo hurray damn gosh jeez""",
    "german": """danach davor zuerst zuletzt trotzdem deshalb außerdem daher damals dabei dazu dafür deswegen
        jedoch übrigens dadurch darum somit meistens zwar sogar heute gestern morgen abends morgens mittags
        nachts bald später früher vielleicht leider danke hallo tschüss guten gute guter gut schön schade klar
        genau natürlich endlich plötzlich manchmal oft selten bitte wasser kaffee tee milch bier wein brot
        käse butter reis nudeln suppe salat fleisch fisch kuchen zucker salz essen frühstück mittagessen
        abendessen haus hause wohnung zimmer küche garten tür fenster tisch bett auto fahrrad zug bus bahn
        flugzeug wetter regen schnee sonne wind sommer winter frühling herbst schule büro arbeit firma geld
        preis zeit tag tage woche wochen monat jahr jahre stunde stunden minute uhr mann frau kind kinder
        mutter vater bruder schwester sohn tochter oma opa onkel tante freund freunde freundin leute menschen
        mensch hund katze hunde katzen tier tiere buch bücher film filme musik lied spiel sport fußball urlaub
        reise problem probleme frage fragen antwort idee grund beispiel teil ende anfang platz stadt land
        leben liebe angst lust spaß glück recht ordnung eile ruhe hilfe holz papier rom fuß kopf hand herz
        kollege kollegen chef nutzer benutzer kunde kunden patient lehrer arzt fahrer rechner server datei
        daten text tasse glas stück flasche paar liter kilo gramm meter euro prozent grad mitte herr""",
    "russian": """вчера сегодня завтра сейчас потом теперь скоро иногда часто обычно конечно спасибо привет
        пожалуйста здравствуйте утром днем вечером ночью летом зимой весной осенью мама папа мать отец брат
        сестра сын дочь бабушка дедушка друг друзья подруга дети ребенок ребёнок мальчик девочка мужчина
        женщина люди человек собака кошка кот погода вода чай кофе молоко хлеб еда обед ужин завтрак дом
        квартира комната машина поезд автобус самолет работа школа книга книги фильм музыка песня игра день
        неделя месяц год время деньги цена город страна жизнь проблема вопрос ответ идея пользователь клиент
        врач учитель начальник сервер батарея надо нужно можно нельзя хочу люблю хорошо плохо интересно жаль
        ура""",
    "french": """hier aujourd demain merci bonjour bonsoir salut maintenant parfois souvent peut voilà enfin
        bien sûr vite maman papa mère père frère sœur fils fille enfants amis ami gens chien chat eau café thé
        lait pain vin repas maison voiture train travail école livre film musique temps jour semaine mois
        année argent ville vie problème question réponse idée""",
    "spanish": """ayer hoy mañana gracias hola buenos buenas adiós ahora luego después quizás siempre mamá
        papá madre padre hermano hermana hijo hija niños amigos amigo gente perro gato agua café té leche pan
        vino comida casa coche tren trabajo escuela libro película música tiempo día semana mes año dinero
        ciudad vida problema pregunta""",
    "italian": """ieri oggi domani grazie ciao buongiorno buonasera adesso ora poi forse sempre mamma papà
        madre padre fratello sorella figlio figlia bambini amici amico gente cane gatto acqua caffè tè latte
        pane vino casa macchina treno lavoro scuola libro film musica tempo giorno settimana mese anno soldi
        città vita problema domanda""",
    "portuguese": """ontem hoje amanhã obrigado obrigada olá agora depois talvez sempre mãe pai irmão irmã
        filho filha crianças amigos amigo gente cão gato água café chá leite pão vinho casa carro trem
        trabalho escola livro filme música tempo dia semana mês ano dinheiro cidade vida problema pergunta""",
}

_ENDINGS: Final = {
    "english": tuple(
        word_set(
            """
            ing ly tion sion ness ment ity ism ful less able ible ous ive ed ance ence ship time body thing
            ware ies ers ors ions
            """
        )
    ),
    "german": tuple(word_set("ung ungen heit keit schaft tion tät lein nis tum ismus ieren ling")),
    "russian": tuple(word_set("ость ение ание ция ство ый ий ая ое ые ие ться")),
}
_MIN_BUILT = 5


@cache
def common_words(language: str) -> frozenset[str]:
    """Return the stop words, negations and common words of a language, in lower case."""
    return word_set(_COMMON.get(language, "")) | stop_words(language) | negations(language)


def is_common(word: str, language: str) -> bool:
    """Return whether a word in lower case is listed, or built like a common word of the language."""
    if word in common_words(language):
        return True
    return len(word) >= _MIN_BUILT and word.endswith(_ENDINGS.get(language, ()))


def has_common_words(language: str) -> bool:
    """Return whether the common words of a language are known here at all."""
    return language in _COMMON
