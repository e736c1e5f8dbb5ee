"""A question of function words asks something if one of them asks, or stands for somebody."""

from __future__ import annotations

import pytest

from memorata.model.errors import InvalidArgument
from memorata.text.asking import _asking, asks_something, without_happening
from memorata.text.stopwords import STOP_WORD_LANGUAGES, negations, stop_words


@pytest.mark.parametrize(
    "nothing",
    [
        "the of and",
        "in the of at",
        "and then",
        "is there any",
        "und der von",
        "der die das und oder",
        "le de la et des dans",
        "est dans les avec",
        "el de la y para los",
        "con para las del",
        "il di e della gli",
        "o de e da os uma",
        "de het en van een",
        "och det är till",
        "и в на с по",
        "это было и в",
        "THE OF AND",
        "The of and.",
        "???",
        "…",
        " . . . ",
        "«»",
    ],
)
def test_articles_prepositions_conjunctions_and_auxiliaries_ask_nothing(nothing: str) -> None:
    assert not asks_something(nothing)


@pytest.mark.parametrize(
    "question",
    [
        "Who am I?",
        "what is it",
        "where are we",
        "Is it on?",
        "Wer bin ich?",
        "Wie ist es?",
        "Qui suis-je ?",
        "Où est-il ?",
        "¿Quién soy?",
        "¿Qué es?",
        "Chi sono?",
        "Dov'è?",
        "Quem sou eu?",
        "Wie ben ik?",
        "Waar is het?",
        "Vem är jag?",
        "Кто я?",
        "Где они?",
        "when was that",
    ],
)
def test_a_question_word_asks_and_a_pronoun_stands_for_somebody(question: str) -> None:
    assert asks_something(question)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("the battery", "a word that is no function word"),
        ("the not", "a negation turns something round"),
        ("to be or not to be", "the same"),
        ("Will", "one word alone may be a name"),
        ("the", "the same"),
        ("about Will", "a capital letter inside"),
        ("The Who", "the same"),
        ("US and the", "an abbreviation"),
        ("of 7", "a number"),
        ("the of UK", "a short word that no list has"),
        ("el de la", "words that stand in English names, too, and nothing that says which language"),
        ("🍵 🍵", "no words"),
        ("", "no words"),
        ("钥匙 在 哪里", "a language without a list"),
        ("де і на", "Ukrainian, which has none"),
    ],
)
def test_in_doubt_it_is_a_question(question: str, why: str) -> None:
    assert asks_something(question), why


@pytest.mark.parametrize("language", STOP_WORD_LANGUAGES)
def test_what_asks_is_among_the_stop_words_and_not_all_of_them(language: str) -> None:
    # A word of the list that is no stop word would be there in vain: it counts as a word in any case.
    assert _asking(language) <= stop_words(language)
    assert len(stop_words(language) - _asking(language)) > 50
    assert not _asking(language) & negations(language)


@pytest.mark.parametrize("bad", [None, 3, b"tea", ["tea"]])
def test_a_text_is_a_text(bad: object) -> None:
    with pytest.raises(InvalidArgument, match="text must be a string"):
        asks_something(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What happened?", "what"),
        ("Was ist passiert, und was geschah dann?", "was ist und was dann"),
        ("¿Qué pasó con Ana?", "qué con ana"),
        ("Qu'est-ce qui s'est passé ?", "qu est ce qui s est"),
        ("Что случилось?", "что"),
        ("the mishap", "the mishap"),
        ("Hände", "hände"),
        ("", ""),
    ],
)
def test_words_that_only_say_that_something_took_place_are_left_out(text: str, rest: str) -> None:
    assert without_happening(text) == rest
