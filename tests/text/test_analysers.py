"""Analysers: `plain` cuts, `snowball` drops stop words and stems; lengths count before and after."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.text import analysers, tokens
from memorata.text.analysers import (
    ANALYSERS,
    LANGUAGES,
    ROOT_LENGTH,
    STEMMED_LANGUAGES,
    Analyser,
    analyser,
    roots,
    stem,
)
from memorata.text.language import function_words, languages_by_script, script_language
from memorata.text.tokens import is_unspaced, words
from memorata.text.word_lists import STOP_WORD_LANGUAGES, stop_words

PLAIN = [
    ("UAV-001 battery degraded to 15.2%!", ["uav", "001", "battery", "degraded", "to", "15"]),
    ("The cats", ["the", "cats"]),
    ("snake_case", ["snake", "case"]),
    ("a I 7", []),
    ("手 手机", ["手", "手机"]),  # characters of unspaced scripts are never too short
    ("", []),
]

SNOWBALL = [
    ("UAV-001 battery degraded to 15.2%!", ["uav", "001", "batteri", "degrad", "15", "2"]),
    ("On the 7th, not the 1st", ["7th", "not", "1st"]),
    ("Room b2 on floor 9", ["room", "b2", "floor", "9"]),
    ("He goes to an AI meetup", ["goe", "meetup"]),  # "ai" is shorter than three
    ("Two ads", ["two"]),  # "ads" is long enough, its stem "ad" is not
    ("Я боюсь собак", ["собак"]),  # the stem of «боюсь» is «бо»
    ("Die Häuser der Straße", ["haus", "strass"]),
    ("Ich mag STRASSE und Straße", ["strass", "strass"]),
    ("J'aime les chevaux", ["aim", "cheval"]),
    ("I don't like what they've done", ["like"]),
    ("手机很好", ["手机", "机很", "很好"]),
    ("iPhone手机 cases", ["iphon", "手机", "case"]),
    ("Мої ключі на столі", ["мої", "ключі", "столі"]),  # Ukrainian: no stemmer, no stop words, but lengths
    ("the snake_case_names", ["snake_case_nam"]),
    ("What is it?", []),
    ("", []),
    ("👋 \x00 \ud800", []),
]


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_plain(text: str, expected: list[str]) -> None:
    assert ANALYSERS["plain"].tokens(text) == expected


@pytest.mark.parametrize(("text", "expected"), SNOWBALL)
def test_snowball(text: str, expected: list[str]) -> None:
    assert ANALYSERS["snowball"].tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She bought матрёшки for the children", ["bought", "матрешк", "children"]),
        ("Купила новые наушники, wireless headphones", ["куп", "нов", "наушник", "wireless", "headphon"]),
        ("我买了 new headphones", ["我买", "买了", "new", "headphon"]),
    ],
)
def test_mixed_scripts_are_stemmed_each_in_its_language(text: str, expected: list[str]) -> None:
    assert ANALYSERS["snowball"].tokens(text) == expected


def test_a_chosen_language_holds_for_every_text() -> None:
    german = analyser("snowball", language="german")
    assert german.tokens("die Katzen") == ["katz"]
    assert german.tokens("the cats") == ["the", "cat"]  # "the" is no German stop word; the stemmer drops an s


def test_a_language_with_a_stemmer_and_no_list() -> None:
    finnish = analyser("snowball", language="finnish")
    assert finnish.tokens("talossa on") == ["talo"]


def test_language_none_neither_stops_nor_stems() -> None:
    assert analyser("snowball", language="none").tokens("the batteries") == ["the", "batteries"]


def test_overrides() -> None:
    assert analyser("plain") == ANALYSERS["plain"]
    assert analyser("plain", min_length=1).tokens("15.2%") == ["15", "2"]
    assert analyser("snowball", stemming=False).tokens("the batteries") == ["batteries"]
    assert analyser("snowball", stop=False).tokens("the batteries") == ["the", "batteri"]
    assert analyser("snowball", keep_digits=False).tokens("the 7th of 2024") == ["7th", "2024"]
    assert analyser("snowball", keep_digits=False).tokens("floor 9") == ["floor"]
    assert analyser("plain", underscores=True).tokens("snake_case") == ["snake_case"]


def test_settings_are_declared() -> None:
    declared = {parameter.name: parameter for parameter in parameters_of(Analyser)}
    assert list(declared) == ["min_length", "keep_digits", "stop", "stemming", "language", "underscores"]
    assert declared["language"].choices == LANGUAGES


@pytest.mark.parametrize("name", sorted(ANALYSERS))
def test_shipped_under_their_own_names(name: str) -> None:
    assert ANALYSERS[name].name == name
    assert pickle.loads(pickle.dumps(ANALYSERS[name])) == ANALYSERS[name]


def slow_terms(settings: Analyser, text: str) -> list[str]:
    """Read word by word with fresh stemmers and no tables."""
    found = words(text, underscores=settings.underscores)
    latin, cyrillic, _ = languages_by_script(found)
    terms = []
    for word in found:
        if is_unspaced(word) or (settings.keep_digits and any(c.isdecimal() for c in word)):
            terms.append(word)
            continue
        if settings.language != "detect":
            language = settings.language
        elif (word[0].isascii() and word[0].isalpha()) or "À" <= word[0] <= "ɏ":
            language = latin
        elif "Ѐ" <= word[0] <= "ԯ":
            language = cyrillic
        else:
            language = script_language(word)
        if len(word) < settings.min_length:
            continue
        stops = stop_words(language) if language in STOP_WORD_LANGUAGES else function_words(language)
        if settings.stop and word in stops:
            continue
        if settings.stemming and language != "none":
            word = Stemmer.Stemmer(language).stemWord(word)
        if len(word) >= settings.min_length:
            terms.append(word)
    return terms


VOCABULARY = """
    The dogs running quickly on 7th street 2 b2 don't Ich mag Hunde nicht straße Я боюсь собак київ їжак
    手机很好 छोटा ab_c _x été les chevaux ads ties I a ω 1990s
