"""The map: a dot where something happened, one for what is too close to tell apart."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine import Engine
from memorata.model.entity import Place
from memorata.model.memory import Memory
from memorata_graph.pages import Window, around, countries, dots
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages


def memory(id_: str, place: Place) -> Memory:
    return Memory(id=id_, content=id_, created_at=datetime(2026, 5, 1, tzinfo=UTC), place=place)


def test_what_is_close_is_one_dot_in_its_middle() -> None:
    said = [memory("a", Place(10.2, 20.2, "Inn")), memory("b", Place(10.4, 20.6)), memory("c", Place(50, 60))]
    found = dots(said, cell=1.0)
    assert [(round(dot.lat, 6), round(dot.lon, 6), len(dot.memories)) for dot in found] == [
        (10.3, 20.4, 2),
        (50, 60, 1),
    ]
    assert found[0].name == "Inn"


def test_a_dot_of_many_places_names_the_most_frequent() -> None:
    said = [memory(str(n), Place(1, 1, name)) for n, name in enumerate(["Inn", "Pier", "Pier", "Mill"])]
    assert dots(said, 1.0)[0].name == "Pier and 2 other places"


def test_a_dot_tells_how_many_by_its_area_up_to_a_limit() -> None:
    sizes = [dots([memory(str(n), Place(1, 1)) for n in range(count)], 1.0)[0].size for count in (1, 4, 1000)]
    assert sizes == [13, 18, 34]


@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1, max_size=10))
def test_every_place_is_inside_the_window(points: list[tuple[float, float]]) -> None:
    window = around([Place(lat, lon) for lat, lon in points])
    assert window.width == pytest.approx(2 * window.height)
    assert window.x >= -180
    assert window.x + window.width <= 180 + 1e-9
    for lat, lon in points:
        assert window.x - 1e-9 <= lon <= window.x + window.width + 1e-9
        assert window.y - 1e-9 <= -lat <= window.y + window.height + 1e-9


def test_the_page_shows_land_and_a_dot_with_a_name(client: TestClient) -> None:
    page = client.get("/map").text
    assert '<path class="land" d="M' in page
    assert 'aria-label="Lisbon: 1 memory"' in page
    assert 'd="M-9.1400 -38.7200h0"' in page
    assert "1 memory with a place" in page


def test_a_point_shows_what_is_near_it(client: TestClient) -> None:
    page = client.get("/map?lat=38.72&lon=-9.2").text
    near = page.partition('<section id="near">')[2]
    assert re.findall(r'href="/memories/(\w+)"', near) == ["lisbon"]
    assert "5 km" in near


def test_narrowed_down(client: TestClient) -> None:
    assert "No memory has a place here" in client.get("/map?tag=drink").text


@pytest.mark.parametrize("query", ["lat=91&lon=0", "lat=1", "lat=x&lon=1", "lat=nan&lon=1", "since=soon"])
def test_bad_questions(client: TestClient, query: str) -> None:
    assert client.get(f"/map?{query}").status_code == 400


def test_an_empty_memory_says_what_to_do(empty: Engine) -> None:
    client = TestClient(create_pages(empty), base_url="http://localhost")
    assert "Load the demo" in client.get("/map").text
    empty.remember("It rained.")
    assert "memorata remember --place" in client.get("/map").text


def test_countries_have_names_and_borders(client: TestClient) -> None:
    page = client.get("/map").text
    assert '<path class="border"' in page
    assert ">Portugal</text>" in page
    assert {"Portugal", "Georgia", "Germany"} <= {country.name for country in countries()}
    (portugal,) = (country for country in countries() if country.name == "Portugal")
    assert (round(portugal.x), round(portugal.y)) == (-8, -40)


def test_markup_in_a_place_is_text(client: TestClient, engine: Engine) -> None:
    engine.remember("There.", place=Place(1, 2, "<b>Inn</b>"))
    assert "<b>" not in client.get("/map?lat=1&lon=2").text


def test_the_window_is_twice_as_wide_as_high() -> None:
    assert around([]) == Window(-180.0, -90.0, 360.0, 180.0)
    assert around([Place(50, 10), Place(52, 14)]) == Window(6.0, -54.0, 12.0, 6.0)


def test_the_cells_of_a_grid_are_listed(client: TestClient) -> None:
    page = client.get("/map").text
    assert "geo_7_" in page[page.index('id="cells"') :]
    assert "geo_4_" in client.get("/map?precision=4").text
    assert client.get("/map?precision=9").status_code == 400
