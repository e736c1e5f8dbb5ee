"""The Leiden algorithm, through a library."""

import sys

import numpy as np
import pytest

from memorata.graph import Graph, communities, leiden, modularity
from memorata.model import InvalidArgument
from memorata.model.errors import MissingExtra

BARBELL = Graph.of(7, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])


def test_two_triangles_and_a_node_without_edges() -> None:
    found = leiden(BARBELL)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert found.modularity == pytest.approx(modularity(BARBELL, found.labels))


def test_it_is_at_least_as_modular_as_label_propagation() -> None:
    random = np.random.default_rng(5)
    camp = np.repeat(np.arange(10), 20)
    one, other = np.triu_indices(200, 1)
    tied = random.random(one.size) < np.where(camp[one] == camp[other], 0.4, 0.03)
    graph = Graph.of(200, one[tied], other[tied])
    found = leiden(graph)
    assert found.modularity >= communities(graph)[-1].modularity - 0.01
    assert leiden(graph).labels.tolist() == found.labels.tolist()


def test_without_edges_everybody_is_alone() -> None:
    assert leiden(Graph.of(2, [], [])).labels.tolist() == [0, 1]
    assert leiden(Graph.of(2, [0], [0])).labels.tolist() == [0, 1]
    assert leiden(Graph.of(0, [], [])).count == 0


def test_when_the_library_is_missing_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graspologic_native", None)
    with pytest.raises(MissingExtra, match=r"pip install 'memorata\[communities\]'"):
        leiden(BARBELL)


@pytest.mark.parametrize(
    "bad", [{"resolution": 0}, {"iterations": 0}, {"iterations": 1001}, {"seed": -1}, {"seed": 2**63}]
)
def test_bad_arguments_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument):
        leiden(BARBELL, **bad)
