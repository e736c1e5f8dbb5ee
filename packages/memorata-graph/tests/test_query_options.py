"""Decay, shortest ways, hubs, cells, and how communities are found and written about."""

from collections.abc import Iterator, Sequence

import pytest

import memorata
from memorata.engine import Engine
from memorata.model.errors import InvalidArgument, ServiceAnswerInvalid
from memorata.model.memory import Memory
from memorata_graph import Graph
from memorata_graph.cells import cell_name, cells_of


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder=None, config={"extractor": None}) as engine:
        yield engine


@pytest.fixture
def fleet(memory: Engine) -> Engine:
    """Two drones of a fleet at a base."""
    Graph(memory).entities.relate("UAV-001", "belongs_to", "fleet-rescue")
    Graph(memory).entities.relate("UAV-002", "belongs_to", "fleet-rescue")
    Graph(memory).entities.relate("fleet-rescue", "stationed_at", "base-west")
    return memory


def cell_at(lat: float, lon: float, precision: int = 7) -> str:
    (row,), (column,) = cells_of([lat], [lon], precision)
    return cell_name(precision, row, column)


def test_every_entity_that_is_reached_has_a_score_by_its_steps(fleet: Engine) -> None:
    found = Graph(fleet).paths("UAV-001", depth=2)
    rounded = {name: round(score, 4) for name, score in found.scores.items()}
    assert rounded == {"fleet-rescue": 0.85, "UAV-002": 0.7225, "base-west": 0.7225}
    assert len(found.paths) == 2


def test_the_decay_is_the_caller_s(fleet: Engine) -> None:
    found = Graph(fleet).paths("UAV-001", depth=2, decay=0.5)
    assert list(found.scores.values()) == [0.5, 0.25, 0.25]
    assert [path.score for path in Graph(fleet).paths("UAV-001", to="base-west", decay=0.5).paths] == [0.25]
    for bad in (0, 1.5):
        with pytest.raises(InvalidArgument):
            Graph(fleet).paths("UAV-001", decay=bad)


def test_the_shortest_way_follows_strong_ties(memory: Engine) -> None:
    Graph(memory).entities.relate("Anna", "knows", "Bob", weight=0.1)
    Graph(memory).entities.relate("Anna", "works_with", "Cyd", weight=1.0)
    Graph(memory).entities.relate("Cyd", "works_with", "Bob", weight=1.0)
    (way,) = Graph(memory).paths("Anna", to="Bob", shortest=True).paths
    assert [step.entity for step in way.steps] == ["Cyd", "Bob"]
    assert way.cost == 2.0
    Graph(memory).entities.relate("Dora", "knows", "Emil")
    assert Graph(memory).paths("Anna", to="Emil", shortest=True).paths == ()
    with pytest.raises(InvalidArgument, match="to"):
        Graph(memory).paths("Anna", shortest=True)


def test_a_hub_is_what_much_leads_to(fleet: Engine) -> None:
    fleet.remember("the fleet was checked", entities=["fleet-rescue"])
    hubs = Graph(fleet).hubs(limit=2)
    assert [(hub.entity, hub.memories) for hub in hubs] == [("base-west", 0), ("fleet-rescue", 1)]
    assert hubs[0].score > hubs[1].score > 0
    assert Graph(fleet).hubs(limit=0) == ()


def test_edges_are_followed_where_they_lead_and_pagerank_s_settings_are_the_caller_s(fleet: Engine) -> None:
    # By hand: with x the score of a drone, the fleet has x + 2·.85·x, the base x + .85·(fleet).
    x = 1 / (2 + 2.7 + 1 + 0.85 * 2.7)
    hubs = {hub.entity: hub.score for hub in Graph(fleet).hubs(tolerance=1e-12)}
    expected = {"UAV-001": x, "UAV-002": x, "fleet-rescue": 2.7 * x, "base-west": (1 + 0.85 * 2.7) * x}
    assert hubs == pytest.approx(expected)
    assert list(hubs)[:2] == ["base-west", "fleet-rescue"], "the fleet leads to the base, not back"
    both = Graph(fleet).hubs(direction="both")
    assert both[0].entity == "fleet-rescue", "most edges are at the fleet"
    assert {hub.score for hub in Graph(fleet).hubs(damping=0.0)} == {0.25}
    assert Graph(fleet).hubs(iterations=1)[0].score != Graph(fleet).hubs()[0].score
    for bad in ({"direction": "in"}, {"damping": 1.5}, {"iterations": 0}, {"tolerance": 0}):
        with pytest.raises(InvalidArgument):
            Graph(fleet).hubs(**bad)


