"""Stems: Snowball's, the same from any thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.text.stems import STEMMED_LANGUAGES, stem, stems
from memorata.text.stopwords import STOP_WORD_LANGUAGES


@pytest.mark.parametrize(
    ("token", "language", "expected"),
    [
        ("batteries", "english", "batteri"),
        ("battery", "english", "batteri"),
        ("running", "english", "run"),
        ("боюсь", "russian", "бо"),
        ("кошками", "russian", "кошк"),
        ("häuser", "german", "haus"),
        ("straße", "german", "strass"),
        ("strasse", "german", "strass"),
        ("chevaux", "french", "cheval"),
        ("gatos", "spanish", "gat"),
        ("gatti", "italian", "gatt"),
        ("gatos", "portuguese", "gat"),
        ("katten", "dutch", "kat"),
        ("katterna", "swedish", "katt"),
        ("running", "none", "running"),
        ("", "english", ""),
        ("手机", "english", "手机"),
    ],
)
def test_worked(token: str, language: str, expected: str) -> None:
    assert stem(token, language) == expected
    assert stems([token, token], language) == [expected, expected]


def test_every_language_with_stop_words_has_a_stemmer() -> None:
    assert set(STOP_WORD_LANGUAGES) <= set(STEMMED_LANGUAGES)


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), max_size=5),
    st.sampled_from(STEMMED_LANGUAGES),
)
def test_same_as_a_fresh_stemmer(tokens: list[str], language: str) -> None:
    assert stems(tokens, language) == [Stemmer.Stemmer(language).stemWord(token) for token in tokens]


def test_threads_agree() -> None:
    # Distinct words past the cache's reach, so that every thread really stems.
    tokens = [
        f"{'x' * 65}{root}{ending}"
        for root in ("lov", "hop", "walk", "nation")
        for ending in ("ing", "ed", "s")
    ]
    expected = [Stemmer.Stemmer("english").stemWord(token) for token in tokens]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: stems(tokens * 50, "english"), range(64)))
    assert all(result == expected * 50 for result in results)


@pytest.mark.parametrize("bad", ["klingon", "English", "", None, 7, ["english"]])
def test_unknown_language_lists_those_known(bad: object) -> None:
    with pytest.raises(InvalidArgument, match=r"language must be one of 'arabic'.*'swedish'.*'none'"):
        stem("cats", bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bad", "named"), [("cats", "tokens"), (["cats", None], r"tokens\[1\]"), ([b"x"], r"tokens\[0\]")]
)
def test_only_lists_of_words(bad: object, named: str) -> None:
    with pytest.raises(InvalidArgument, match=named):
        stems(bad, "english")  # type: ignore[arg-type]


def test_one_word_must_be_a_string() -> None:
    with pytest.raises(InvalidArgument, match="token must be a string"):
        stem(3, "english")  # type: ignore[arg-type]
