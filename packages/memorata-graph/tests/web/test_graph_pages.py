"""The graph explorer: what leads from a name to others, as data to draw and as a list to read."""

from datetime import UTC, datetime

import pytest

from memorata.engine import Engine
from memorata_graph import Graph
from memorata_graph.pages import drawn
from memorata_graph.results import FoundPath, PathStep
from memorata_server.jobs import Jobs
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages
from memorata_server.web.context import PageContext
from memorata_server.web.forms import Values

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def test_the_most_mentioned_comes_first_without_a_question(client: TestClient, engine: Engine) -> None:
    first = Graph(engine).entities.list(limit=1)[0].entity.name
    assert f"<h2><bdi>{first}</bdi></h2>" in client.get("/graph").text


def test_the_list_beside_shows_names_and_memories(client: TestClient) -> None:
    page = client.get("/graph?entity=lisbon").text
    assert "<h2><bdi>Lisbon</bdi></h2>" in page
    # Nobody has declared what it is, and "thing" says nothing.
    assert '<p class="byline">thing' not in page
    assert 'href="/graph?entity=Anna" dir="auto">Anna</a>' in page
    assert 'href="/memories/lisbon" dir="auto">Anna and Boris travelled to Lisbon.</a>' in page


def test_hubs_are_listed(client: TestClient, engine: Engine) -> None:
    first = Graph(engine).hubs(limit=1)[0].entity
    page = client.get("/graph").text
    assert f'href="/graph?entity={first}"' in page[page.index('id="hubs"') :]


def test_the_data_are_nodes_and_edges_each_once(client: TestClient) -> None:
    data = client.get("/graph/data?entity=Lisbon&depth=2").json()
    nodes = {node["id"]: node for node in data["nodes"]}
    assert len(nodes) == len(data["nodes"])
    assert set(nodes) == {"name:Lisbon", "memory:lisbon", "name:Anna", "name:Boris"}
    assert nodes["memory:lisbon"]["url"] == "/memories/lisbon"
    edges = {(edge["source"], edge["target"], edge["label"]) for edge in data["edges"]}
    assert edges == {("memory:lisbon", f"name:{name}", "mentions") for name in ("Lisbon", "Anna", "Boris")}
    assert len({edge["id"] for edge in data["edges"]}) == len(data["edges"]) == 3


def test_somebody_with_more_memories_than_fit_still_has_names_around_them(
    client: TestClient, engine: Engine
) -> None:
    engine.remember_many(
        [
            {"content": f"Note {number}.", "entities": ("Zora", "Anna" if number % 2 else "boris")}
            for number in range(100)
        ]
    )
    data = client.get("/graph/data?entity=Zora&depth=2").json()
    names = {node["label"] for node in data["nodes"] if node["kind"] == "name"}
    assert {"Zora", "Anna", "Boris"} <= names
    drawn = {node["id"] for node in data["nodes"]}
    assert all(edge["source"] in drawn and edge["target"] in drawn for edge in data["edges"])
    assert len({edge["id"] for edge in data["edges"]}) == len(data["edges"])
    page = client.get("/graph?entity=Zora").text
    assert 'href="/graph?entity=Boris" dir="auto">Boris</a>' in page
    assert "only a part of what is near" in page
    one = client.get("/graph/data?entity=Zora&depth=1").json()
    assert [node["label"] for node in one["nodes"] if node["kind"] == "name"] == ["Zora"]


def test_relations_are_followed_and_listed_in_their_direction(client: TestClient, engine: Engine) -> None:
    Graph(engine).entities.relate("Anna", "works_at", "Bank of England")
    data = client.get("/graph/data?entity=Bank+of+England&depth=1").json()
    assert [(edge["source"], edge["label"]) for edge in data["edges"]] == [("name:Anna", "works_at")]
    page = client.get("/graph?entity=Anna").text
    assert '>Anna</a> <bdi class="muted">works_at</bdi> <a href="/graph?entity=Bank+of+England"' in page


def test_what_was_said_next_is_followed_on_request(client: TestClient) -> None:
    def edges(more: str) -> set[str]:
        answer = client.get(f"/graph/data?entity=Lisbon&depth=2{more}").json()
        return {edge["label"] for edge in answer["edges"]}

    assert edges("") == {"mentions"}
    assert edges("&turns=true") == {"mentions", "next"}


def test_a_way_that_is_walked_backwards_is_drawn_forwards(engine: Engine) -> None:
    context = PageContext(engine, "default", (), Values({}), "/", {}, "", "", NOW, Jobs(lambda: NOW))
    way = FoundPath("Anna", (PathStep("mentions", False, 1.0, None, "tea"),), 0.85)
    edge = drawn(context, [way, way]).as_dict()["edges"]
    assert [(each["source"], each["target"]) for each in edge] == [("memory:tea", "name:Anna")]


