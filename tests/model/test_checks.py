import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import checks
from memorata.model.checks import nearest
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Tier

NAN, INF = math.nan, math.inf
HUGE = 10**400


@pytest.mark.parametrize(
    ("check", "argument"),
    [
        (lambda: checks.number("k", "60"), "k"),
        (lambda: checks.number("k", None), "k"),
        (lambda: checks.number("k", True), "k"),
        (lambda: checks.number("k", np.True_), "k"),
        (lambda: checks.number("k", 1j), "k"),
        (lambda: checks.number("k", NAN), "k"),
        (lambda: checks.number("k", -INF), "k"),
        (lambda: checks.number("k", HUGE), "k"),
        (lambda: checks.number("k", Fraction(HUGE)), "k"),
        (lambda: checks.number("k", np.float32("nan")), "k"),
        (lambda: checks.at_least("k", -1e-9, 0), "k"),
        (lambda: checks.above("k", 0, 0), "k"),
        (lambda: checks.within("k", 1.01, 0, 1), "k"),
        (lambda: checks.within("k", -0.01, 0, 1), "k"),
        (lambda: checks.probability("p", 2), "p"),
        (lambda: checks.whole("limit", -1), "limit"),
        (lambda: checks.whole("limit", 2.0), "limit"),
        (lambda: checks.whole("limit", True), "limit"),
        (lambda: checks.whole("limit", "2"), "limit"),
        (lambda: checks.whole("limit", 0, 1), "limit"),
        (lambda: checks.whole("limit", HUGE), "limit"),
        (lambda: checks.flag("stop", 1), "stop"),
        (lambda: checks.flag("stop", "yes"), "stop"),
        (lambda: checks.text("name", b"tea"), "name"),
        (lambda: checks.one_of("form", "c", ["a", "b"]), "form"),
        (lambda: checks.one_of("form", ["a"], ["a", "b"]), "form"),
        (lambda: checks.instant("now", datetime(2026, 5, 7)), "now"),
        (lambda: checks.instant("now", "2026-05-07T18:30"), "now"),
        (lambda: checks.instant("now", "yesterday"), "now"),
        (lambda: checks.instant("now", datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))), "now"),
        (lambda: checks.optional_instant("now", 0), "now"),
        (lambda: checks.texts("tags", "work"), "tags"),
        (lambda: checks.texts("tags", 5), "tags"),
        (lambda: checks.texts("tags", ["a", 5]), "tags[1]"),
        (lambda: checks.texts("tags", b"ab"), "tags[0]"),
        (lambda: checks.texts("tags", np.array([1, 2])), "tags[0]"),
        (lambda: checks.texts("tags", np.array("a")), "tags"),
        (lambda: checks.numbers("scores", [1, NAN]), "scores[1]"),
        (lambda: checks.numbers("scores", [1, INF, -INF]), "scores[1]"),
        (lambda: checks.numbers("scores", [1, HUGE]), "scores"),
        (lambda: checks.numbers("scores", np.array([1e4000], np.longdouble)), "scores[0]"),
        (lambda: checks.numbers("scores", ["1"]), "scores"),
        (lambda: checks.numbers("scores", "12"), "scores"),
        (lambda: checks.numbers("scores", [True, False]), "scores"),
        (lambda: checks.numbers("scores", [None]), "scores"),
        (lambda: checks.numbers("scores", None), "scores"),
        (lambda: checks.numbers("scores", 1.0), "scores"),
        (lambda: checks.numbers("scores", {"a": 1.0}), "scores"),
        (lambda: checks.numbers("scores", iter([1.0])), "scores"),
        (lambda: checks.numbers("scores", [[1.0], [2.0]]), "scores"),
        (lambda: checks.numbers("scores", [[1.0], [2.0, 3.0]]), "scores"),
        (lambda: checks.matrix("vectors", [1.0, 2.0]), "vectors"),
        (lambda: checks.matrix("vectors", [[1.0], [2.0, 3.0]]), "vectors"),
        (lambda: checks.matrix("vectors", [[1.0], [NAN]]), "vectors[1]"),
        (lambda: checks.matrix("vectors", [[INF, -INF]]), "vectors[0]"),
        (lambda: checks.matrix("vectors", [[["a"]]]), "vectors"),
        (lambda: checks.probabilities("confidence", [0.5, 1.5]), "confidence[1]"),
        (lambda: checks.counts("hits", [0.0, -1.0]), "hits[1]"),
        (lambda: checks.flags("transient", [1, 0]), "transient"),
        (lambda: checks.flags("transient", [[True]]), "transient"),
        (lambda: checks.flags("transient", [[True], [True, False]]), "transient"),
        (lambda: checks.flags("transient", True), "transient"),
        (lambda: checks.same_length(a=[1], b=[1], c=[1, 2]), "c"),
        (lambda: checks.weights("weights", [1.0], 2), "weights"),
        (lambda: checks.weights("weights", [0.0, 0.0], 2), "weights"),
        (lambda: checks.weights("weights", [1.0, -1.0], 2), "weights[1]"),
        (lambda: checks.weights("weights", [1.7e308, 1.7e308], 2), "weights"),
        (lambda: checks.weights("weights", [NAN], 1), "weights[0]"),
    ],
)
def test_what_cannot_be_used_is_named(check: Callable[[], object], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        check()
    assert caught.value.argument == argument
    assert str(caught.value).startswith(f"{argument} must be ")


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.int8(3), Fraction(3)])
def test_any_real_number_will_do(value: object) -> None:
    checked = checks.number("k", value)
    assert checked == 3.0
    assert type(checked) is float


