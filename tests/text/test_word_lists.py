"""Stop words: function words, as the tokeniser sees them, negations kept apart; and common words."""

from __future__ import annotations

import pytest

from memorata.model.errors import InvalidArgument
from memorata.text.tokens import words
from memorata.text.word_lists import (
    CALENDAR,
    NOT_NAMES,
    STOP_WORD_LANGUAGES,
    TITLES,
    common_words,
    has_common_words,
    is_common,
    negations,
    stop_words,
)

NINE = {"english", "german", "french", "spanish", "italian", "portuguese", "dutch", "swedish", "russian"}


def test_nine_languages() -> None:
    assert set(STOP_WORD_LANGUAGES) == NINE


@pytest.mark.parametrize("language", STOP_WORD_LANGUAGES)
def test_every_entry_is_one_word_of_the_tokeniser(language: str) -> None:
    entries = stop_words(language) | negations(language)
    assert [entry for entry in entries if words(entry) != [entry]] == []
    assert len(stop_words(language)) >= 90


@pytest.mark.parametrize("language", STOP_WORD_LANGUAGES)
def test_a_negation_is_no_stop_word(language: str) -> None:
    assert negations(language)
    assert not stop_words(language) & negations(language)


@pytest.mark.parametrize(
    ("language", "stopped", "kept"),
    [
        ("english", "the of and is don t doesn ll what which", "not never may won battery like"),
        ("german", "der und ist was welche", "nicht kein batterie katze"),
        ("french", "le l d et est que qu", "pas jamais été chat"),
        ("spanish", "el de y es qué dónde", "no nunca gato"),
        ("italian", "il di e è che dov", "non mai gatto"),
        ("portuguese", "o de e é que onde", "não nunca gato"),
        ("dutch", "de het en is wat waar", "niet nooit kat"),
        ("swedish", "och det är vad var", "inte aldrig katt"),
        ("russian", "и в на что где мой", "не нет никогда кошка"),
    ],
)
def test_samples(language: str, stopped: str, kept: str) -> None:
    for word in stopped.split():
        assert word in stop_words(language), word
    for word in kept.split():
        assert word not in stop_words(language), word


def test_none_has_none() -> None:
    assert stop_words("none") == negations("none") == frozenset()


@pytest.mark.parametrize("bad", ["klingon", "", "English", None, 3, ["english"]])
@pytest.mark.parametrize("function", [stop_words, negations])
def test_unknown_language(function: object, bad: object) -> None:
    with pytest.raises(InvalidArgument, match="language must be one of 'english'"):
        function(bad)  # type: ignore[operator]


@pytest.mark.parametrize("word", ["the", "thanks", "never", "dinner", "cooking", "usually", "happiness"])
def test_common_words_are_listed_or_built_like_one(word: str) -> None:
    assert is_common(word, "english")


@pytest.mark.parametrize("word", ["anna", "caroline", "berlin", "tesla", "king"])
def test_names_are_neither(word: str) -> None:
    assert not is_common(word, "english")


def test_a_language_without_a_list_has_its_stop_words() -> None:
    assert has_common_words("german")
    assert not has_common_words("dutch")
    assert "het" in common_words("dutch")
    assert common_words("none") == frozenset()


@pytest.mark.parametrize("words", [CALENDAR, NOT_NAMES, TITLES, common_words("english")])
def test_the_lists_are_in_lower_case(words: frozenset[str]) -> None:
    assert all(word == word.lower() for word in words)
