"""Stop words: function words of nine languages; they build a sentence without saying what it is about.

Articles, pronouns, prepositions, conjunctions, auxiliary verbs and question words, written down as the
tokeniser sees them: the pieces that apostrophes leave behind ("don't" gives *don* and *t*, "l'eau" gives *l*
and *eau*) are listed too. Words that are as often a topic as a function are left out of the lists: English
*may* and *won*, French *été*. Leaving them out of an index is as old as retrieval itself (Luhn 1958, "The
automatic creation of literature abstracts").

Negations are listed apart and are *not* stop words. "What does she not eat?" and "she does not eat meat"
share a word that turns the meaning round; BM25's inverse document frequency already keeps its weight small.
They do help to recognise a language, see :mod:`memorata.text.language`.
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
