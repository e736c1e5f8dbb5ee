"""A fact of the speaker, and of a relative, a superior or a pet, are facts of different subjects."""

import random

import pytest

import memorata

PERSONS = {
    "English": [
        ("", "Anna", "5551001", "May 3", "Rome", "nurse"),
        ("wife", "Ida", "5551002", "June 4", "Paris", "teacher"),
        ("boss", "Petra", "5551003", "July 5", "Berlin", "manager"),
        ("landlord", "Otto", "5551004", "August 6", "Madrid", "lawyer"),
        ("dog", "Rex", "5551005", "April 7", "Vienna", "guide dog"),
        ("sister", "Eva", "5551006", "March 8", "Oslo", "doctor"),
    ],
    "German": [
        ("", "Anna", "5551001", "3. Mai", "Rom", "Pflegerin"),
        ("e Frau", "Ida", "5551002", "4. Juni", "Paris", "Lehrerin"),
        (" Chef", "Klaus", "5551003", "5. Juli", "Berlin", "Ingenieur"),
        (" Vermieter", "Otto", "5551004", "6. August", "Madrid", "Anwalt"),
        (" Hund", "Rex", "5551005", "7. April", "Wien", "Blindenhund"),
        ("e Schwester", "Eva", "5551006", "8. März", "Oslo", "Ärztin"),
    ],
    "Spanish": [
        ("", "Ana", "5551001", "3 de mayo", "Roma", "enfermera"),
        ("mujer", "Ida", "5551002", "4 de junio", "París", "maestra"),
        ("jefe", "Carlos", "5551003", "5 de julio", "Berlín", "ingeniero"),
        ("casero", "Otto", "5551004", "6 de agosto", "Madrid", "abogado"),
        ("perro", "Rex", "5551005", "7 de abril", "Viena", "perro guía"),
        ("hermana", "Eva", "5551006", "8 de marzo", "Oslo", "doctora"),
    ],
    "French": [
        ("", "Anne", "5551001", "3 mai", "Rome", "infirmière"),
        ("a femme", "Ida", "5551002", "4 juin", "Paris", "professeur"),
        ("on patron", "Karl", "5551003", "5 juillet", "Berlin", "ingénieur"),
        ("on propriétaire", "Otto", "5551004", "6 août", "Madrid", "avocat"),
        ("on chien", "Rex", "5551005", "7 avril", "Vienne", "chien guide"),
        ("a sœur", "Eva", "5551006", "8 mars", "Oslo", "médecin"),
    ],
}
MINE = {
    "English": [
        ["My name is {1}.", "My phone number is {2}.", "My birthday is {3}.", "I live in {4}.",
         "I am a {5}."],
        ["I am called {1}.", "My number is {2}.", "I was born on {3}.", "My home is in {4}.",
         "I work as a {5}."],
    ],
    "German": [
        ["Mein Name ist {1}.", "Meine Telefonnummer ist {2}.", "Mein Geburtstag ist der {3}.",
         "Ich wohne in {4}.", "Ich bin {5}."],
        ["Ich heiße {1}.", "Meine Nummer ist {2}.", "Ich habe am {3} Geburtstag.", "Ich lebe in {4}.",
         "Ich arbeite als {5}."],
    ],
    "Spanish": [
        ["Me llamo {1}.", "Mi teléfono es el {2}.", "Mi cumpleaños es el {3}.", "Vivo en {4}.", "Soy {5}."],
        ["Mi nombre es {1}.", "Mi número de teléfono es {2}.", "Nací el {3}.", "Mi casa está en {4}.",
         "Trabajo como {5}."],
    ],
    "French": [
        ["Je m'appelle {1}.", "Mon numéro est le {2}.", "Mon anniversaire est le {3}.", "J'habite à {4}.",
         "Je suis {5}."],
        ["Mon nom est {1}.", "Mon numéro de téléphone est {2}.", "Je suis né le {3}.", "Je vis à {4}.",
         "Je travaille comme {5}."],
    ],
}  # fmt: skip
THEIRS = {
    "English": [
        ["My {0} is called {1}.", "My {0}'s phone number is {2}.", "My {0}'s birthday is {3}.",
         "My {0} lives in {4}.", "My {0} works as a {5}."],
        ["My {0}'s name is {1}.", "The phone number of my {0} is {2}.", "The birthday of my {0} is {3}.",
         "My {0}'s home is in {4}.", "My {0} is a {5}."],
    ],
    "German": [
        ["Mein{0} heißt {1}.", "Mein{0} hat die Telefonnummer {2}.", "Mein{0} hat am {3} Geburtstag.",
         "Mein{0} wohnt in {4}.", "Mein{0} arbeitet als {5}."],
        ["Mein{0} ist {1}.", "Die Nummer von mein{0} ist {2}.", "Mein{0} ist am {3} geboren.",
         "Mein{0} lebt in {4}.", "Mein{0} ist {5} von Beruf."],
    ],
    "Spanish": [
        ["Mi {0} se llama {1}.", "El teléfono de mi {0} es el {2}.", "El cumpleaños de mi {0} es el {3}.",
         "Mi {0} vive en {4}.", "Mi {0} es {5}."],
        ["El nombre de mi {0} es {1}.", "El número de teléfono de mi {0} es {2}.", "Mi {0} nació el {3}.",
         "La casa de mi {0} está en {4}.", "Mi {0} trabaja como {5}."],
    ],
    "French": [
        ["M{0} s'appelle {1}.", "Le numéro de m{0} est le {2}.", "L'anniversaire de m{0} est le {3}.",
         "M{0} habite à {4}.", "M{0} est {5}."],
        ["Le nom de m{0} est {1}.", "Le numéro de téléphone de m{0} est {2}.", "M{0} est né le {3}.",
         "M{0} vit à {4}.", "M{0} travaille comme {5}."],
    ],
}  # fmt: skip


def facts(language: str, style: int) -> list[str]:
    return [
        form.format(*person)
        for person in PERSONS[language]
        for form in (THEIRS if person[0] else MINE)[language][style]
    ]


@pytest.mark.parametrize("category", ["fact", "correction"])
@pytest.mark.parametrize("style", [0, 1])
@pytest.mark.parametrize("language", PERSONS)
def test_facts_of_six_subjects_stand_beside_each_other(language: str, style: int, category: str) -> None:
    for seed in range(3):
        texts = facts(language, style)
        random.Random(seed).shuffle(texts)
        with memorata.open(":memory:", embedder="lexical") as memory:
            kept = [memory.remember(text, category=category) for text in texts]
            texts_of = {one.id: one.content for one in kept}
            noted = {
                (texts_of[note.older], texts_of[note.newer])
                for one in kept
                for note in memory.admin.duplicates.contradictions(one.id)
            }
            assert noted == set()
            assert [one.content for one in kept if memory.get(one.id).superseded_by] == []
