"""Cues: every language has some of every kind, and each can really match."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from memorata.text.queries import QUERY_TYPES, query_cues
from memorata.text.tokens import words
from memorata.text.word_lists import STOP_WORD_LANGUAGES

CUES = query_cues()


def every_cue(cues: Mapping[str, str]) -> list[str]:
    blocks = [block for type_ in QUERY_TYPES for block in cues[type_].split("|")] + [cues.get("neutral", "")]
    return [" ".join(cue.split()) for block in blocks for cue in block.split(",") if cue.strip()]


def test_nine_languages() -> None:
    assert set(CUES) == set(STOP_WORD_LANGUAGES)


@pytest.mark.parametrize("language", sorted(CUES))
def test_every_type_has_cues_of_every_strength(language: str) -> None:
    assert all(block.strip() for type_ in QUERY_TYPES for block in CUES[language][type_].split("|"))


@pytest.mark.parametrize("language", sorted(CUES))
def test_cues_are_written_as_the_tokeniser_sees_them(language: str) -> None:
    for cue in every_cue(CUES[language]):
        plain = cue.removeprefix("^").replace("*", "")
        assert words(plain) == plain.split(), cue


@pytest.mark.parametrize("language", sorted(CUES))
def test_no_cue_is_listed_twice(language: str) -> None:
    cues = every_cue(CUES[language])
    assert sorted(cues) == sorted(set(cues))


@pytest.mark.parametrize("language", sorted(CUES))
def test_a_first_word_shows_at_least_two_letters_before_its_star(language: str) -> None:
    # Cues are looked up by the first two letters of their first word.
    for cue in every_cue(CUES[language]):
        first = cue.removeprefix("^").split()[0]
        assert "*" not in first[:2], cue