def test_bounds_are_included_where_they_are_said_to_be() -> None:
    assert checks.at_least("k", 0, 0) == 0.0
    assert checks.above("k", 5e-324, 0) == 5e-324
    assert [checks.within("k", value, -1, 1) for value in (-1, 1)] == [-1.0, 1.0]
    assert [checks.probability("p", value) for value in (0, 1)] == [0.0, 1.0]
    assert checks.whole("limit", np.int64(0)) == 0
    assert type(checks.whole("limit", np.int64(0))) is int


def test_plain_values_come_back() -> None:
    assert checks.flag("stop", np.False_) is False
    assert checks.text("name", "") == ""
    assert checks.one_of("form", "a", ["a", "b"]) == "a"
    assert checks.texts("tags", iter(["b", "a"])) == ("b", "a")
    assert checks.flags("transient", []).tolist() == []
    assert checks.flags("transient", np.array([True])).tolist() == [True]
    assert checks.same_length(a=[1, 2], b=(3, 4)) == 2
    assert checks.weights("weights", [], 0).tolist() == []


@pytest.mark.parametrize("words", [(), ("a",), ("b", "a")])
def test_texts_may_come_in_an_array(words: tuple[str, ...]) -> None:
    assert checks.texts("tags", np.array(words, np.str_)) == words


class Stamp(datetime):
    """A time as other libraries have them: finer than a microsecond, and perhaps no time at all."""

    known = True

    def utcoffset(self) -> timedelta | None:
        if not self.known:
            raise ValueError("no time")
        return super().utcoffset()


class NotATime(Stamp):
    known = False


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=2))])
def test_instants_are_plain_ones(zone: timezone) -> None:
    given = Stamp(2026, 5, 7, 12, 30, 15, 250, tzinfo=zone)
    found = checks.instant("now", given)
    assert type(found) is datetime
    assert found == datetime(2026, 5, 7, 12, 30, 15, 250, tzinfo=zone)
    assert found.tzinfo is UTC


def test_what_is_no_time_is_no_instant() -> None:
    with pytest.raises(InvalidArgument, match="now must be a datetime with a time zone"):
        checks.instant("now", NotATime(2026, 5, 7, tzinfo=UTC))


