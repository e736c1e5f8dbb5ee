"""Graphs that are kept: as many as there is room for, and none of what never came to be."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import memorata
from memorata import Engine
from memorata.model import InvalidArgument
from memorata_graph.namespace_graph import Graphs

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as engine:
        yield engine


def test_a_graph_is_kept_until_something_happens(memory: Engine) -> None:
    graphs = Graphs(memory.runtime)
    memory.remember("x", entities=["Anna"])
    first = graphs.at("default", NOW)
    assert graphs.at("default", NOW) is first
    memory.remember("y", entities=["Ben"])
    assert graphs.at("default", NOW) is not first


def test_least_recently_used_graphs_go_when_there_is_no_room(memory: Engine) -> None:
    graphs = Graphs(memory.runtime, budget=1)
    for namespace in ("a", "b"):
        memory.remember("x", entities=["Anna"], namespace=namespace)
    first = graphs.at("a", NOW)
    graphs.at("b", NOW)
    again = graphs.at("a", NOW)
    assert again is not first
    assert (again.graph.nodes, again.keys) == (first.graph.nodes, first.keys) == (2, ("anna",))


def test_no_graph_of_what_was_undone_is_kept(memory: Engine) -> None:
    graphs = Graphs(memory.runtime)
    memory.remember("x", entities=["Anna"])

    def half_done() -> None:
        with memory.store.together():
            memory.remember("y", entities=["Ben"])
            assert graphs.at("default", NOW).entity_node("Ben") is not None
            memory.remember(" ")

    with pytest.raises(InvalidArgument, match="not blank"):
        half_done()
    memory.remember("z", entities=["Carl"])
    assert graphs.at("default", NOW).keys == ("anna", "carl")
