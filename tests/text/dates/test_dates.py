"""Times in texts: a labelled list in twelve languages, and laws that hold for any text.

The list, labelled_dates.tsv, is read at 14:30 UTC on Wednesday, 15 November 2023. Each line holds a language,
a text, and for every time the text names: the phrase, the first day, the day after the last (left out for a
single day), the tolerance in days (left out for none). More than a third of the texts name no time at all.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.entity import Period
from memorata.model.errors import InvalidArgument
from memorata.text.dates import (
    DATE_LANGUAGES,
    AnchorExtractor,
    RuleAnchors,
    TimeExpression,
    date_keys,
    date_terms,
    looked_up_keys,
    time_expressions,
)
from memorata.text.dates.calendar import FIRST_DAY, LAST_DAY

NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)


Label = tuple[str, date, date, int]


def labelled() -> list[tuple[str, str, list[Label]]]:
    """Return each text of the list with its language and the times that it names."""
    cases = []
    for line in Path(__file__).with_name("labelled_dates.tsv").read_text(encoding="utf-8").splitlines():
        language, text, *written = line.split("\t")
        labels = [part.strip() for part in "".join(written).split("|") if part.strip()]
        named: list[Label] = []
        while labels:
            phrase, first = labels.pop(0), date.fromisoformat(labels.pop(0))
            dated = labels and labels[0][:1].isdigit()
            after = date.fromisoformat(labels.pop(0)) if dated else first + timedelta(days=1)
            tolerance = int(labels.pop(0)[1:]) if labels and labels[0].startswith("±") else 0
            named.append((phrase, first, after, tolerance))
        cases.append((language, text, named))
    return cases


def read(text: str, now: datetime = NOW, language: str | None = None) -> list[Label]:
    """Return what is found in a text in the form of the lists."""
    return [
        (found.phrase, found.period.start.date(), found.period.end.date(), found.period.tolerance.days)
        for found in time_expressions(text, now, language)
    ]


CASES = labelled()
POSITIVE = [case for case in CASES if case[2]]
NEGATIVE = [case for case in CASES if not case[2]]


def test_the_list_is_long_and_a_third_of_it_names_no_time() -> None:
    assert len(CASES) >= 180
    assert len(NEGATIVE) >= len(CASES) / 3
    assert len({text for _, text, _ in CASES}) == len(CASES)
    assert {language for language, _, _ in POSITIVE} == set(DATE_LANGUAGES)


@pytest.mark.parametrize("language", sorted({language for language, _, _ in CASES}))
def test_the_times_of_a_text_are_found_and_no_others(language: str) -> None:
    cases = {text: expected for other, text, expected in CASES if other == language}
    assert {text: read(text) for text in cases} == cases
    assert {text: read(text, language=language) for text in cases} == cases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the Sunday before October 25, 2022", ("Sunday before October 25, 2022", "2022-10-23", 0)),
        ("the Saturday after 28 October 2023", ("Saturday after 28 October 2023", "2023-11-04", 0)),
        ("two days before Christmas", ("two days before Christmas", "2022-12-23", 2)),
        ("on the weekend before 9 June 2023", ("weekend before 9 June 2023", "2023-06-03", 5)),
        ("zwei Tage nach Silvester", ("zwei Tage nach Silvester", "2023-01-02", 2)),
        ("за неделю до 7 мая", ("неделю до 7 мая", "2023-04-30", 5)),
    ],
)
def test_a_day_is_named_by_another(text: str, expected: tuple[str, str, int]) -> None:
    phrase, first, tolerance = expected
    day = date.fromisoformat(first)
    length = timedelta(days=2 if "weekend" in phrase else 1)
    assert read(text) == [(phrase, day, day + length, tolerance)]


def test_a_list_shares_its_preposition() -> None:
    assert [phrase for phrase, *_ in read("in March and April, on Monday or Friday")] == [
        "March", "April", "Monday", "Friday",
    ]  # fmt: skip


def test_yesterday_is_the_day_before_it_was_said() -> None:
    [found] = time_expressions(
        "I went to a support group yesterday", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    )
    assert found.period == Period(
        datetime(2023, 5, 7, tzinfo=UTC), datetime(2023, 5, 8, tzinfo=UTC), timedelta(days=1)
    )
    assert (found.start, found.end, found.phrase) == (26, 35, "yesterday")


def test_days_begin_where_the_speaker_is() -> None:
    tokyo = timezone(timedelta(hours=9))
    [found] = time_expressions("today", datetime(2023, 5, 8, 1, tzinfo=tokyo))
    assert found.period == Period(datetime(2023, 5, 7, 15, tzinfo=UTC), datetime(2023, 5, 8, 15, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "latest", "nearest"),
    [
        ("we marry in December", "2022-12-01", "2023-12-01"),
        ("we married in October", "2023-10-01", "2023-10-01"),
        ("lunch on Friday", "2023-11-10", "2023-11-17"),
        ("lunch on Monday", "2023-11-13", "2023-11-20"),
        ("on 29 February", "2020-02-29", "2024-02-29"),
        ("on the weekend", "2023-11-11", "2023-11-18"),
    ],
)
def test_a_plan_may_lie_ahead(text: str, latest: str, nearest: str) -> None:
    for flag, expected in ((False, latest), (True, nearest)):
        [found] = time_expressions(text, NOW, nearest=flag)
        assert found.period.start.date().isoformat() == expected


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the meeting will be on Monday", "2023-11-20"),
        ("The dentist is on Tuesday.", "2023-11-21"),
        ("It is due on Monday", "2023-11-20"),
        ("We’ll talk on Monday", "2023-11-20"),
        ("I am going to Rome in October", "2024-10-01"),
        ("I am going to see Rome in October", "2024-10-01"),
        ("we will marry on Wednesday", "2023-11-15"),
        ("Das Treffen wird am Montag sein", "2023-11-20"),
        ("Das Treffen ist am Montag", "2023-11-20"),
        ("Встреча будет в понедельник", "2023-11-20"),
        # A name, another clause, what is over, and what says nothing of it.
        ("Will met Anna on Monday", "2023-11-13"),
        ("I will tell you, on Monday we met", "2023-11-13"),
        ("We met on Monday", "2023-11-13"),
        ("I was going to see Rome in October", "2023-10-01"),
        ("Wir trafen uns am Montag", "2023-11-13"),
        ("Я видел её в понедельник", "2023-11-13"),
    ],
)
def test_what_is_still_to_come_lies_ahead(text: str, day: str) -> None:
    [found] = time_expressions(text, NOW, nearest=True)
    assert found.period.start.date().isoformat() == day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("what did I say on Monday", "2023-11-13"),
        ("what of the talk on Monday", "2023-11-13"),
        ("what will I say on Monday", "2023-11-20"),
        ("who comes on Monday", "2023-11-20"),
        ("wer kommt am Montag", "2023-11-20"),
        ("quién viene el lunes", "2023-11-20"),
        ("¿Qué tengo el lunes?", "2023-11-20"),
        ("¿Qué vamos a hacer el lunes?", "2023-11-20"),
        ("¿De qué hablamos el lunes?", "2023-11-13"),
        ("¿Qué hice el lunes?", "2023-11-13"),
        ("Was habe ich am Montag vor?", "2023-11-20"),
        ("Qu'est-ce que j'ai lundi ?", "2023-11-20"),
        ("Que fait-on lundi ?", "2023-11-20"),
        ("Qu'est-ce que j'ai fait lundi ?", "2023-11-13"),
        ("De quoi avons-nous parlé lundi ?", "2023-11-13"),
        ("Cosa ho lunedì?", "2023-11-20"),
        ("Cosa faremo lunedì?", "2023-11-20"),
        ("Cosa ho fatto lunedì?", "2023-11-13"),
        ("Dove ero lunedì?", "2023-11-13"),
        ("Was habe ich am Montag gegessen?", "2023-11-13"),
        ("Was haben wir am Montag besprochen?", "2023-11-13"),
    ],
)
def test_a_question_does_not_ask_for_what_will_be_unless_it_says_so(text: str, day: str) -> None:
    [found] = time_expressions(text, NOW)
    assert found.period.start.date().isoformat() == day


def test_slashes_put_the_day_first_where_the_language_does() -> None:
    assert read("am 7/5/2023", language="german") == [("7/5/2023", date(2023, 5, 7), date(2023, 5, 8), 0)]
    assert read("on 7/5/2023", language="english") == []


def test_only_the_given_language_is_read() -> None:
    assert read("yesterday, вчера, gestern", language="russian") == read("yesterday, вчера, gestern")[1:2]


def test_the_anchor_of_a_question_is_the_narrowest_time() -> None:
    found = RuleAnchors().anchor("What did I say on 3 May 2023 about the trip in 2019?", NOW)
    assert found is not None
    assert found.phrase == "3 May 2023"
    assert RuleAnchors().anchor("What do I like?", NOW) is None
    assert RuleAnchors().anchor("in May and in July", NOW) == time_expressions("in May and in July", NOW)[0]


def test_the_rules_are_an_extractor() -> None:
    rules = RuleAnchors("german")
    assert isinstance(rules, AnchorExtractor)
    assert rules.anchor("Was war gestern?", NOW) == RuleAnchors().anchor("Was war gestern?", NOW)
    assert rules.anchor("What was yesterday?", NOW) is None


@pytest.mark.parametrize(
    "arguments",
    [
        {"end": 0},
        {"start": -1},
        {"phrase": "now"},
        {"period": "May"},
    ],
)
def test_an_expression_is_where_it_says(arguments: dict[str, object]) -> None:
    good: dict[str, object] = {"start": 0, "end": 5, "phrase": "today", "period": Period(NOW, NOW)}
    with pytest.raises(InvalidArgument):
        TimeExpression(**{**good, **arguments})  # type: ignore[arg-type]


WORDS = sorted({word for _, text, _ in CASES for word in text.split()})
ANY_TEXT = st.text() | st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=12).map(" ".join)
ANY_TIME = st.datetimes(timezones=st.just(UTC) | st.just(timezone(timedelta(hours=14))))


@given(
    text=ANY_TEXT,
    now=ANY_TIME.filter(lambda at: date(1, 1, 2) < at.date()),
    language=st.none() | st.sampled_from(DATE_LANGUAGES),
    nearest=st.booleans(),
)
def test_any_text_at_any_time_is_read_in_order(
    text: str, now: datetime, language: str | None, nearest: bool
) -> None:
    position = 0
    for found in time_expressions(text, now, language, nearest=nearest):
        assert position <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.phrase
        assert found.period.start < found.period.end
        earliest, latest = FIRST_DAY - timedelta(days=1), LAST_DAY
        assert earliest <= found.period.start.date() <= found.period.end.date() <= latest + timedelta(days=1)
        position = found.end


@given(
    before=st.sampled_from(["", "This and that was said here at some length. " * 12]),
    case=st.sampled_from(CASES),
    after=st.sampled_from(["", " Nothing more was said about it by anybody there." * 12]),
)
def test_a_long_text_names_what_its_part_names(
    before: str, case: tuple[str, str, list[Label]], after: str
) -> None:
    language, text, expected = case
    assert read(f"{before}{text} .{after}", language=language) == expected


def test_letters_that_grow_in_lower_case_move_nothing() -> None:
    [found] = time_expressions("İİİ yesterday", NOW)
    assert (found.start, found.phrase) == (4, "yesterday")


NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("today", "15 november 2023 wednesday"),
        ("вчера", "14 november 2023 tuesday"),
        ("7. Mai 2023", "7 may 2023 sunday"),
        ("last weekend", "11 12 november 2023 saturday sunday"),
        (
            "from 30 December 2022 to 1 January 2023",
            "30 31 1 december january 2022 2023 friday saturday sunday",
        ),
        ("from 3 to 6 March", "march 2023"),
        ("three days ago", "november 2023"),
        ("in May 2023", "may 2023"),
        ("last month", "october 2023"),
        ("Q3 2024", "july august september 2024"),
        ("between November 2022 and January 2023", "november december january 2022 2023"),
        ("between May 2022 and August 2022", "2022"),
        ("last summer", "2023"),
        ("in 2022", "2022"),
        ("from 2018 to 2020", "2018 2019 2020"),
        ("from 2018 to 2021", ""),
        ("two years ago", "2021"),
        ("a decade ago", ""),
        ("recently", "2023"),
        ("before 2020", ""),
    ],
)
def test_as_much_is_said_as_is_known(text: str, words: str) -> None:
    [found] = time_expressions(text, NOW)
    assert date_terms(found.period) == words


def test_days_are_those_of_the_zone() -> None:
    tokyo = timezone(timedelta(hours=9))
    [found] = time_expressions("today", datetime(2023, 5, 8, 1, tzinfo=tokyo))
    assert date_terms(found.period, tokyo) == "8 may 2023 monday"
    assert date_terms(found.period) == "7 8 may 2023 sunday monday"


def test_an_instant_is_a_day() -> None:
    assert date_terms(Period.around(datetime(2023, 5, 7, tzinfo=UTC), timedelta(0))) == "7 may 2023 sunday"


def test_what_the_zone_does_not_hold_has_no_words() -> None:
    first = datetime(1, 1, 1, tzinfo=UTC)
    assert date_terms(Period(first, first + timedelta(days=1)), timezone(-timedelta(hours=5))) == ""


@given(
    start=st.datetimes(timezones=st.just(UTC)),
    length=st.timedeltas(timedelta(0), timedelta(days=5000)),
    tolerance=st.timedeltas(timedelta(0), timedelta(days=400)),
)
def test_no_word_comes_twice_and_none_is_invented(
    start: datetime, length: timedelta, tolerance: timedelta
) -> None:
    end = start if start.year > 9980 else start + length
    words = date_terms(Period(start, end, tolerance)).split()
    assert len(words) == len(set(words))
    years = [word for word in words if word.isdigit() and len(word) == 4]
    assert (
        not words
        or start.year < 1000
        or years == [str(year) for year in range(int(years[0]), int(years[-1]) + 1)]
    )
    assert len(words) <= 12


def test_keys_of_a_time_are_found_by_a_period_that_meets_it() -> None:
    """Days are met by their day, week, month and year; a month by none of its days alone."""

    def period(first: date, last: date) -> Period:
        start, end = (datetime(day.year, day.month, day.day, tzinfo=UTC) for day in (first, last))
        return Period(start, end + timedelta(days=1))

    day, month = date(2023, 5, 7), date(2023, 5, 1)
    keys = set(date_keys(period(day, day)))
    assert keys == {"@", "@2023", "@2023-05", "@2023-05-07"}
    assert keys & set(looked_up_keys(period(day, day)))
    assert keys & set(looked_up_keys(period(date(2023, 5, 1), date(2023, 5, 7))))
    assert keys & set(looked_up_keys(period(month, date(2023, 5, 31))))
    assert keys & set(looked_up_keys(period(date(2019, 1, 1), date(2025, 1, 1))))
    assert not keys & set(looked_up_keys(period(date(2023, 5, 8), date(2023, 5, 9))))
    assert not keys & set(looked_up_keys(period(date(2023, 6, 1), date(2023, 6, 30))))
    of_month = set(date_keys(period(month, date(2023, 5, 31))))
    assert of_month == {"@", "@2023", "@2023-05"}


@pytest.mark.parametrize("phrase", ["before 2020", "since 1900", "after 2020", "in the 1800s"])
def test_keys_of_open_and_long_periods_are_few(phrase: str) -> None:
    (found,) = time_expressions(f"What happened {phrase}?", datetime(2026, 5, 7, tzinfo=UTC))
    assert 1 <= len(looked_up_keys(found.period)) <= 40
    assert date_keys(found.period)[0] == "@"