def test_instants_become_utc() -> None:
    berlin = timezone(timedelta(hours=2))
    assert checks.instant("now", datetime(2026, 5, 7, 1, tzinfo=berlin)) == datetime(
        2026, 5, 6, 23, tzinfo=UTC
    )
    assert checks.instant("now", datetime(2026, 5, 7, 1, tzinfo=berlin)).tzinfo is UTC
    assert checks.optional_instant("now", None) is None


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2], np.uint8),
        np.array([1, 2], np.float16),
        np.array([1.0, 2.0], ">f8"),
    ],
)
def test_numbers_of_any_kind_become_float64(values: Any) -> None:
    array = checks.numbers("scores", values)
    assert array.dtype == np.float64
    assert array.tolist() == [1.0, 2.0]


def test_an_array_that_is_right_already_is_not_copied() -> None:
    given_ = np.array([1.0, 2.0])
    assert checks.numbers("scores", given_) is given_


def test_large_numbers_are_finite_even_when_their_sum_is_not() -> None:
    assert checks.numbers("scores", [1.7e308, 1.7e308]).tolist() == [1.7e308, 1.7e308]
    assert checks.matrix("vectors", [[1.7e308, 1.7e308]]).tolist() == [[1.7e308, 1.7e308]]


def test_an_empty_list_is_a_matrix_without_rows() -> None:
    assert checks.matrix("vectors", []).shape == (0, 0)
    assert checks.matrix("vectors", [[], []]).shape == (2, 0)
    assert checks.matrix("vectors", np.ones((2, 3), np.float32)).dtype == np.float64


@given(st.lists(st.floats() | st.integers(-(10**20), 10**20)))
def test_exactly_the_finite_lists_pass(values: list[float]) -> None:
    if all(math.isfinite(value) for value in values):
        # Whole numbers beyond 64 bits make numpy keep objects; those are refused as a list.
        if all(abs(value) < 2**63 for value in values if isinstance(value, int)):
            assert checks.numbers("scores", values).tolist() == [float(value) for value in values]
    else:
        with pytest.raises(InvalidArgument):
            checks.numbers("scores", values)


def test_an_overflow_is_blamed_on_the_argument() -> None:
    message = r"^rate must be small enough .*, got 1e\+308$"
    with pytest.raises(InvalidArgument, match=message), checks.finite_arithmetic("rate", 1e308):
        np.array([1e308]) * 10
    with checks.finite_arithmetic("rate", 1.0):
        assert (np.array([2.0]) * 10).tolist() == [20.0]


class Valid:
    def __init__(self, valid_from: object, valid_to: object) -> None:
        self.valid_from, self.valid_to = valid_from, valid_to


def test_validity_is_brought_to_utc_and_ordered() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    record = Valid(early.astimezone(timezone(timedelta(hours=3))), early)
    checks.validity(record)
    assert record.valid_from == early
    assert getattr(record.valid_from, "tzinfo", None) is UTC
    checks.validity(Valid(late, None))
    checks.validity(Valid(None, early))
    with pytest.raises(InvalidArgument, match="valid_to must be at or after valid_from"):
        checks.validity(Valid(late, early))


def test_among_many_choices_the_likeliest_is_pointed_at() -> None:
    many = ["category", "confidence", "importance", "tags", "metadata", "source", "entities", "place", "tier"]
    with pytest.raises(InvalidArgument, match=r"'tier' \(did you mean category\?\), got 'catgory'"):
        checks.one_of("field", "catgory", many)
    with pytest.raises(InvalidArgument, match="'tier', got 'xyz'"):
        checks.one_of("field", "xyz", many)
    # A few can be taken in at a glance.
    with pytest.raises(InvalidArgument, match="one of 'category', 'confidence', got 'catgory'"):
        checks.one_of("field", "catgory", many[:2])


def test_members_of_an_enumeration_are_shown_as_people_write_them() -> None:
    with pytest.raises(InvalidArgument, match="one of 'working', 'episodic', 'semantic', 'procedural', got"):
        checks.one_of("tier", "forever", tuple(Tier))


def test_the_likeliest_name_is_asked_about() -> None:
    assert nearest("vektor", ["words", "vectors", "vector"]) == " (did you mean vector?)"


def test_nothing_is_asked_where_nothing_is_alike() -> None:
    assert nearest("qqq", ["words", "vector"]) == ""
    assert nearest("qqq", []) == ""
