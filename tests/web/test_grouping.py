"""Communities: each group with its names, its time and the memories that speak for it."""

import re

from starlette.testclient import TestClient

from memorata.engine import Engine
from memorata.web.app import create_pages


def test_groups_are_those_of_the_engine(client: TestClient, engine: Engine) -> None:
    found = engine.graph.communities(limit=12)
    assert found.groups
    page = client.get("/communities").text
    assert page.count('<section class="panel"') == len(found.groups)
    largest = found.groups[0]
    assert ", ".join(largest.summary.terms) in page
    assert f'href="/memories/{largest.summary.representative}"' in page


def test_levels_and_how_many(client: TestClient) -> None:
    page = client.get("/communities?level=2&limit=1").text
    assert page.count('<section class="panel"') == 1
    assert re.search(r'level=2" aria-current="true">coarse', page)
    assert client.get("/communities?level=3").status_code == 400
    assert client.get("/communities?limit=0").status_code == 400


def test_an_empty_memory_says_what_to_do(empty: Engine) -> None:
    page = TestClient(create_pages(empty), base_url="http://localhost").get("/communities").text
    assert "Nothing hangs together here yet" in page


def test_markup_in_a_memory_is_text(client: TestClient) -> None:
    page = client.get("/communities?limit=100").text
    for markup in ("<script>document", "<b>", "<em>"):
        assert markup not in page