@pytest.mark.parametrize("path", ["/graph", "/graph/data"])
def test_bad_questions(client: TestClient, path: str) -> None:
    assert client.get(f"{path}?entity=Nobody").status_code == 404
    assert client.get(f"{path}?entity=Anna&depth=9").status_code == 400


def test_an_empty_memory_says_what_to_do(empty: Engine) -> None:
    client = TestClient(create_pages(empty), base_url="http://localhost")
    assert "Load the demo" in client.get("/graph").text
    empty.remember("it rained.")
    page = client.get("/graph").text
    assert "No entities are known here yet" in page
    assert "memorata graph relate" in page


def test_names_have_a_kind(client: TestClient, engine: Engine) -> None:
    Graph(engine).entities.describe("Anna", type="person")
    Graph(engine).entities.describe("Bank of England", type="company")
    Graph(engine).entities.relate("Anna", "works_at", "Bank of England")
    assert '<p class="byline">person · ' in client.get("/graph?entity=Anna").text
    found = client.get("/graph/data?entity=Anna").json()
    kinds = {node["label"]: node["type"] for node in found["nodes"] if node["kind"] == "name"}
    # Boris speaks, and somebody was in Lisbon.
    assert kinds == {
        "Anna": "person",
        "Bank of England": "organisation",
        "Boris": "person",
        "Lisbon": "place",
    }


def test_the_way_from_one_name_to_another(client: TestClient, engine: Engine) -> None:
    Graph(engine).entities.relate("Lisbon", "in", "Portugal")
    page = client.get("/graph?entity=Anna&to=Portugal").text
    assert "The shortest way to <bdi>Portugal</bdi>" in page
    (way,) = Graph(engine).paths("Anna", to="Portugal", shortest=True).paths
    assert way.cost is not None
    assert f"cost {way.cost:.2f}" in page
    drawn = client.get("/graph/data?entity=Anna&to=Portugal").json()["nodes"]
    assert {node["label"] for node in drawn if node["kind"] == "name"} == {"Anna", "Lisbon", "Portugal"}
    every = client.get("/graph?entity=Anna&to=Portugal&ways=all&depth=4").text
    assert every.count('class="way"') == len(Graph(engine).paths("Anna", to="Portugal", depth=4).paths)
    assert "None leads there" in client.get("/graph?entity=Anna&to=<em>Name</em>").text
    assert client.get("/graph?entity=Anna&to=Nowhere").status_code == 404


def test_markup_in_a_name_is_text(client: TestClient) -> None:
    page = client.get("/graph", params={"entity": "<em>Name</em>"}).text
    assert "<em>" not in page
    assert "<script>document" not in page
    answer = client.get("/graph/data", params={"entity": "<em>Name</em>"})
    assert answer.headers["content-type"] == "application/json"


def test_groups_are_those_of_the_engine(client: TestClient, engine: Engine) -> None:
    found = Graph(engine).communities(limit=12, level=1)
    assert found.groups
    page = client.get("/communities").text
    assert page.count('<section class="panel"') == len(found.groups)
    largest = found.groups[0]
    assert ", ".join(largest.entities[:3]) in page
    assert f'href="/memories/{largest.summary.representative}"' in page


def test_levels_and_how_many(client: TestClient) -> None:
    page = client.get("/communities?level=2&limit=1").text
    assert page.count('<section class="panel"') == 1
    assert '<option value="2" selected>coarsest</option>' in page
    assert client.get("/communities?levels=5&level=4&resolution=2.5").status_code == 200
    assert client.get("/communities?resolution=-1").status_code == 400
    assert client.get("/communities?level=3").status_code == 400
    assert client.get("/communities?limit=0").status_code == 400


def test_an_empty_memory_has_no_communities(empty: Engine) -> None:
    page = TestClient(create_pages(empty), base_url="http://localhost").get("/communities").text
    assert "Load the demo" in page


def test_markup_in_a_memory_is_text(client: TestClient) -> None:
    page = client.get("/communities?limit=100").text
    for markup in ("<script>document", "<b>", "<em>"):
        assert markup not in page


def test_communities_are_found_as_the_page_says(client: TestClient) -> None:
    page = client.get("/communities?method=propagation&iterations=3").text
    assert 'name="iterations" type="number" min="1" max="1000" value="3"' in page
    assert client.get("/communities?method=chance").status_code == 400
    pytest.importorskip("graspologic_native")
    assert "<option selected>leiden</option>" in client.get("/communities?method=leiden&level=2").text


class Model:
    name = "chat:tiny"

    def write(self, memories: object, limit: int) -> str:
        return "They travel a lot."


def test_what_a_model_writes_is_shown_and_labelled(client: TestClient, engine: Engine) -> None:
    assert "written by" not in client.get("/communities").text
    engine.summaries = Model()
    page = TestClient(create_pages(engine), base_url="http://localhost").get("/communities?level=0").text
    assert "They travel a lot." in page
    assert "written by chat:tiny" in page
    assert "About " in page
