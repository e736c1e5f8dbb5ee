"""A language made ready: what it needs, and nothing compiled before it is needed."""

from __future__ import annotations

import pytest

from memorata.text.date_tongue import Tongue
from memorata.text.date_vocabulary import DIGITS
from memorata.text.dates_de import GERMAN
from memorata.text.dates_en import ENGLISH
from memorata.text.dates_numeric import DAY_FIRST, NUMERIC
from memorata.text.dates_ru import RUSSIAN

ALL = [ENGLISH, RUSSIAN, GERMAN, NUMERIC, DAY_FIRST]


@pytest.mark.parametrize("tongue", ALL)
def test_every_rule_compiles_and_needs_something(tongue: Tongue) -> None:
    assert len(tongue.ready) == len(tongue.rules)
    for rule in tongue.ready:
        assert rule.needs
        assert rule.expression.search("") is None


def test_expressions_wait_until_they_are_needed() -> None:
    fresh = Tongue(ENGLISH.vocabulary, ENGLISH.prepositions, ENGLISH.rules)
    assert "yesterday" in fresh.triggers
    assert not any("expression" in vars(rule) for rule in fresh.ready)


def test_triggers_are_words_and_prepositions_count_beside_digits() -> None:
    assert {"yesterday", "may", "weeks"} <= ENGLISH.triggers
    assert DIGITS not in ENGLISH.triggers
    assert "since" not in ENGLISH.triggers
    assert "since" in ENGLISH.beside_digits
    assert NUMERIC.triggers == frozenset()


@pytest.mark.parametrize(
    ("text", "count", "unit"),
    [("two days ", "two", "days"), ("the week ", None, "week"), ("shortly ", None, None)],
)
def test_a_measure_stands_before_before(text: str, count: str | None, unit: str | None) -> None:
    match = ENGLISH.measure.search(text)
    assert match is not None
    assert (match["number"], match["unit"]) == (count, unit)


def test_other_words_measure_nothing() -> None:
    assert ENGLISH.measure.search("we met ") is None
