"""The words that give a query's type away, in nine languages: data for :mod:`memorata.text.queries`.

Each language has cues for each type at three strengths, strong | clear | faint: *strong* ones settle the
matter ("favourite", "why", "how many"), *clear* ones do if nothing speaks against them ("did …"), *faint*
ones only lean. Cues are separated by commas and written as the tokeniser sees them; ``*`` stands for the rest
of a word, or on its own for one to three words, and ``^`` for the start of a query that goes on. Where cues
overlap the longest counts, so "how many" is not also a "how". Neutral cues count for nothing: they are there
to be longer than a cue that would mislead ("looks like").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _habits(openings: str, adverbs: str) -> str:
    """Return cues of questions about what somebody usually does: each opening with each adverb."""
    return ", ".join(
        f"{opening.strip()} * {adverb.strip()}"
        for opening in openings.split(",")
        for adverb in adverbs.split(",")
    )


# What somebody usually does is a preference, however it is asked for: "how do I usually …" wants no manual.
_HABITS: Final[Mapping[str, str]] = {
    "english": _habits(
        "how do, how does, what do, what does, where do, where does",
        "usually, normally, typically, generally, tend to, tends to",
    )
    + ", "
    + _habits("which", "usually, normally, tend to, tends to"),
    "german": _habits(
        "wie, was, wo, wohin", "normalerweise, üblicherweise, gewöhnlich, meistens, in der regel"
    ),
    "french": _habits("comment, que, où, quel, quelle", "d habitude, habituellement, normalement"),
    "spanish": _habits("cómo, qué, dónde", "normalmente, habitualmente, generalmente")
    + ", cómo suel*, qué suel*, dónde suel*",
    "italian": _habits("come, cosa, dove", "di solito, normalmente, abitualmente"),
    "portuguese": _habits("como, que, onde", "normalmente, geralmente, habitualmente")
    + ", como costum*, que costum*, onde costum*",
    "dutch": _habits("hoe, wat, waar", "meestal, gewoonlijk, normaal"),
    "swedish": _habits("hur, vad, var", "vanligtvis, oftast, normalt")
    + ", hur brukar, vad brukar, var brukar",
    "russian": _habits("как, что, где, куда", "обычно, обыкновенно"),
}

CUES: Final[Mapping[str, Mapping[str, str]]] = {
    "english": {
        "factual": """when, where, who, whom, whose, how many, how much, how old, how long, how far,
            how often, how tall, how big, how high, how late, how early, how soon, what time, what year,
            what day, what date, what month, which year, which day, name of, number of, address of, date of,
            phone number, password, what colour, what color, what size, what version, price of, cost of,
            what number, called
            | ^did, ^does, ^do, ^is, ^are, ^was, ^were, ^has, ^have, ^had, what is, what s, what was,
            what did, what were, which city, which country, which version, which one, birthday
            | what, which""",
        "preference": _HABITS["english"]
        + """, favourite*, favorite*, who is * favourite, who is * favorite, prefer*, like, likes,
            liked, love, loves, loved, hate, hates, hated, dislike*, enjoy*, recommend*, suggest*,
            would rather, d rather, rather, hobby, hobbies, taste in, tastes in, fond of, fan of, keen on,
            opinion of, opinion on, opinion about, can t stand, can t * stand, cannot stand, in the mood for,
            what should i, where should i, which should i, which * should i, adore*, am i into, is into,
            i into, should we watch, should we eat,
            how do i like, how do we like, interests
            | usually choose, usually order, usually pick, loathe*, detest*, appreciate*, ideal,
            gift idea*
            | best, worst, better, want*, wish*, interested in, usually""",
        "conceptual": """why, how come, how do, how does, how did, how can, how could, how should, how would,
            how is, how are, how was, how were, how to, explain*, difference* between, differ, compare*,
            comparison, versus, pros and cons, advantage*, disadvantage*, trade off*, tradeoff*,
            what does * mean, meaning of, relationship between, related, relate, relation between, describe*,
            overview, summarise*, summarize*, summary of, reason*, cause*, implication*, consequence*,
            impact of, effect of, purpose of, idea behind, concept*, principle*, architecture, lesson*,
            walk me through, what led, in what way, approach to, theory, rationale, what happens if,
            what happens when, works, work together, mean by, meant by
            | how, strategy, strategies, process, understand*, argument*, problem with, mechanism*, influence*
            | between, because, affect*, idea*""",
        "neutral": """look like, looks like, looked like, feel like, feels like, sound* like, is it like,
            was it like, would like to know, i d like to, when to, would you like, seem* like, things like,
            at work, for work, to work""",
    },
    "german": {
        "factual": """wann, wo, wohin, woher, wer, wem, wen, wessen, wie viel*, wieviel*, wie alt, wie lange,
            wie weit, wie oft, wie hoch, wie groß, wie spät, wie heiß*, wie hieß*, wie teuer, um wie viel uhr,
            welches jahr, in welchem jahr, welcher tag, an welchem tag, nummer, adresse, geburtstag, passwort,
            name
            | ^hat, ^hast, ^habe, ^haben, ^ist, ^sind, ^war, ^waren, ^gibt, ^gab, was ist, was war, was hat
            | was, welche*""",
        "preference": _HABITS["german"]
        + """, liebling*, am liebsten, bevorzug*, mag, magst, mögen, mochte, gern, gerne, lieber,
            liebt, liebe, lieben, hasst, hasse, hassen, empfiehl*, empfehl*, vorschlag*, schlag * vor,
            gefällt, gefallen, vorliebe*, hobby*, schmeckt, soll ich, leiden kann, nicht leiden
            | genieß*, abneigung*, geschmack, meinung
            | beste*, besser, wünsch*, möchte*""",
        "conceptual": """warum, wieso, weshalb, weswegen, erklär*, unterschied*, vergleich*, wie funktionier*,
            wie kann, wie können, wie soll*, wie geht, wie kommt es, wie hängt, was bedeutet, bedeutung,
            zusammenhang, beschreib*, überblick, grund, gründe, ursache*, folgen, auswirkung*, vorteil*,
            nachteil*, zweck, prinzip*, konzept*, zusammenfass*, fasse
            | wie, verstehen, strategie*, ansatz
            | zwischen, weil""",
    },
    "french": {
        "factual": """quand, où, qui, combien, quel âge, quelle heure, quel jour, quelle date, quelle année,
            numéro, adresse, anniversaire, mot de passe, comment s appel*, le nom
            | ^est ce que, ^a t, ^est il, ^est elle, quel est, quelle est, quels sont, quelles sont
            | que, quoi, qu, quel, quelle, quels, quelles""",
        "preference": _HABITS["french"]
        + """, préfér*, préfèr*, aime, aimes, aiment, aimer, aimait, adore*, déteste*, recommand*,
            conseill*, suggèr*, suggér*, plaît, plait, favori*, goûts, passe temps, devrais je
            | apprécie*, opinion, avis sur
            | meilleur*, mieux, envie""",
        "conceptual": """pourquoi, comment fonction*, comment march*, comment faire, comment peut,
            comment puis, expliqu*, différence*, compar*, signifie, veut dire, décri*, raison*, cause*,
            conséquence*, avantage*, inconvénient*, but de, principe*, concept*, lien entre, rapport entre,
            résum*
            | comment
            | entre, parce""",
    },
    "spanish": {
        "factual": """cuándo, cuando, dónde, donde, quién, quiénes, quien, cuánto*, cuánta*, cuanto*, cuanta*,
            qué hora, qué día, qué fecha, qué año, número, dirección, cumpleaños, contraseña, cómo se llama*,
            nombre de
            | cuál es, cual es, cuáles son, ^hay, ^tiene, ^está, ^es, ^ha
            | qué, que, cuál, cual""",
        "preference": _HABITS["spanish"]
        + """, favorit*, prefer*, prefier*, gusta, gustan, gustaba, gustaría, encanta*, odia*, odio,
            detesta*, recomiend*, recomend*, sugier*, suger*, aficion*, debería
            | opina*, opinión, disfrut*
            | mejor*, quier*""",
        "conceptual": """por qué, porqué, para qué, por que, cómo funciona*, como funciona*, cómo se hace,
            cómo puedo, cómo pued*, explic*, diferencia*, compar*, significa*, quiere decir, describ*, razón,
            razones, motivo*, causa*, consecuencia*, ventaja*, desventaja*, propósito, principio*, concepto*,
            relación entre, resum*
            | cómo
            | entre, porque""",
    },
    "italian": {
        "factual": """quando, dove, dov, chi, quanto, quanta, quanti, quante, che ora, che ore, che giorno,
            che anno, numero, indirizzo, compleanno, password, come si chiam*, nome
            | qual è, quali sono, ^è, ^ha, ^hai, ^c è
            | che, cosa, quale, quali, qual""",
        "preference": _HABITS["italian"]
        + """, preferit*, prefer*, piace, piacciono, piaceva, piacerebbe, adora*, ama, amo, odia*,
            odio, detesta*, consiglia*, suggeri*, raccomand*, passatemp*, dovrei
            | opinione, gusti
            | miglior*, meglio, vorrei""",
        "conceptual": """perché, come mai, come funziona*, come si fa, come posso, come può, spieg*,
            differenz*, confront*, signific*, vuol dire, descriv*, ragion*, motiv*, causa*, conseguenz*,
            vantagg*, svantagg*, scopo, principi*, concett*, relazione tra, riassum*
            | come
            | tra, fra""",
    },
    "portuguese": {
        "factual": """quando, onde, quem, quanto, quanta, quantos, quantas, que horas, que dia, que ano,
            número, endereço, morada, aniversário, senha, como se chama*, nome d*
            | qual é, quais são, ^há, ^tem, ^está, ^é, ^foi
            | que, qual, quais""",
        "preference": _HABITS["portuguese"]
        + """, favorit*, prefer*, prefir*, gosto, gosta, gostam, gostas, gostava, gostaria, adora*,
            ama, odeia*, odeio, detesta*, recomend*, sugir*, suger*, passatemp*, devo
            | opinião, aprecia*
            | melhor*, quer*""",
        "conceptual": """por que, porque, porquê, por quê, para que, como funciona*, como se faz, como posso,
            como pode*, expli*, diferença*, compar*, significa*, quer dizer, descrev*, razão, razões, motivo*,
            causa*, consequência*, vantage*, desvantage*, propósito, princípio*, conceito*, relação entre,
            resum*
            | como
            | entre""",
    },
    "dutch": {
        "factual": """wanneer, waar, waarheen, wie, wiens, hoeveel, hoe oud, hoe lang, hoe ver, hoe vaak,
            hoe laat, hoe hoog, hoe groot, hoe duur, hoe heet*, welk jaar, welke dag, nummer, adres,
            verjaardag, wachtwoord, naam
            | ^heeft, ^heb, ^is, ^was, ^zijn, wat is, wat was
            | wat, welk, welke""",
        "preference": _HABITS["dutch"]
        + """, lieveling*, favoriet*, liefst, het liefst, liever, houdt * van, hou * van,
            houd * van, houden van, graag, haat, haten, beveel*, aanbevel*, raad * aan, voorkeur*,
            vindt * leuk, vind * leuk, leuk, lekker, lust, hobby*, moet ik
            | mening, geniet*
            | beste, beter, wil""",
        "conceptual": """waarom, waardoor, hoezo, hoe werk*, hoe kan, hoe kun*, hoe moet, leg * uit, uitleg*,
            verschil*, vergelijk*, betekent, betekenis, beschrijf*, overzicht, reden*, oorza*, gevolg*,
            voordel*, nadel*, doel van, principe*, concept*, verband tussen, samenvat*
            | hoe
            | tussen, omdat""",
    },
    "swedish": {
        "factual": """när, var, vart, varifrån, vem, vems, hur många, hur mycket, hur gammal, hur länge,
            hur långt, hur ofta, hur dags, hur hög, hur stor, vilket år, vilken dag, nummer, adress*,
            födelsedag*, lösenord*, heter, hette, namn*
            | ^har, ^är, ^finns, vad är, vad var
            | vad, vilken, vilket, vilka""",
        "preference": _HABITS["swedish"]
        + """, favorit*, älskling*, föredra*, gillar, gillade, gilla, älskar, älska, hatar, ogillar,
            rekommender*, föreslå*, tycker om, tycker * om, helst, hellre, hobby*, borde jag, ska jag
            | åsikt*, njut*, smak
            | bästa, bättre, vill""",
        "conceptual": """varför, hur fungera*, hur kan, hur gör, hur ska, hur kommer det sig, förklar*,
            skillnad*, jämför*, betyder, betydelse*, beskriv*, översikt*, orsak*, anledning*, följd*, fördel*,
            nackdel*, syfte*, princip*, begrepp*, samband*, sammanfatt*
            | hur
            | mellan, eftersom""",
    },
    "russian": {
        "factual": """когда, где, куда, откуда, кто, кого, кому, кем, чей, чья, чьё, чье, чьи, сколько,
            во сколько, как зовут, как звали, как называ*, какого числа, в каком году, какой год, какой день,
            номер, адрес, день рождения, пароль, имя
            | есть ли, был ли, была ли, были ли
            | что, какой, какая, какое, какие, какую, какого""",
        "preference": _HABITS["russian"]
        + """, любим*, люби*, любл*, любя*, нравит*, нравят*, нравил*, предпоч*, ненави*, обожа*,
            посовет*, порекоменд*, рекоменд*, предлож*, хобби, по душе, вкусы, мне посмотреть, мне выбрать
            | мнени*, увлека*, не выносит
            | лучш*, хуж*, хоч*, хотел*""",
        "conceptual": """почему, зачем, отчего, из за чего, как работа*, как устро*, как сделать, как можно,
            как функцион*, объясн*, разниц*, отлич*, сравн*, что значит, что означа*, значени*, опиши*,
            обзор*, причин*, последств*, преимуществ*, недостат*, смысл*, принцип*, концепц*, связь между,
            как связан*, подвед*, расскажи почему, расскажи как
            | как, каким образом, понять
            | между, потому""",
    },
}
"""The cues by language and type."""
