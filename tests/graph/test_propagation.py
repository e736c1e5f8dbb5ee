"""Relevance spreads over typed edges by as much as each type carries."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.graph import Graph, spread
from memorata.model import InvalidArgument

# Five turns of a session, and who follows whom at one and at two turns' distance.
TURNS = Graph.of(
    5,
    [0, 1, 2, 3, 0, 1, 2],
    [1, 2, 3, 4, 2, 3, 4],
    types=[0] * 4 + [1] * 3,
    type_names=["next", "after next"],
)


def dense(found: object, count: int) -> list[float]:
    scores = np.zeros(count)
    scores[found.nodes] = found.scores  # type: ignore[attr-defined]
    return scores.round(6).tolist()


def test_context_diffusion_is_one_step_over_a_session() -> None:
    # Each turn gets 0.3 and 0.15 of the two before it, and 0.15 and 0.1 of the two after it.
    found = spread(
        TURNS,
        [2],
        [1.0],
        forward={"next": 0.3, "after next": 0.15},
        backward={"next": 0.15, "after next": 0.1},
    )
    assert dense(found, 5) == [0.1, 0.15, 1.0, 0.3, 0.15]


def test_steps_reach_as_far_as_they_are_many() -> None:
    forward = {"next": 0.5}
    assert dense(spread(TURNS, [0], [1.0], forward=forward, steps=0), 5) == [1, 0, 0, 0, 0]
    assert dense(spread(TURNS, [0], [1.0], forward=forward, steps=2), 5) == [1, 0.5, 0.25, 0, 0]
    assert dense(spread(TURNS, [0, 1], [1.0, 2.0], forward=forward, steps=1), 5) == [1, 2.5, 1, 0, 0]


def test_mean_and_share_divide_at_either_end() -> None:
    # 0 and 1 lead to 2, with weights 1 and 3; 0 leads to 3 as well, with weight 1.
    graph = Graph.of(4, [0, 1, 0], [2, 2, 3], [1.0, 3.0, 1.0], type_names=["knows"])
    start: dict[str, Any] = {"nodes": [0, 1], "scores": [1.0, 0.5], "forward": {"knows": 1.0}}
    assert dense(spread(graph, **start, normalise="none"), 4) == [1, 0.5, 2.5, 1]
    assert dense(spread(graph, **start, normalise="mean"), 4) == [1, 0.5, 0.625, 1]
    assert dense(spread(graph, **start, normalise="share"), 4) == [1, 0.5, 1.0, 0.5]


def test_a_mean_counts_neighbours_that_have_no_score() -> None:
    graph = Graph.of(3, [0, 1], [2, 2], type_names=["knows"])
    found = spread(graph, [0], [1.0], forward={"knows": 1.0}, normalise="mean")
    assert dense(found, 3) == [1, 0, 0.5]


EDGES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 4), st.integers(0, 1)), max_size=12
)
PARTS = st.fixed_dictionaries({"a": st.floats(0, 1), "b": st.floats(0, 1)})


@given(
    EDGES,
    st.dictionaries(st.integers(0, 4), st.floats(-2, 2), max_size=4),
    PARTS,
    PARTS,
    st.integers(0, 3),
    st.sampled_from(["none", "mean", "share"]),
)
def test_it_is_the_definition(
    edges: list[tuple[int, int, int, int]],
    start: dict[int, float],
    forward: dict[str, float],
    backward: dict[str, float],
    steps: int,
    normalise: str,
) -> None:
    columns = [[edge[column] for edge in edges] for column in range(4)]
    graph = Graph.of(5, columns[0], columns[1], [float(w) for w in columns[2]], columns[3], ["a", "b"])
    found = spread(
        graph,
        list(start),
        list(start.values()),
        forward=forward,
        backward=backward,
        steps=steps,
        normalise=normalise,
    )
    walks = [(s, t, w, "ab"[k], "out", forward["ab"[k]]) for s, t, w, k in edges]
    walks += [(t, s, w, "ab"[k], "in", backward["ab"[k]]) for s, t, w, k in edges]
    given_away: dict[tuple[int, str, str], float] = defaultdict(float)
    received: dict[tuple[int, str, str], float] = defaultdict(float)
    for source, target, weight, kind, way, _ in walks:
        given_away[source, kind, way] += weight
        received[target, kind, way] += weight
    scores = [start.get(node, 0.0) for node in range(5)]
    for _ in range(steps):
        fresh = [start.get(node, 0.0) for node in range(5)]
        for source, target, weight, kind, way, part in walks:
            divisor = {
                "none": 1.0,
                "share": given_away[source, kind, way],
                "mean": received[target, kind, way],
            }[normalise]
            fresh[target] += part * weight / divisor * scores[source]
        scores = fresh
    np.testing.assert_allclose(dense(found, 5), scores, atol=1e-5)
    assert found.nodes.tolist() == sorted(set(found.nodes.tolist()))


def test_what_cannot_be_spread_is_refused() -> None:
    for bad in (
        {"forward": {"before": 1.0}},
        {"forward": {"next": -0.1}},
        {"forward": ["next"]},
        {"steps": 101},
    ):
        with pytest.raises(InvalidArgument):
            spread(TURNS, [0], [1.0], **{"forward": {"next": 0.5}} | bad)
    with pytest.raises(InvalidArgument, match="scores must be small enough"):
        spread(TURNS, [0], [1e308], forward={"next": 1e10}, steps=1)
