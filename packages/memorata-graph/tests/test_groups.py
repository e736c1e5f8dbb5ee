"""Communities in words: who is most central, and that the structure is computed once for a graph."""

from datetime import UTC, datetime

import memorata
from memorata_graph import Graph
from memorata_graph.namespace_graph import Graphs
from memorata_graph.results import FoundPath, PathStep
from memorata_graph.summaries import Partitioning, written

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def test_an_empty_graph_has_an_empty_structure() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        assert Graph(memory).communities().groups == ()


def test_the_most_central_come_first_and_the_work_is_done_once() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW, config={"extractor": None}) as memory:
        hub = memory.remember("tea with all", entities=["Anna", "Ben", "Cyd", "Dora"])
        (group,) = Graph(memory).communities(level=2).groups
        assert group.memories == (hub.id,)
        assert group.entities == ("Anna", "Ben", "Cyd", "Dora")
        graphs = memory.runtime.part(Graphs)
        known = graphs.at("default", NOW)
        levels = Partitioning().levels_of(known)
        assert Partitioning().levels_of(known) is levels
        assert Partitioning(seed=7).levels_of(known) is not levels
        memory.remember("more tea", entities=["Dora"])
        assert Partitioning().levels_of(graphs.at("default", NOW)) is not levels


def about(memory: memorata.Engine, namespace: str) -> list[tuple[str, ...]]:
    return [group.summary.terms for group in Graph(memory).communities(namespace=namespace).groups]


def remember(memory: memorata.Engine, namespace: str, *contents: str) -> None:
    for number, content in enumerate(contents):
        memory.remember(content, id=f"m{number}", entities=["Anna"], namespace=namespace)


def test_a_summary_says_nothing_of_memories_of_the_same_id_elsewhere_or_before() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        remember(memory, "one", "secret rocket fuel", "hidden rocket plans", "noise")
        assert "rocket" in about(memory, "one")[0]
        remember(memory, "two", "green tea leaves", "warm tea pots", "noise")
        assert {"rocket", "secret"}.isdisjoint(about(memory, "two")[0])
        assert "tea" in about(memory, "two")[0]
        memory.purge("m0", "m1", "m2", namespace="one")
        remember(memory, "one", "blue bicycle bell", "red bicycle seat", "noise")
        assert {"rocket", "secret"}.isdisjoint(about(memory, "one")[0])


def test_a_summary_knows_when_its_memories_are_said_to_have_happened_at_last() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        remember(memory, "one", "green tea leaves", "warm tea pots")
        (before,) = Graph(memory).communities(namespace="one").groups
        assert (before.summary.since, before.summary.until) == (NOW, NOW)
        then = datetime(2020, 1, 1, tzinfo=UTC)
        memory.update("m0", valid_from=then, namespace="one")
        (after,) = Graph(memory).communities(namespace="one").groups
        assert (after.summary.since, after.summary.until) == (then, NOW)


def test_a_path_reads_as_it_was_walked() -> None:
    steps = (
        PathStep("belongs_to", forward=True, weight=1.0, entity="fleet", memory=None),
        PathStep("mentions", forward=False, weight=1.0, entity=None, memory="m1"),
    )
    assert str(FoundPath("UAV-001", steps, 0.7225)) == "UAV-001 —belongs_to→ fleet ←mentions— m1"


def test_a_stem_is_the_beginning_of_its_word() -> None:
    said = "Mira is allergic to walnuts; the appointment is in December."
    assert written(["allerg", "appoint", "decemb", "mira", "walnut"], said) == {
        "allerg": "allergic",
        "appoint": "appointment",
        "decemb": "December",
        "mira": "Mira",
        "walnut": "walnuts",
    }


def test_the_last_letter_of_a_stem_may_be_another() -> None:
    assert written(["happi", "citi"], "Happy in the city.") == {"happi": "Happy", "citi": "city"}


def test_a_word_belongs_to_the_longest_term_it_begins_with() -> None:
    assert written(["port", "porto"], "Porto has ports.") == {"port": "ports", "porto": "Porto"}


def test_the_most_frequent_word_is_taken_then_the_shortest_then_the_first() -> None:
    assert written(["prune"], "prunes pruned pruned")["prune"] == "pruned"
    assert written(["prune"], "prunes prune")["prune"] == "prune"
    assert written(["prune"], "prunes pruned")["prune"] == "pruned"


def test_what_the_text_does_not_have_is_left_out() -> None:
    assert written(["tea", "x"], "Coffee.") == {}
    assert written([], "Coffee.") == {}
    assert written(["tea"], "") == {}


def test_other_scripts_are_words_too() -> None:
    assert written(["ключ", "квартир"], "Ключи от квартиры") == {"ключ": "Ключи", "квартир": "квартиры"}
