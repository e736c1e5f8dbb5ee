"""What people type, read strictly."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memorata.cli.options import (
    json_object,
    one_of,
    parameter_values,
    period_of,
    place_of,
    text_of,
    time_of,
)
from memorata.engine.recipes import PARAMETERS, Recipe
from memorata.model.errors import InvalidArgument

Run = Callable[..., Any]


def test_what_is_no_choice_is_refused_with_the_choices() -> None:
    assert one_of("--x", "a", ["a", "bc"]) == "a"
    with pytest.raises(InvalidArgument, match=r"--x must be one of a, bc, got 'q'"):
        one_of("--x", "q", ["a", "bc"])
    with pytest.raises(
        InvalidArgument, match=r"one of vector, words \(did you mean vector\?\), got 'vektor'"
    ):
        one_of("--x", "vektor", ["vector", "words"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-07", datetime(2026, 5, 7, tzinfo=UTC)),
        ("2026-05-07T18:30Z", datetime(2026, 5, 7, 18, 30, tzinfo=UTC)),
        ("2026-05-07 20:30+02:00", datetime(2026, 5, 7, 18, 30, tzinfo=UTC)),
    ],
)
def test_times(text: str, expected: datetime) -> None:
    assert time_of("--as-of", text) == expected


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "2026-05-07T10:00", "20260507T10"])
def test_times_that_are_none_or_have_no_zone(text: str) -> None:
    with pytest.raises(InvalidArgument, match="--as-of must be a time"):
        time_of("--as-of", text)


def test_json_that_is_broken_says_where() -> None:
    assert json_object("--filter", None) is None
    with pytest.raises(InvalidArgument, match=r"Expecting value at character 7"):
        json_object("--filter", '{"a": }')
    with pytest.raises(InvalidArgument, match="JSON"):
        json_object("--filter", "[" * 100_000)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_every_parameter_can_be_set_to_what_it_is(parameter: Any) -> None:
    said = {True: "yes", False: "no"}.get(parameter.default) if parameter.type is bool else parameter.default
    assert parameter_values([f"{parameter.name}={said}"]) == {parameter.name: parameter.default}
    assert parameter.range
    with pytest.raises(InvalidArgument, match=f"--set {parameter.name} must be"):
        parameter_values([f"{parameter.name}=nonsense"])


def test_parameters_may_be_written_with_dashes_and_the_last_one_counts() -> None:
    found = parameter_values(["vector-weight=0.1", "vector_weight = 0.2"])
    assert found == {"vector_weight": 0.2}
    assert Recipe(name="mine").changed(found).vector_weight == 0.2


def test_text_that_is_not_unicode_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="the text must be UTF-8"):
        text_of(["caf\udce9"])


def test_a_piece_of_an_id_is_enough_if_only_one_has_it(cli: Run) -> None:
    cli("remember", "one", "--id", "note-tea-1")
    cli("remember", "two", "--id", "note-tea-2")
    cli("remember", "three", "--id", "tea")
    assert cli("show", "tea-2").lines[0] == "two"
    assert cli("show", "tea").lines[0] == "three"
    several = cli("show", "note")
    assert several.code == 2
    assert "id must be a part of one id only; it is in note-tea-2, note-tea-1, got 'note'" in several.err
    assert cli("show", "a-2").code == 1


def test_texts_become_values() -> None:
    assert text_of(["Anna", "likes", "tea"]) == "Anna likes tea"
    period = period_of("--period", "2026-05-01..2026-05-31")
    assert period is not None
    assert period.start.isoformat() == "2026-05-01T00:00:00+00:00"
    assert period.end.isoformat() == "2026-05-31T23:59:59.999999+00:00"
    place = place_of("--place", "48.857,2.352,Paris")
    assert place is not None
    assert (place.lat, place.lon, place.name) == (48.857, 2.352, "Paris")
    assert json_object("--filter", '{"category": "preference"}') == {"category": "preference"}
    values = parameter_values(["vector_weight=0.7", "deduplicate=no", "fusion=rrf"])
    assert values == {"vector_weight": 0.7, "deduplicate": False, "fusion": "rrf"}


def test_the_range_of_a_parameter_in_words() -> None:
    ranges = {each.name: each.range for each in PARAMETERS}
    assert (ranges["b"], ranges["coverage"], ranges["deduplicate"]) == (
        "0 to 1",
        "none, item or leg",
        "yes or no",
    )
