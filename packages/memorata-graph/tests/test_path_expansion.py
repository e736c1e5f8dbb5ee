from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pytest

import memorata
from memorata.engine import Recipe
from memorata.engine.recall.query import RecallContext
from memorata_graph import Graph
from memorata_graph.legs import graph_of, named_entities, path_leg

Make = Callable[..., RecallContext]
RECIPE = Recipe(name="x", graph="paths")
NONE, NO_SCORES = np.zeros(0, np.intp), np.zeros(0)
FLEET = [("UAV-001", "belongs_to", "fleet-rescue"), ("fleet-rescue", "stationed_at", "base-west"),
         ("UAV-002", "belongs_to", "fleet-rescue")]  # fmt: skip
LOG = [
    {"content": "A rotor was replaced", "entities": ["UAV-001"]},
    {"content": "The crew trained at night", "entities": ["fleet-rescue"]},
    {"content": "The runway is closed", "entities": ["base-west"]},
    {"content": "The camera is new", "entities": ["UAV-002"]},
    {"content": "Lunch was late", "entities": ["canteen"]},
]


def test_the_fleet_of_the_specification_counts_by_steps(context: Make) -> None:
    asked = context(LOG, "where can UAV-001 land?", FLEET)
    found = path_leg(RECIPE, asked, NONE, NO_SCORES)
    known = graph_of(asked)
    names = ["UAV-001", "fleet-rescue", "base-west", "UAV-002"]
    ranks = np.array([known.ranks[known.entity_node(name)] for name in names])
    expected = np.array([1, 0.85, 0.7225, 0.7225]) * (1 + ranks / ranks.max()) / 2
    by_slot = dict(zip(found.slots.tolist(), found.scores.tolist(), strict=True))
    assert [by_slot[slot] for slot in range(4)] == pytest.approx(expected)
    assert 4 not in by_slot


def test_the_note_is_the_path(context: Make) -> None:
    found = path_leg(RECIPE, context(LOG, "UAV-001", FLEET), NONE, NO_SCORES)
    assert found.detail is not None
    assert found.detail(np.array([2])).names == (
        "UAV-001 —belongs_to→ fleet-rescue —stationed_at→ base-west",
    )
    assert found.detail(np.array([3])).names == ("UAV-001 —belongs_to→ fleet-rescue ←belongs_to— UAV-002",)
    assert found.detail(found.slots).scores == pytest.approx(found.scores)


def test_a_shared_memory_is_a_way_too(context: Make) -> None:
    notes = [
        {"content": "Maria Silva was born in Porto", "entities": ["Maria Silva", "Porto"]},
        {"content": "It has a bridge", "entities": ["Porto"]},
    ]
    found = path_leg(RECIPE, context(notes, "Maria Silva's town"), NONE, NO_SCORES)
    assert found.slots.tolist() == [0, 1]
    assert found.detail is not None
    assert found.detail(np.array([1])).names == ("Maria Silva — Porto",)


def test_whoever_mentions_the_same_is_ordered_by_closeness(context: Make) -> None:
    notes = [
        {"content": text, "entities": ["Anna"]} for text in ("a long walk", "green tea", "the tax office")
    ]
    assert path_leg(RECIPE, context(notes, "Anna green tea"), NONE, NO_SCORES).slots[0] == 1


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("Did Maria Silva and Porto meet?", ["Maria Silva", "Porto"]),
        ("PORTO’s river, maria silva", ["Porto", "Maria Silva"]),
        ("(Silva)", []),
        ("", []),
    ],
)
def test_names_in_a_question(context: Make, query: str, named: list[str]) -> None:
    asked = context([{"content": "x", "entities": ["Maria Silva", "Porto", "Maria"]}], "x")
    known = graph_of(asked)
    assert [known.name_of(node) for node in named_entities(known, query)] == named


@pytest.mark.parametrize("query", ["who landed", "UAV-001 -rotor -crew -runway -camera"])
def test_without_a_known_name_or_anything_allowed_it_finds_nothing(context: Make, query: str) -> None:
    assert path_leg(RECIPE, context(LOG, query, FLEET), NONE, NO_SCORES).slots.size == 0


def test_a_recall_along_paths_says_so() -> None:
    now = datetime(2026, 5, 7, tzinfo=UTC)
    with memorata.open(":memory:", embedder="lexical", clock=lambda: now) as memory:
        memory.remember_many(LOG)
        for source, type_, target in FLEET:
            Graph(memory).entities.relate(source, type_, target)
        hits = memory.recall("UAV-001", recipe={"graph": "paths", "graph_weight": 0.5}, limit=5)
        runway = next(hit for hit in hits if "runway" in hit.memory.content)
        assert "UAV-001 —belongs_to→ fleet-rescue —stationed_at→ base-west" in str(runway.explanation)
        # The verb follows the same paths with its own decay, 0.85.
        ways = Graph(memory).paths("UAV-001", types=["belongs_to", "stationed_at"]).paths
        assert [round(path.score, 4) for path in ways] == [0.7225, 0.7225]
