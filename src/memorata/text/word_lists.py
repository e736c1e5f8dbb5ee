"""Lists of words: stop words by language, and words that begin a sentence without being a name.

Articles, pronouns, prepositions, conjunctions, auxiliary verbs and question words, written down as the
tokeniser sees them: the pieces that apostrophes leave behind ("don't" gives *don* and *t*, "l'eau" gives *l*
and *eau*) are listed too. Words that are as often a topic as a function are left out of the lists: English
*may* and *won*, French *été*. Leaving them out of an index is as old as retrieval itself (Luhn 1958, "The
automatic creation of literature abstracts").

Negations are listed apart and are *not* stop words. "What does she not eat?" and "she does not eat meat"
share a word that turns the meaning round; BM25's inverse document frequency already keeps its weight small.
They do help to recognise a language, see :mod:`memorata.text.language`.

A capital at the start of a sentence says nothing, so there a word must not be one of these, one of the stop
words, or built like a common word (:func:`is_common`). The lists are short on purpose: words that people
often begin with, chosen by hand and completed by what begins the turns of a chat (LoCoMo, dev split).
"""

from __future__ import annotations

from functools import cache
from typing import Final

from memorata.model import checks

STOP_WORD_LANGUAGES: Final = (
    *("english", "spanish", "french", "portuguese", "russian", "german", "italian", "dutch", "swedish"),
)
"""The languages that have a list, in about the order of their speakers; ties between them go to the first."""

_KNOWN: Final = frozenset((*STOP_WORD_LANGUAGES, "none"))