"""


@given(
    st.builds(
        Analyser,
        st.just("any"),
        min_length=st.integers(0, 4),
        keep_digits=st.booleans(),
        stop=st.booleans(),
        stemming=st.booleans(),
        language=st.sampled_from(["detect", "none", "english", "russian", "finnish"]),
        underscores=st.booleans(),
    ),
    st.lists(st.sampled_from(VOCABULARY.split()), max_size=8).map(" ".join),
)
def test_same_as_word_by_word(settings: Analyser, text: str) -> None:
    assert settings.tokens(text) == slow_terms(settings, text)


@given(st.text(max_size=60))
def test_any_text_is_safe(text: str) -> None:
    for settings in ANALYSERS.values():
        assert settings.tokens(text) == settings.tokens(text)


def test_tables_stay_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_CACHED_WORDS", 10)
    settings = Analyser("bounded")
    text = " ".join(f"word{n}" for n in range(100)) + " " + "x" * 1_000
    assert settings.tokens(text) == text.split()
    table = analysers._table(settings, "none", "none")
    assert 0 < len(table) <= 10
    assert "x" * 1_000 not in table


def test_threads_agree() -> None:
    texts = [f"The dogs{n} are running to houses and batteries {n}" for n in range(200)]
    expected = [slow_terms(ANALYSERS["snowball"], text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda _: [ANALYSERS["snowball"].tokens(text) for text in texts], range(16)):
            assert result == expected


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"min_length": -1}, "min_length must be a whole number of at least 0, got -1"),
        ({"min_length": 2.0}, "min_length"),
        ({"min_length": True}, "min_length"),
        ({"keep_digits": 1}, "keep_digits must be True or False"),
        ({"stop": "yes"}, "stop must be True or False"),
        ({"stemming": None}, "stemming must be True or False"),
        ({"underscores": 0}, "underscores must be True or False"),
        ({"language": "klingon"}, "language must be one of 'detect', 'none', 'arabic'"),
        ({"language": None}, "language must be one of"),
        ({"colour": 3}, "setting must be one of 'min_length', 'keep_digits'"),
    ],
)
def test_bad_settings(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        analyser("plain", **overrides)


def test_an_analyser_has_a_name() -> None:
    with pytest.raises(InvalidArgument, match="name must be a string"):
        Analyser(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["porter", "", None])
def test_unknown_analyser(bad: Any) -> None:
    with pytest.raises(InvalidArgument, match="name must be one of 'plain', 'snowball'"):
        analyser(bad)


@pytest.mark.parametrize("bad", [None, 3, b"bytes", ["a"]])
def test_only_strings(bad: Any) -> None:
    with pytest.raises(InvalidArgument, match="text must be a string"):
        ANALYSERS["snowball"].tokens(bad)


@pytest.mark.parametrize(
    ("text", "whole", "terms"),
    [
        ("Katzen", "Minka schläft gern auf dem Sofa.", ["katz"]),
        ("Katzen", "Minka sleeps on the sofa.", ["katzen"]),
        ("flores", "Hemos ido al médico con ella.", ["flor"]),
        ("kwiaty", "Są już żółte i różne.", ["kwiat"]),
        ("květy", "Už jsou žluté a různé.", ["květy"]),
        ("кошки, cats", "Мы вчера ходили к врачу.", ["кошк", "cat"]),
        ("", "Minka sleeps.", []),
        ("Cats", "", ["cat"]),
    ],
)
def test_a_few_words_are_read_in_the_language_of_the_text_they_belong_to(
    text: str, whole: str, terms: list[str]
) -> None:
    snowball = ANALYSERS["snowball"]
    assert snowball.tokens_in(text, snowball.read(whole)[1]) == terms


def test_an_analyser_that_knows_its_language_reads_every_text_in_it() -> None:
    german = "Minka schläft gern auf dem Sofa."
    assert analyser("snowball", language="english").read(german)[1] == ("english", "english")
    assert ANALYSERS["plain"].read(german)[1] == ("none", "none")
    assert ANALYSERS["snowball"].read(german)[1] == ("german", "russian")


@pytest.mark.parametrize("languages", [("klingon", "russian"), ("german", "detect"), ("german", 7)])
def test_a_language_that_nobody_reads_is_refused(languages: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"languages\[[01]\] must be one of"):
        ANALYSERS["snowball"].tokens_in("Katzen", languages)


@given(text=st.text(max_size=40))
def test_a_text_in_its_own_languages_is_read_as_it_is(text: str) -> None:
    for each in ANALYSERS.values():
        terms, languages = each.read(text)
        assert each.tokens_in(text, languages) == terms == each.tokens(text)


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
def test_stems_are_those_of_snowball(token: str, language: str, expected: str) -> None:
    assert stem(token, language) == expected


def test_every_language_with_stop_words_has_a_stemmer() -> None:
    assert set(STOP_WORD_LANGUAGES) <= set(STEMMED_LANGUAGES)


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), max_size=5),
    st.sampled_from(STEMMED_LANGUAGES),
)
def test_same_as_a_fresh_stemmer(tokens: list[str], language: str) -> None:
    assert [stem(token, language) for token in tokens] == [
        Stemmer.Stemmer(language).stemWord(token) for token in tokens
    ]


@pytest.mark.untraced
def test_threads_stem_alike() -> None:
    tokens = [
        f"{'x' * 65}{root}{ending}"
        for root in ("lov", "hop", "walk", "nation")
        for ending in ("ing", "ed", "s")
    ]
    expected = [Stemmer.Stemmer("english").stemWord(token) for token in tokens]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: [stem(token, "english") for token in tokens * 50], range(64)))
    assert all(result == expected * 50 for result in results)


def test_forms_of_a_word_share_their_root() -> None:
    assert roots("люблю") == roots("любишь") == ["люб"]
    assert roots("я трону") == ["я", "тро"]


def test_other_scripts_have_none() -> None:
    assert roots("I like tea") == roots("お茶") == roots("") == []
    assert roots("чай Earl Grey") == ["чай"]


@given(st.text())
def test_a_root_begins_a_word_of_the_text(text: str) -> None:
    every = words(text)
    for root in roots(text):
        assert 1 <= len(root) <= ROOT_LENGTH
        assert any(word.startswith(root) for word in every)
