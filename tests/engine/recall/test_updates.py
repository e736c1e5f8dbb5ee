"""Everyday facts that change, in five languages: the newest answers, the older is history."""

from datetime import UTC, datetime, timedelta

import pytest

import memorata

FACTS = {
    "English": [
        ("I live in Lisbon", "I live in Porto now", "Where do I live now?"),
        ("Anna works at Siemens", "Anna left Siemens and works at Bosch", "Where does Anna work?"),
        ("My phone number is 555-1234", "My new phone number is 555-9876", "What is my phone number?"),
        ("My favourite colour is blue", "My favourite colour is green", "What is my favourite colour?"),
        ("Tom is dating Lisa", "Tom is married to Clara now", "Whom is Tom married to?"),
        ("I drive a Golf", "I sold the Golf and drive a Tesla now", "Which car do I drive?"),
        ("I drink coffee every morning", "I don't drink coffee anymore", "Do I drink coffee?"),
        (
            "The team meeting is on Monday at 10",
            "The team meeting was moved to Tuesday",
            "When is the team meeting?",
        ),
        ("My rent is 900 euros", "My rent is 950 euros", "How much is my rent?"),
        ("My daughter is 6 years old", "My daughter is 7 years old", "How old is my daughter?"),
        ("We use PostgreSQL 14", "We switched to PostgreSQL 16", "Which PostgreSQL do we use?"),
        ("My boss is Karl", "My new boss is Petra", "Who is my boss?"),
    ],
    "German": [
        ("Ich wohne in Berlin", "Ich wohne jetzt in Hamburg", "Wo wohne ich?"),
        ("Anna arbeitet bei Siemens", "Anna arbeitet jetzt bei Bosch", "Wo arbeitet Anna?"),
        ("Meine Telefonnummer ist 555-1234", "Meine neue Telefonnummer ist 555-9876", "Meine Telefonnummer?"),
        ("Meine Lieblingsfarbe ist Blau", "Meine Lieblingsfarbe ist Grün", "Was ist meine Lieblingsfarbe?"),
        ("Tom ist mit Lisa zusammen", "Tom ist jetzt mit Clara verheiratet", "Mit wem ist Tom zusammen?"),
        ("Ich fahre einen Golf", "Ich habe den Golf verkauft und fahre jetzt einen Tesla", "Was fahre ich?"),
        ("Ich trinke jeden Morgen Kaffee", "Ich trinke keinen Kaffee mehr", "Trinke ich Kaffee?"),
        (
            "Die Besprechung ist am Montag",
            "Die Besprechung wurde auf Dienstag verschoben",
            "Wann ist die Besprechung?",
        ),
        ("Meine Miete beträgt 900 Euro", "Meine Miete beträgt 950 Euro", "Wie hoch ist meine Miete?"),
        ("Meine Tochter ist 6 Jahre alt", "Meine Tochter ist 7 Jahre alt", "Wie alt ist meine Tochter?"),
        ("Mein Chef ist Herr Weber", "Mein neuer Chef ist Herr Klein", "Wer ist mein Chef?"),
        ("Uta ist ledig", "Uta hat letzte Woche geheiratet", "Ist Uta ledig?"),
    ],
    "French": [
        ("J'habite à Lyon", "J'habite maintenant à Paris", "Où est-ce que j'habite ?"),
        ("Anna travaille chez Renault", "Anna travaille maintenant chez Peugeot", "Où travaille Anna ?"),
        (
            "Mon numéro de téléphone est 555-1234",
            "Mon nouveau numéro de téléphone est 555-9876",
            "Mon numéro de téléphone ?",
        ),
        (
            "Ma couleur préférée est le bleu",
            "Ma couleur préférée est le vert",
            "Quelle est ma couleur préférée ?",
        ),
        ("Tom est en couple avec Lisa", "Tom est maintenant marié avec Clara", "Avec qui est Tom ?"),
        (
            "Je conduis une Golf",
            "J'ai vendu la Golf et je conduis maintenant une Tesla",
            "Quelle voiture est-ce que je conduis ?",
        ),
        ("Je bois du café tous les matins", "Je ne bois plus de café", "Est-ce que je bois du café ?"),
        ("La réunion est lundi", "La réunion est reportée à mardi", "Quand est la réunion ?"),
        ("Mon loyer est de 900 euros", "Mon loyer est de 950 euros", "Combien est mon loyer ?"),
        ("Ma fille a 6 ans", "Ma fille a 7 ans", "Quel âge a ma fille ?"),
        ("Mon chef s'appelle Paul", "Mon nouveau chef s'appelle Marc", "Comment s'appelle mon chef ?"),
        ("Odile fume", "Odile ne fume plus", "Est-ce qu'Odile fume ?"),
    ],
    "Spanish": [
        ("Vivo en Madrid", "Ahora vivo en Valencia", "¿Dónde vivo?"),
        ("Ana trabaja en Seat", "Ana trabaja ahora en Ford", "¿Dónde trabaja Ana?"),
        (
            "Mi número de teléfono es 555-1234",
            "Mi nuevo número de teléfono es 555-9876",
            "¿Cuál es mi número de teléfono?",
        ),
        ("Mi color favorito es el azul", "Mi color favorito es el verde", "¿Cuál es mi color favorito?"),
        ("Tomás es novio de Lisa", "Tomás está casado con Clara", "¿Con quién está Tomás?"),
        ("Conduzco un Golf", "Vendí el Golf y ahora conduzco un Tesla", "¿Qué coche conduzco?"),
        ("Tomo café todas las mañanas", "Ya no tomo café", "¿Tomo café?"),
        ("La reunión es el lunes", "La reunión se ha pasado al martes", "¿Cuándo es la reunión?"),
        ("Mi alquiler es de 900 euros", "Mi alquiler es de 950 euros", "¿Cuánto es mi alquiler?"),
        ("Mi hija tiene 6 años", "Mi hija tiene 7 años", "¿Cuántos años tiene mi hija?"),
        ("Mi jefe es Pablo", "Mi nuevo jefe es Marcos", "¿Quién es mi jefe?"),
        ("Rocío fuma", "Rocío ya no fuma", "¿Rocío fuma?"),
    ],
    "Chinese": [
        ("我住在北京", "我现在住在上海", "我住在哪里？"),
        ("安娜在华为上班", "安娜现在在腾讯上班", "安娜在哪里上班？"),
        ("我的电话号码是5551234", "我的新电话号码是5559876", "我的电话号码是多少？"),
        ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色", "我最喜欢的颜色？"),
        ("小明的女朋友是丽莎", "小明现在的女朋友是小红", "小明的女朋友是谁？"),
        ("我开一辆高尔夫", "我把高尔夫卖了，现在开特斯拉", "我还有高尔夫吗？"),
        ("我每天早上喝咖啡", "我不再喝咖啡了", "我喝咖啡吗？"),
        ("我的房租是900元", "我的房租是950元", "我的房租是多少？"),
        ("我女儿6岁", "我女儿7岁", "我女儿多大了？"),
        ("我的老板是王先生", "我的新老板是李先生", "我的老板是谁？"),
        ("王芳单身", "王芳上周结婚了", "王芳单身吗？"),
        ("赵敏在杭州工作", "赵敏现在在昆明工作", "赵敏在哪里工作？"),
    ],
}


@pytest.mark.parametrize("language", FACTS)
@pytest.mark.parametrize("embedder", ["lexical", None])
def test_the_newest_of_everyday_facts_answers(language: str, embedder: str | None) -> None:
    clock = [datetime(2026, 1, 5, 9, tzinfo=UTC)]
    facts = FACTS[language]
    with memorata.open(":memory:", embedder=embedder, clock=lambda: clock[0]) as memory:
        for text in (*(older for older, _, _ in facts), *(newer for _, newer, _ in facts)):
            memory.remember(text)
            clock[0] += timedelta(days=1)
        for older, newer, query in facts:
            result = memory.recall(query)
            shown = [hit.memory.content for hit in result]
            earlier = {each.id for each in result.history}
            history = [hit.memory.content for hit in result if hit.memory.id in earlier]
            # Before the older one, or told beside it where the query finds only that.
            told = newer in [each.text for each in result.history]
            assert told or newer in shown[: shown.index(older) + 1 if older in shown else None], query
            assert older in history or older not in shown, query
