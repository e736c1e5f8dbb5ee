from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest

import memorata
from memorata.engine import Recipe
from memorata.engine.recall.query import RecallContext
from memorata_graph import legs as graph_legs
from memorata_graph.legs import graph_of, walk_leg
from memorata_graph.namespace_graph import Graphs, NamespaceGraph

Make = Callable[..., RecallContext]
RECIPE = Recipe(name="x", graph="walk", graph_seeds=1)
BEST, SCORES = np.array([0]), np.array([0.9])
NOTES = [
    {"content": "The song was written by Maria Silva", "entities": ["Maria Silva"]},
    {"content": "Maria Silva was born in Porto", "entities": ["Maria Silva", "Porto"]},
    {"content": "Porto has a bridge", "entities": ["Porto"]},
    {"content": "Nobody sang", "entities": ["Nobody"]},
]
ASKED = "where was the author of the song born"


def test_it_goes_further_than_one_step_and_nearer_counts_more(context: Make) -> None:
    found = walk_leg(RECIPE, context(NOTES, ASKED, vector=None), BEST, SCORES)
    # Maria Silva leads to 0 and 1, Porto beyond 1 to 2, and nothing leads to 3.
    assert sorted(found.slots.tolist()) == [0, 1, 2]
    by_slot = dict(zip(found.slots.tolist(), found.scores.tolist(), strict=True))
    assert by_slot[2] < min(by_slot[0], by_slot[1])
    assert found.scores[0] == 0.5


def test_the_walk_is_personalised_pagerank_and_half_of_the_score(context: Make) -> None:
    asked = context(NOTES, ASKED)
    found = walk_leg(RECIPE, asked, BEST, SCORES)
    graph = networkx.Graph([("m0", "Maria"), ("m1", "Maria"), ("m1", "Porto"), ("m2", "Porto")])
    exact = networkx.pagerank(graph, alpha=0.75, personalization={"Maria": 1.0}, max_iter=500, tol=1e-12)
    most = max(exact[f"m{slot}"] for slot in range(3))
    assert asked.vector is not None
    cosines = asked.view.score(asked.vector, found.slots).scores
    for slot, score, cosine in zip(
        found.slots.tolist(), found.scores.tolist(), cosines.tolist(), strict=True
    ):
        # After 25 steps at 0.75 at most 0.75 ** 25 < 0.001 of the mass is still to move.
        assert score == pytest.approx(0.5 * exact[f"m{slot}"] / most + 0.5 * cosine, abs=2e-3)


def test_seeds_are_weighted_by_closeness_and_connections(context: Make) -> None:
    asked = context(NOTES, ASKED)
    assert asked.vector is not None
    known = graph_of(asked)
    seeds = np.array([known.entity_node(name) for name in ("Maria Silva", "Porto", "Nobody")])
    raw = []
    for slots, degree in (([0, 1], 2), ([1, 2], 2), ([3], 1)):
        rows = asked.view.vectors(np.array(slots))
        mean = rows.mean(axis=0)
        own = float(mean @ asked.vector) / float(np.linalg.norm(mean) * np.linalg.norm(asked.vector))
        memories = float(asked.view.score(asked.vector, np.array(slots)).scores.mean())
        raw.append(0.5 * own + 0.3 * memories + 0.2 * np.log(1 + degree) / np.log(3))
    weights = graph_legs._weights(RECIPE, known, asked, seeds)
    assert weights == pytest.approx(np.array(raw) / sum(raw), abs=1e-6)


def test_a_large_graph_is_walked_near_the_seeds_to_the_same_scores(
    context: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = context(NOTES, ASKED)
    exact = walk_leg(RECIPE, asked, BEST, SCORES)
    monkeypatch.setattr(graph_legs, "_MAX_EXACT_EDGES", 0)
    near = walk_leg(RECIPE, asked, BEST, SCORES)
    assert near.slots.tolist() == exact.slots.tolist()
    assert near.scores == pytest.approx(exact.scores, abs=2e-3)


def test_the_note_names_the_entities_and_adds_up(context: Make) -> None:
    found = walk_leg(RECIPE, context(NOTES, ASKED), BEST, SCORES)
    assert found.detail is not None
    told = found.detail(np.array([2]))
    assert set(told.names) == {"closeness", "by way of Porto"}
    assert found.detail(found.slots).scores == pytest.approx(found.scores)


def test_a_neighbour_in_the_session_needs_no_entity(context: Make) -> None:
    said = [{**NOTES[0], "source": {"session": "s"}}, {"content": "Lovely!", "source": {"session": "s"}}]
    found = walk_leg(RECIPE, context(said, ASKED, vector=None), BEST, SCORES)
    assert found.detail is not None
    assert found.detail(np.array([1])).names[-1] == "by way of its neighbours"


def test_what_was_excluded_is_not_come_by(context: Make) -> None:
    found = walk_leg(RECIPE, context(NOTES, f"{ASKED} -bridge"), BEST, SCORES)
    assert sorted(found.slots.tolist()) == [0, 1]


@pytest.mark.parametrize(("best", "score"), [([], []), ([0], [0.0]), ([4], [0.9])])
def test_without_anything_to_start_from_it_finds_nothing(
    context: Make, best: list[int], score: list[float]
) -> None:
    asked = context([*NOTES, "no names here"], ASKED)
    assert walk_leg(RECIPE, asked, np.array(best, np.intp), np.array(score)).slots.size == 0


def test_only_a_recipe_that_walks_has_the_graph_built(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[object] = []
    before = Graphs.at

    def counted(self: Graphs, *given: Any) -> NamespaceGraph:
        built.append(self)
        return before(self, *given)

    monkeypatch.setattr(Graphs, "at", counted)
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember_many(NOTES)
        built.clear()
        for leg in ("none", "names", "walk", "paths", "communities"):
            memory.recall("the song of Maria Silva", recipe={"graph": leg})
            assert bool(built) == (leg not in {"none", "names"})
            built.clear()