def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of `language`; none for ``"none"``.

    Examples
    --------
    >>> "the" in stop_words("english"), "not" in stop_words("english"), "battery" in stop_words("english")
    (True, False, False)
    """
    if type(language) is not str or language not in _KNOWN:
        checks.one_of("language", language, (*STOP_WORD_LANGUAGES, "none"))
    return _stop_words(language)


def negations(language: str) -> frozenset[str]:
    """Return the words of `language` that deny: kept in the index, and evidence of the language.

    Examples
    --------
    >>> sorted(negations("german"))[:3]
    ['kein', 'keine', 'keinem']
    """
    checks.one_of("language", language, (*STOP_WORD_LANGUAGES, "none"))
    return _negations(language)


@cache
def pronouns(language: str) -> frozenset[str]:
    """Return the stop words of `language` that ask for something or stand for somebody."""
    return frozenset(_PRONOUNS.get(language, "").split())


@cache
def _negations(language: str) -> frozenset[str]:
    return frozenset(_NEGATIONS.get(language, "").split())


@cache
def _stop_words(language: str) -> frozenset[str]:
    return pronouns(language) | frozenset(_OTHERS.get(language, "").split())


_NEGATIONS: Final = {
    "english": "no not nor never none nobody nothing nowhere neither without cannot",
    "german": "nicht nichts nie niemals niemand nirgends kein keine keinem keinen keiner weder ohne",
    "french": "ne pas non jamais rien aucun aucune ni sans",
    "spanish": "no nunca jamás nada nadie ningún ninguna ninguno ni tampoco sin",
    "italian": "non no mai niente nulla nessuno nessuna nessun né neanche nemmeno senza",
    "portuguese": "não nunca jamais nada ninguém nenhum nenhuma nem tampouco sem",
    "dutch": "niet niets nooit niemand nergens geen nee noch zonder",
    "swedish": "inte icke ej aldrig ingen inget inga ingenting nej varken utan",
    "russian": "не нет ни никогда никто ничто ничего нигде никуда никакой никакая никакие без нельзя",
}

_PRONOUNS: Final = {
    "english": """who whom whose what which when where why how i me my mine myself we us our ours ourselves
        you your yours yourself yourselves he him his himself she her hers herself it its itself they them
        their theirs themselves one ones someone something anyone anything everyone everything""",
    "german": """was wer wen wem wessen wann wo wohin woher warum wieso weshalb welche welcher welches welchen
        welchem wieviel wie ich mich mir mein meine meinem meinen meiner meines du dich dir dein deine deinem
        deinen deiner er ihn ihm sein seine seinem seinen seiner seines sie ihr ihre ihrem ihren ihrer ihres
        es wir uns unser unsere unserem unseren euch euer eure man sich selbst etwas""",
    "french": """que qu qui quoi dont où quand comment pourquoi combien quel quelle quels quelles lequel
        laquelle je j me m moi mon ma mes tu te t toi ton ta tes il elle on se s soi son sa ses nous notre nos
        vous votre vos ils elles leur leurs lui eux""",
    "spanish": """que como cuando donde qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos
        cuántas quien cual cuyo yo me mí mi mis conmigo tú te ti tu tus él ella ello se sí su sus nosotros
        nosotras nos nuestro nuestra nuestros nuestras vosotros os vuestro vuestra usted ustedes ellos ellas
        le les suyo suya algo alguien""",
    "italian": """che chi cui perché quando dove come quale quali quanto quanta quanti quante cosa dov com cos
        io mi me mio mia miei mie tu ti te tuo tua tuoi tue lui lei egli ella esso essa si sé suo sua suoi sue
        noi ci nostro nostra nostri nostre voi vi vostro vostra vostri vostre loro""",
    "portuguese": """que porque como quando onde quem qual quais quanto quanta quantos quantas eu me mim meu
        minha meus minhas comigo tu te ti teu tua teus tuas você vocês ele ela eles elas lhe lhes se si seu
        sua seus suas nós nosso nossa nossos nossas dele dela deles delas algo alguém""",
    "dutch": """wat wie wiens waar waarom wanneer hoe hoeveel welk welke waarheen waarvan ik me mij mijn jij
        je jou jouw u uw hij hem zijn zij ze haar wij we ons onze jullie hun hen zich men zelf iets iemand""",
    "swedish": """vad vem vems vilken vilket vilka varför hur vart varifrån när var jag mig mej min mitt mina
        du dig dej din ditt dina han honom hans hon henne hennes sin sitt sina vi oss vår vårt våra ni er ert
        era deras dess man sig sej själv någon något""",
    "russian": """что как когда где куда откуда чем кто кого кому кем ком чего чему какой какая какое какие
        какого каких который которая которое которые которого которой которых чей чья чьё чье чьи почему зачем
        сколько я меня мне мной мною мы нас нам нами ты тебя тебе тобой вы вас вам вами он его ему него нему
        нём нем она её ее ей ней неё нее оно они их им ими них ним ними себя себе собой мой моя моё мое мои
        моего моей моих моему моим моём твой твоя твоё твое твои твоего твоей твоих наш наша наше наши нашего
        нашей наших ваш ваша ваше ваши вашего вашей ваших свой своя своё свое свои своего своей своих
        своим""",
}
"""Question words, and words that stand for somebody or something. In doubt a word is listed: German *wie* and
Spanish *que* ask in one reading and join in another."""

_OTHERS: Final = {
    "english": """a an the this that these those such same other another each every either both all any some
        few more most much many own several am is are was were be been being have has had having do does did
        doing done will would shall should can could might must ought s t d ll m re ve don doesn didn isn aren
        wasn weren hasn haven hadn wouldn shouldn couldn mustn shan ain needn mightn let of in on at by for
        with about against between among into onto through during before after above below to from up down out
        off over under upon within towards toward until till since per via along across behind beyond near
        around and or but if because as while although though unless whether than so then too very just only
        also even still yet again once ever always often here there now please ok okay yes""",
    "german": """der die das den dem des ein eine einem einen einer eines dieser diese dieses diesem diesen
        jener jene jenes jeder jede jedes jedem jeden alle allem allen aller alles manche mancher solche
        solcher andere anderen anderer anderes beide viel viele vielen mehr einige bin bist ist sind seid war
        warst waren wart sei wäre wären gewesen habe hast hat haben habt hatte hatten hätte hätten gehabt
        werde wirst wird werden wurde wurden würde würden worden geworden kann kannst können konnte konnten
        könnte muss musst muß müssen musste mussten soll sollen sollte sollten will willst wollen wollte darf
        dürfen mag möchte an am auf aus bei beim bis durch für gegen hinter im in ins mit nach neben seit über
        um unter von vom vor während wegen zu zum zur zwischen ab und oder aber denn sondern dass daß weil
        wenn als ob obwohl damit doch so also dann da dort hier jetzt nun nur noch schon auch sehr immer
        wieder mal etwa ja bitte hin her""",
    "french": """le la les l un une des du de d ce cet cette ces c ça cela ceci celui celle ceux celles autre
        autres même mêmes tout toute tous toutes chaque quelque quelques plusieurs tel telle y en suis es est
        sommes êtes sont étais était étions étaient être serai sera seront serait sois soit fut ai as a avons
        avez ont avais avait avions avaient avoir aurai aura auront aurait ait fait faire fais font peut peux
        peuvent pouvoir doit dois doivent va vais vas vont à au aux dans par pour sur sous avec chez entre
        vers depuis pendant avant après contre jusque jusqu dès et ou mais donc or car si comme parce puis
        alors ainsi aussi très plus moins bien encore déjà toujours ici là n oui""",
    "spanish": """el la los las lo un una unos unas al del este esta esto estos estas ese esa eso esos esas
        aquel aquella aquello aquellos aquellas otro otra otros otras mismo misma todo toda todos todas cada
        algún alguna alguno algunos algunas mucho mucha muchos muchas poco varios varias soy eres es somos son
        era eras eran fui fue fueron ser sido sea sería estoy estás está estamos están estaba estaban estar he
        has ha hemos han había habían haber hay hubo tengo tienes tiene tenemos tienen tenía tener puedo
        puedes puede pueden hace hacer a ante bajo con contra de desde durante en entre hacia hasta para por
        según sobre tras y e o u pero sino si porque pues mientras aunque más menos muy tan también ya aún así
        entonces aquí allí ahí ahora siempre""",
    "italian": """il lo la i gli le l un uno una del dello della dei degli delle al allo alla ai agli alle dal
        dallo dalla dai dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle col dell
        all dall nell sull questo questa questi queste quest quello quella quelli quelle quel quei quell altro
        altra altri altre stesso stessa tutto tutta tutti tutte ogni qualche alcuni alcune molto molta molti
        molte poco ne c sono sei è siamo siete era eri erano ero fui fu furono stato stata stati state essere
        sia sarà sarebbe ho hai ha abbiamo avete hanno avevo aveva avevano avuto avere abbia fa fare faccio
        può posso puoi possono sto stai sta stanno deve devo a ad da di d in con su per tra fra verso dopo
        prima durante contro presso e ed o od ma se mentre però anche ancora più meno già così allora poi qui
        qua lì là ora sempre""",
    "portuguese": """o a os as um uma uns umas do da dos das no na nos nas ao aos à às pelo pela pelos pelas
        num numa dum duma este esta isto estes estas esse essa isso esses essas aquele aquela aquilo aqueles
        aquelas deste desta disso nesse nessa neste nesta outro outra outros outras mesmo mesma todo toda
        todos todas tudo cada algum alguma alguns algumas muito muita muitos muitas pouco vários várias sou és
        é somos são era eram fui foi foram ser sido seja seria estou está estamos estão estava estavam estar
        tenho tens tem temos têm tinha tinham ter teve há havia haver houve posso pode podem faz fazer vou vai
        vão de em por para com sob sobre entre até desde após contra durante e ou mas pois enquanto embora
        mais menos tão também já ainda assim então aqui ali aí agora sempre sim""",
    "dutch": """de het een dit dat deze die ander andere anderen zelfde elk elke ieder iedere alle alles allen
        veel meer enkele sommige er ben bent is was waren geweest heb hebt heeft hebben had hadden gehad word
        wordt worden werd werden geworden kan kun kunt kunnen kon konden zal zul zult zullen zou zouden moet
        moeten moest mag mogen mocht wil wilt willen wilde doe doet doen deed aan achter af bij binnen boven
        buiten door in met na naar naast om onder op over per rond sinds te tegen ten ter tot tussen uit van
        vanaf via voor en of maar want dus omdat als dan toen terwijl hoewel zodat ook nog al wel zo heel erg
        zeer hier daar nu altijd weer reeds even toch eens ja t s n""",
    "swedish": """en ett den det de dem denna detta dessa sådan sådant sådana annan annat andra samma varje
        alla allt all många mycket mer mest några få är vara varit vore har hade haft ha blir bli blev blivit
        kan kunde kunnat ska skall skulle vill ville måste får fick bör borde gör göra gjorde kommer av på i
        till från för med om under över vid mot mellan genom efter före hos bland ur åt inom utanför och eller
        men så att som då därför eftersom medan fast än också bara redan ännu här där nu alltid igen väl ju
        ganska även sen sedan ja""",
    "russian": """этот эта это эти этого этой этих этому этим этом тот та то те того той тех тому тем том
        такой такая такое такие сам сама само сами весь вся всё все всего всей всех всем каждый каждая каждое
        каждые другой другая другие много несколько быть есть был была было были буду будет будем будут будешь
        бы мочь могу может можем могут мог могла могли можно нужно надо в во на с со к ко у о об обо от ото до
        из изо за под над по при про для через между перед после около и а но или либо чтобы если так же ли
        пока хотя потому поэтому да вот тут там здесь сейчас теперь тогда уже ещё еще только даже лишь очень
        тоже также более менее всегда ведь ну разве ль б ж""",
}
"""Articles, prepositions, conjunctions, auxiliary verbs and the like."""


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
