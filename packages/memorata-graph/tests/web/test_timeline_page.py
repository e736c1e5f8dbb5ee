"""The timeline: in the order things happened, counted by day, month or year."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.engine import Engine
from memorata_graph.timeline_page import bins
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


def test_a_short_time_is_counted_by_days() -> None:
    found = bins([at(2026, 5, 1, 23), at(2026, 5, 1), at(2026, 5, 3)])
    assert [(each.label, each.count) for each in found] == [
        ("1 May 2026", 2), ("2 May 2026", 0), ("3 May 2026", 1),
    ]  # fmt: skip
    assert [each.height for each in found] == [60.0, 0.0, 30.0]


def test_a_longer_one_by_months_over_the_end_of_a_year() -> None:
    found = bins([at(2025, 11, 30), at(2026, 2, 1)])
    assert [each.label for each in found] == ["Nov 2025", "Dec 2025", "Jan 2026", "Feb 2026"]
    assert [each.x for each in found] == [0.0, 25.0, 50.0, 75.0]


def test_a_life_by_years() -> None:
    found = bins([at(2010, 6, 1), at(2020, 1, 1)])
    assert (found[0].label, found[-1].label, len(found)) == ("2010", "2020", 11)


def test_ages_by_decades_and_centuries_so_that_bars_can_be_seen() -> None:
    decades = bins([at(1789, 7, 14), at(2026, 1, 1)])
    assert (decades[0].label, decades[-1].label, len(decades)) == ("1780–1789", "2020–2029", 25)
    centuries = bins([at(12, 3, 4), at(2026, 1, 1)])
    assert (centuries[0].label, centuries[1].label, len(centuries)) == ("0001–0099", "0100–0199", 21)


def test_the_last_day_of_the_calendar_has_its_bin() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    for first in (last, at(9999, 12, 1), at(9999, 1, 1), at(9990, 1, 1), at(9900, 1, 1), at(1, 1, 1)):
        found = bins([first, last])
        assert (found[-1].end, sum(each.count for each in found)) == (None, 2)


def test_a_page_that_reaches_to_the_end_of_time(client: TestClient, engine: Engine) -> None:
    engine.remember("The end.", valid_from=at(9999, 12, 31))
    page = client.get("/timeline")
    assert page.status_code == 200
    bar = re.search(r'href="([^"]+start=9900-01-01[^"]*)"', page.text)
    assert bar is not None
    assert "The end." in client.get(bar[1].replace("&amp;", "&")).text


def test_nothing_has_no_bins() -> None:
    assert bins([]) == ()


@given(st.lists(st.datetimes(datetime(1, 1, 1), datetime(9998, 1, 1)), min_size=1, max_size=40))
@example([datetime(2026, 5, 7), datetime(2026, 6, 7)])
@example([datetime(2026, 5, 7), datetime(2029, 6, 7)])
@example([datetime(1990, 5, 7), datetime(2029, 6, 7)])
def test_every_moment_is_in_the_bin_it_falls_into(moments: list[datetime]) -> None:
    aware = [moment.replace(tzinfo=UTC) for moment in moments]
    found = bins(aware)
    assert [each.count for each in found] == [
        sum(each.start <= moment and (each.end is None or moment < each.end) for moment in aware)
        for each in found
    ]
    assert len(found) <= 121
    assert sum(each.count for each in found) == len(aware)


def test_memories_stand_in_the_order_of_what_happened(client: TestClient) -> None:
    page = client.get("/timeline").text
    assert page.index('datetime="2026-05-10"') < page.index('datetime="2026-03-02"')
    assert "told on 10 May 2026" in page


def test_of_one_name_and_within_a_time(client: TestClient) -> None:
    page = client.get("/timeline?entity=Anna&start=2026-03-01&end=2026-03-02").text
    assert re.findall(r'<p class="said"><a href="/memories/(\w+)"', page) == ["lisbon"]
    assert "Timeline of <bdi>Anna</bdi>" in page


def test_a_bar_leads_to_its_time(client: TestClient) -> None:
    page = client.get("/timeline").text
    month = re.search(r'href="([^"]+start=2026-03-01[^"]*)"', page)
    assert month is not None
    narrowed = client.get(month[1].replace("&amp;", "&")).text
    assert re.findall(r'<p class="said"><a href="/memories/(\w+)"', narrowed) == ["lisbon"]


def test_page_by_page(client: TestClient, engine: Engine) -> None:
    engine.remember_many(
        [{"content": f"Day {day}.", "created_at": at(2025, 1, 1) + timedelta(days=day)} for day in range(70)]
    )
    first, second = client.get("/timeline").text, client.get("/timeline?page=1").text
    assert 'page=1">Older' in first
    assert "Day 69." in first
    assert "Day 1." in second


def test_what_is_yet_to_come_is_marked(client: TestClient, engine: Engine) -> None:
    engine.remember("The concert.", valid_from=at(2026, 6, 1))
    page = client.get("/timeline").text
    assert re.search(r'<li class="later"><h2><time datetime="2026-06-01">', page)


@pytest.mark.parametrize(
    ("query", "status"),
    [("entity=Nobody", 404), ("start=then", 400), ("start=2026-05-02&end=2026-04-01", 400), ("page=-1", 400)],
)
def test_bad_questions(client: TestClient, query: str, status: int) -> None:
    assert client.get(f"/timeline?{query}").status_code == status


def test_an_empty_time_says_so(empty: Engine) -> None:
    page = TestClient(create_pages(empty), base_url="http://localhost").get("/timeline").text
    assert "Load the demo" in page


def test_a_time_without_memories_says_so(client: TestClient) -> None:
    assert "Nothing happened then" in client.get("/timeline?start=1900-01-01&end=1900-12-31").text


def test_a_bar_has_its_count(client: TestClient) -> None:
    counts = re.findall(r'<span class="amount">(\d*)</span>', client.get("/timeline").text)
    assert [int(count or 0) for count in counts] == [1, 0, 3]


def test_markup_in_a_memory_is_text(client: TestClient) -> None:
    page = client.get("/timeline").text
    for markup in ("<script>document", "<b>", "<i>", "<s>"):
        assert markup not in page


def test_a_day_without_memories_has_a_bin() -> None:
    days = [datetime(2026, 5, 1, 9, tzinfo=UTC), datetime(2026, 5, 3, tzinfo=UTC)]
    found = [(each.label, each.count, each.height) for each in bins(days)]
    assert found == [("1 May 2026", 1, 60.0), ("2 May 2026", 0, 0.0), ("3 May 2026", 1, 60.0)]
