"""Whether a question asks anything: "Who am I?" does, "the of and" does not, and neither has a topic.

Both are made of function words (:mod:`memorata.text.stopwords`). What tells them apart is that a question
word asks for something and a pronoun stands for somebody, while articles, prepositions, conjunctions and
auxiliary verbs say nothing by themselves. An embedder gives them a vector all the same, and the memories
that are nearest to it are those that say nothing either.

In doubt it is a question: one word alone may be a name (*Will*), and so may one with a capital letter
(*The Who*); words that ask in one reading and join in another (German *wie*, Spanish *que*) ask.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from unicodedata import category

from memorata.model import checks
from memorata.text.language import detect
from memorata.text.stopwords import STOP_WORD_LANGUAGES, stop_words
from memorata.text.tokens import words


def asks_something(text: str) -> bool:
    """Return False for a text that has words, two or more, and none that asks, names or stands for anything.

    Nor does one ask of punctuation alone. A text without words is not for this to judge otherwise: a picture
    of a teacup may be a question.

    Examples
    --------
    >>> asks_something("Who am I?"), asks_something("the of and"), asks_something("the battery")
    (True, False, True)
    >>> asks_something("???"), asks_something("☕?")
    (False, True)
    >>> asks_something("Wer bin ich?"), asks_something("und der von"), asks_something("The Who")
    (True, False, True)
    """
    found = words(checks.text("text", text))
    if not found:
        marks = "".join(text.split())
        return not marks or any(category(mark)[0] != "P" for mark in marks)
    if len(found) < 2 or _names(text):
        return True
    language = detect(found)
    if language not in STOP_WORD_LANGUAGES:
        return True
    return not set(found) <= stop_words(language) - _asking(language)


def without_happening(text: str) -> str:
    """Return the words of a text but for those that only say that something took place, with blanks between.

    "What happened in May?" asks for May and for nothing else.

    Examples
    --------
    >>> without_happening("What happened?"), without_happening("Что произошло с Анной?")
    ('what', 'что с анной')
    """
    return " ".join(word for word in words(checks.text("text", text)) if word not in _HAPPENING)


# Only forms that are no other word in any of the languages: Swedish "hände" is a German hand.
_HAPPENING = frozenset(
    (
        "happen", "happens", "happened", "happening", "occur", "occurs", "occurred", "occurring",
        "passiert", "passierte", "geschah", "geschieht", "geschehen", "ereignete", "passé", "pasó", "ocurrió",
        "sucedió", "successo", "accaduto", "accadde", "aconteceu", "gebeurt", "gebeurde", "gebeurd",
        "происходит", "происходило", "произошло", "случилось", "случается",
    )
)  # fmt: skip


def _names(text: str) -> bool:
    """Return whether a capital letter says that something is called that; a shouted text says nothing."""
    first, *rest = text.split()
    if text.isupper():
        return False
    return (len(first) > 1 and first.isupper()) or any(piece[0].isupper() for piece in rest)


@cache
def _asking(language: str) -> frozenset[str]:
    return frozenset(_ASKING[language].split())


_ASKING = MappingProxyType(
    {
        "english": """
            who whom whose what which when where why how
            i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
            she her hers herself it its itself they them their theirs themselves one ones someone something
            anyone anything everyone everything
        """,
        "german": """
            was wer wen wem wessen wann wo wohin woher warum wieso weshalb welche welcher welches welchen
            welchem wieviel wie
            ich mich mir mein meine meinem meinen meiner meines du dich dir dein deine deinem deinen deiner er
            ihn ihm sein seine seinem seinen seiner seines sie ihr ihre ihrem ihren ihrer ihres es wir uns
            unser unsere unserem unseren euch euer eure man sich selbst etwas
        """,
        "french": """
            que qu qui quoi dont où quand comment pourquoi combien quel quelle quels quelles lequel laquelle
            je j me m moi mon ma mes tu te t toi ton ta tes il elle on se s soi son sa ses nous notre nos vous
            votre vos ils elles leur leurs lui eux
        """,
        "spanish": """
            que como cuando donde qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos
            cuántas quien cual cuyo
            yo me mí mi mis conmigo tú te ti tu tus él ella ello se sí su sus nosotros nosotras nos nuestro
            nuestra nuestros nuestras vosotros os vuestro vuestra usted ustedes ellos ellas le les suyo suya
            algo alguien
        """,
        "italian": """
            che chi cui perché quando dove come quale quali quanto quanta quanti quante cosa dov com cos
            io mi me mio mia miei mie tu ti te tuo tua tuoi tue lui lei egli ella esso essa si sé suo sua suoi
            sue noi ci nostro nostra nostri nostre voi vi vostro vostra vostri vostre loro
        """,
        "portuguese": """
            que porque como quando onde quem qual quais quanto quanta quantos quantas
            eu me mim meu minha meus minhas comigo tu te ti teu tua teus tuas você vocês ele ela eles elas lhe
            lhes se si seu sua seus suas nós nosso nossa nossos nossas dele dela deles delas algo alguém
        """,
        "dutch": """
            wat wie wiens waar waarom wanneer hoe hoeveel welk welke waarheen waarvan
            ik me mij mijn jij je jou jouw u uw hij hem zijn zij ze haar wij we ons onze jullie hun hen zich
            men zelf iets iemand
        """,
        "swedish": """
            vad vem vems vilken vilket vilka varför hur vart varifrån när var
            jag mig mej min mitt mina du dig dej din ditt dina han honom hans hon henne hennes sin sitt sina
            vi oss vår vårt våra ni er ert era deras dess man sig sej själv någon något
        """,
        "russian": """
            что как когда где куда откуда чем кто кого кому кем ком чего чему какой какая какое какие какого
            каких который которая которое которые которого которой которых чей чья чьё чье чьи почему зачем
            сколько
            я меня мне мной мною мы нас нам нами ты тебя тебе тобой вы вас вам вами он его ему него нему нём
            нем она её ее ей ней неё нее оно они их им ими них ним ними себя себе собой
            мой моя моё мое мои моего моей моих моему моим моём твой твоя твоё твое твои твоего твоей твоих
            наш наша наше наши нашего нашей наших ваш ваша ваше ваши вашего вашей ваших свой своя своё свое
            свои своего своей своих своим
        """,
    }
)