def test_all_memories_are_dealt_into_parts_and_communities_stay_whole(memory: Engine) -> None:
    two_circles(memory)
    alone = memory.remember("nobody is named here").id
    parts = Graph(memory).partitions(2)
    ids = {one.id: set(one.entities) for one in memory.list().memories}
    assert sorted(sum(parts, ())) == sorted(ids)
    named = [set().union(*(ids[id_] for id_ in part)) for part in parts]
    assert sorted(map(sorted, named)) == [["Anna", "Ben", "Cyd"], ["Xi", "Yan", "Zoe"]]
    assert sorted(map(len, parts)) == [3, 4]
    assert sum(alone in part for part in parts) == 1
    assert sum(map(len, Graph(memory).partitions(5))) == 7
    memory.forget(alone)
    assert alone not in sum(Graph(memory).partitions(1), ())
    for count, level in ((0, 0), (2, 3)):
        with pytest.raises(InvalidArgument):
            Graph(memory).partitions(count, level=level)


def test_an_empty_memory_has_no_hubs_and_no_cells(memory: Engine) -> None:
    assert Graph(memory).hubs() == ()
    assert Graph(memory).cells() == ()


def test_memories_are_listed_by_cells_of_any_precision(memory: Engine) -> None:
    tower, near_it, louvre = (48.85837, 2.29448), (48.858371, 2.294481), (48.8606, 2.3376)
    ids = [
        memory.remember(f"at {lat}", place={"lat": lat, "lon": lon}).id
        for lat, lon in (tower, near_it, louvre)
    ]
    memory.remember("nowhere")
    cells = Graph(memory).cells()
    assert [(cell.name, cell.memories) for cell in cells] == [
        (cell_at(*tower), tuple(ids[:2])),
        (cell_at(*louvre), tuple(ids[2:])),
    ]
    assert cells[0].name.startswith("geo_7_")
    (coarse, *_) = Graph(memory).cells(precision=4)
    assert coarse.name == cell_at(*tower, precision=4)
    assert len(Graph(memory).cells(limit=1)) == 1
    memory.forget(ids[2])
    assert len(Graph(memory).cells()) == 1
    for bad in (3, 9):
        with pytest.raises(InvalidArgument):
            Graph(memory).cells(precision=bad)


def two_circles(memory: Engine) -> None:
    for group in (["Anna", "Ben", "Cyd"], ["Xi", "Yan", "Zoe"]):
        for place, one in enumerate(group):
            memory.remember(f"{one} met {group[place - 1]}", entities=[one, group[place - 1]])


def test_levels_and_iterations_are_the_caller_s(memory: Engine) -> None:
    two_circles(memory)
    assert Graph(memory).communities(levels=5, level=4).level == 4
    assert Graph(memory).communities(iterations=1, resolution=0.5).method == "propagation"
    for bad in (
        {"level": 3},
        {"levels": 0},
        {"method": "chance"},
        {"iterations": 0},
        {"method": "leiden", "level": 1},
    ):
        with pytest.raises(InvalidArgument):
            Graph(memory).communities(**bad)


def test_leiden_finds_the_two_circles(memory: Engine) -> None:
    pytest.importorskip("graspologic_native")
    two_circles(memory)
    found = Graph(memory).communities(method="leiden")
    assert (found.method, found.converged) == ("leiden", True)
    assert sorted(sorted(group.entities) for group in found.groups) == [
        ["Anna", "Ben", "Cyd"],
        ["Xi", "Yan", "Zoe"],
    ]


class Model:
    """A writer that counts how often it is asked."""

    name = "chat:tiny"

    def __init__(self) -> None:
        self.asked = 0

    def write(self, memories: Sequence[Memory], limit: int) -> str:
        self.asked += 1
        return f"{len(memories)} meetings"


class Away(Model):
    def write(self, memories: Sequence[Memory], limit: int) -> str:
        self.asked += 1
        raise ServiceAnswerInvalid("nobody answers")


@pytest.mark.untraced
def test_a_model_writes_beside_the_statistics_and_once() -> None:
    model = Model()
    with memorata.open(":memory:", embedder=None, config={"extractor": None, "summaries": model}) as memory:
        two_circles(memory)
        for _ in range(2):
            found = Graph(memory).communities()
        assert {group.written_by for group in found.groups} == {"chat:tiny"}
        assert all(group.written == f"{len(group.memories)} meetings" for group in found.groups)
        assert all(group.summary.text for group in found.groups)
        assert (model.asked, found.failure) == (len(found.groups), "")


def test_the_statistics_are_there_when_the_model_is_not() -> None:
    with memorata.open(":memory:", embedder=None, config={"extractor": None, "summaries": Away()}) as memory:
        two_circles(memory)
        found = Graph(memory).communities()
    assert found.failure == "nobody answers"
    assert found.groups
    assert all(group.written == "" and group.summary.text for group in found.groups)


def test_a_model_is_named_as_elsewhere() -> None:
    pytest.importorskip("memorata_models")
    memorata.open(":memory:", embedder=None, config={"summaries": "chat:tiny@http://127.0.0.1:9/v1"}).close()
    with pytest.raises(InvalidArgument, match="summaries"):
        memorata.open(":memory:", embedder=None, config={"summaries": "tiny"})
