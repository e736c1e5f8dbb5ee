"""The graph of a namespace: what its edges are, and that catching up gives what building anew gives."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memorata
from memorata import Engine
from memorata.model import InvalidArgument, Relation
from memorata_graph import Graph
from memorata_graph.namespace_graph import Graphs, NamespaceGraph

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with opened() as engine:
        yield engine


def opened() -> Engine:
    return memorata.open(
        ":memory:", embedder=None, clock=lambda: NOW, config={"extractor": None, "duplicates": "off"}
    )


def fresh(memory: Engine, now: datetime = NOW) -> NamespaceGraph:
    return Graphs(memory.runtime).at("default", now)


def edges(found: NamespaceGraph) -> Counter[tuple[Any, str, Any, float]]:
    """Return the edges by who stands at their ends: slots of memories and names of entities."""
    graph = found.graph
    at = found.slots_of(np.arange(found.graph.nodes)).tolist()
    who = [found.name_of(node) if slot < 0 else slot for node, slot in enumerate(at)]
    return Counter(
        (who[source], graph.type_names[kind], who[target], weight)
        for source, target, weight, kind in zip(
            *(column.tolist() for column in (graph.sources, graph.targets, graph.weights, graph.types)),
            strict=True,
        )
    )


def relate(memory: Engine, subject: str, type_: str, other: str, **details: Any) -> None:
    memory.store.relations.add("default", [Relation(subject, type_, other, **details)], NOW)


def test_memories_mention_entities_follow_each_other_and_take_each_others_place(memory: Engine) -> None:
    for position, names in enumerate([["Anna"], ["Anna", "ANNA", "Ben"], []]):
        memory.remember("x", entities=names, source={"session": "s", "position": position})
    memory.remember("elsewhere", source={"session": "t", "position": 9})
    corrected = memory.remember("old", entities=["Ben"])
    memory.correct(corrected.id, "new", entities=["Anna"])
    relate(memory, "Anna", "knows", "Ben", weight=2)
    assert edges(fresh(memory)) == {
        (0, "mentions", "Anna", 1.0): 1,
        (1, "mentions", "Anna", 1.0): 1,
        (1, "mentions", "Ben", 1.0): 1,
        (0, "next", 1, 1.0): 1,
        (1, "next", 2, 1.0): 1,
        (5, "mentions", "Anna", 1.0): 1,
        (5, "supersedes", 4, 1.0): 1,
        ("Anna", "knows", "Ben", 2.0): 1,
    }


def test_turns_are_in_order_of_their_positions_however_they_came_in(memory: Engine) -> None:
    graphs = Graphs(memory.runtime)
    for position in (3, 1, None, 2, 4):
        memory.remember("x", source={"session": "s", "position": position})
        found = graphs.at("default", NOW)
    assert {(a, b) for a, _, b, _ in edges(found)} == {(2, 1), (1, 3), (3, 0), (0, 4)}


def test_what_is_hidden_leaves_the_conversation_and_its_neighbours_close_up(memory: Engine) -> None:
    said = [memory.remember("x", source={"session": "s", "position": n}, entities=["Anna"]) for n in range(3)]
    graphs = Graphs(memory.runtime)
    graphs.at("default", NOW)
    memory.forget(said[1].id)
    assert edges(graphs.at("default", NOW))[(0, "next", 2, 1.0)] == 1
    memory.restore(said[1].id)
    assert edges(graphs.at("default", NOW)) == edges(fresh(memory))
    assert (0, "next", 2, 1.0) not in edges(graphs.at("default", NOW))


def test_a_name_means_whom_it_was_merged_into_until_that_is_undone(memory: Engine) -> None:
    memory.remember("x", entities=["Bob"])
    memory.remember("x", entities=["Robert", "Bob"])
    graphs = Graphs(memory.runtime)
    assert len(edges(graphs.at("default", NOW))) == 3
    memory.store.entities.merge("default", "Robert", "Bob")
    found = graphs.at("default", NOW)
    assert edges(found) == {(0, "mentions", "Robert", 1.0): 1, (1, "mentions", "Robert", 1.0): 1}
    assert found.entity_node("bob") == found.entity_node("Robert")
    assert found.mention_counts()[found.entity_node("Bob")] == 2
    memory.store.entities.undo_merge("default", "Bob")
    assert len(edges(graphs.at("default", NOW))) == 3


def test_time_alone_ends_relations_and_memories(memory: Engine) -> None:
    memory.remember("x", entities=["Anna"], expires_at=NOW + HOUR)
    relate(memory, "Anna", "visits", "Ben", valid_from=NOW + 2 * HOUR, valid_to=NOW + 3 * HOUR)
    graphs = Graphs(memory.runtime)
    expected = {0: 1, 1: 0, 2: 1, 3: 0}
    for hours in (0, 1, 2, 3, 2, 1, 0):
        now = NOW + hours * HOUR
        assert sum(edges(graphs.at("default", now)).values()) == expected[hours]
        assert edges(graphs.at("default", now)) == edges(fresh(memory, now))


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["say", "correct", "relate", "end", "assert"]),
        st.sampled_from(["Anna", "Ben", "Cleo"]),
        st.sampled_from(["Anna", "Ben", "Cleo"]),
        st.integers(0, 9),
    ),
    max_size=8,
)


@given(ACTS)
def test_the_graph_as_of_a_moment_is_the_one_there_was_then(acts: list[tuple[str, str, str, int]]) -> None:
    hours = iter(range(100))
    moment = [NOW]
    with memorata.open(
        ":memory:", embedder=None, clock=lambda: moment[0], config={"extractor": None, "duplicates": "off"}
    ) as memory:
        was: list[tuple[datetime, Counter[tuple[Any, str, Any, float]]]] = []
        said: list[str] = []
        for act, one, other, pick in acts:
            moment[0] = now = NOW + next(hours) * HOUR
            if act == "say" or not said:
                where = {"session": "s", "position": pick}
                said.append(memory.remember("x", entities=[one, other], source=where).id)
            elif act == "correct":
                said[pick % len(said)] = memory.correct(said[pick % len(said)], "y", entities=[one]).id
            else:
                by = said[pick % len(said)] if act == "assert" else None
                end = now + HOUR if act == "end" else None
                Graph(memory).entities.relate(one, "knows", other, memory=by, valid_from=now, valid_to=end)
            was.append((now, edges(fresh(memory, now))))
        end = NOW + 200 * HOUR
        graphs = Graphs(memory.runtime)
        for then, expected in was:
            if any(act == "assert" for act, *_ in acts):
                # A memory asserts a relation since it was learnt, and may be asked to only later.
                expected -= Counter({edge: n for edge, n in expected.items() if edge[1] == "knows"})
                believed = edges(graphs.at("default", end, then))
                believed -= Counter({edge: n for edge, n in believed.items() if edge[1] == "knows"})
                assert believed == expected
            else:
                assert edges(graphs.at("default", end, then)) == expected
        assert edges(graphs.at("default", end, NOW - HOUR)) == {}


def test_what_was_forgotten_since_is_not_in_the_graph_of_then_and_the_present_is_kept(memory: Engine) -> None:
    said = [memory.remember(text, entities=["Anna"]) for text in ("one", "two")]
    graphs = Graphs(memory.runtime)
    present = graphs.at("default", NOW)
    assert sum(edges(graphs.at("default", NOW, NOW)).values()) == 2
    assert graphs.at("default", NOW) is present
    memory.forget(said[0].id)
    assert edges(graphs.at("default", NOW, NOW)) == {(1, "mentions", "Anna", 1.0): 1}
    assert edges(graphs.at("nobody", NOW, NOW)) == {}


def test_nothing_is_read_when_nothing_has_happened(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.remember("x", entities=["Anna"])
    graphs = Graphs(memory.runtime)
    first = graphs.at("default", NOW)
    monkeypatch.setattr(memory.store.graph, "links", lambda *_: pytest.fail("read again"))
    assert graphs.at("default", NOW) is first
    assert graphs.at("default", NOW + HOUR) is first


def test_whoever_has_a_graph_keeps_it_as_it_was_while_another_catches_up(memory: Engine) -> None:
    memory.remember("x", entities=["Anna", "Ben"], source={"session": "s", "position": 0})
    graphs = Graphs(memory.runtime)
    first = graphs.at("default", NOW)
    before = first.graph, first.links, first.keys, first.names
    memory.remember("y", entities=["Cyd"], source={"session": "s", "position": 1})
    Graph(memory).entities.relate("Anna", "knows", "Dora")
    second = graphs.at("default", NOW)
    assert second is not first
    assert edges(second) == edges(fresh(memory))
    assert (first.graph, first.links, first.keys, first.names) == before
    assert first.entity_node("Cyd") is None
    assert graphs.at("default", NOW) is second


def test_memories_come_by_their_slots_and_then_names_by_their_keys(memory: Engine) -> None:
    memory.remember("nobody")
    memory.remember("x", entities=["Zoe", "Ben"])
    memory.remember("y", entities=["Anna", "Zoe"])
    known = fresh(memory)
    nodes = [known.nodes_of(np.array([slot]))[0] for slot in (0, 1, 2)]
    assert [*nodes, *map(known.entity_node, ("Anna", "Ben", "Zoe"))] == [-1, 0, 1, 2, 3, 4]
    assert known.slots_of(np.arange(5)).tolist() == [1, 2, -1, -1, -1]
    assert [known.name_of(node) for node in range(5)] == [None, None, "Anna", "Ben", "Zoe"]


def test_an_empty_namespace_has_an_empty_graph(memory: Engine) -> None:
    assert fresh(memory).graph.nodes == 0
    assert fresh(memory).entity_node("Anna") is None


NAMES = st.sampled_from(["Anna", "anna", "Ben", "Carl", "Dora", "\u200b"])
WHEN = st.sampled_from([None, NOW - HOUR, NOW + HOUR, NOW + 2 * HOUR])
STEPS = st.one_of(
    st.tuples(
        st.just("remember"),
        st.lists(NAMES, max_size=3),
        st.sampled_from(["", "s", "t"]),
        st.sampled_from([None, 0, 1, 2]),
        WHEN,
    ),
    st.tuples(st.sampled_from(["forget", "restore", "purge", "correct"]), st.integers(0, 9)),
    st.tuples(st.just("relate"), NAMES, NAMES, st.integers(-5, 9), WHEN, st.sampled_from([1.0, 2.0])),
    st.tuples(st.just("unrelate"), NAMES, NAMES),
    st.tuples(st.sampled_from(["merge", "undo"]), NAMES, NAMES),
    st.tuples(st.just("alias"), NAMES, st.sampled_from([[], ["Annie"], ["Ben"]])),
    st.tuples(st.just("wait"), st.integers(-2, 2)),
)


def do(memory: Engine, ids: list[str], step: tuple[Any, ...]) -> None:
    kind, *given = step
    if kind == "remember":
        names, session, position, expires = given
        source = {"session": session, "position": position}
        ids.append(memory.remember("x", entities=names, source=source, expires_at=expires).id)
    elif kind in ("forget", "restore", "purge") and ids:
        id_ = ids[given[0] % len(ids)]
        getattr(memory, kind)(id_)
        if kind == "purge":
            # What said the same words, and was corrected to them, goes with it.
            left = {each.id for each in memory.list(hidden=True, limit=100).memories}
            ids[:] = [each for each in ids if each in left]
    elif kind == "correct" and ids:
        ids.append(memory.correct(ids[given[0] % len(ids)], "y").id)
    elif kind == "relate":
        subject, other, by, until, weight = given
        asserted_by = ids[by] if 0 <= by < len(ids) else None
        relate(memory, subject, "knows", other, asserted_by=asserted_by, valid_to=until, weight=weight)
    elif kind == "unrelate":
        memory.store.relations.remove("default", [given[0].casefold()], "knows", [given[1].casefold()])
    elif kind == "merge":
        memory.store.entities.merge("default", *given)
    elif kind == "undo":
        memory.store.entities.undo_merge("default", given[0])
    elif kind == "alias":
        memory.store.entities.describe("default", given[0], aliases=given[1])


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(STEPS, max_size=25))
def test_catching_up_gives_what_building_anew_gives(steps: list[tuple[Any, ...]]) -> None:
    with opened() as memory:
        graphs = Graphs(memory.runtime)
        ids: list[str] = []
        now = NOW
        for step in steps:
            if step[0] == "wait":
                now = now + step[1] * HOUR
            else:
                # A merge in a circle, a name of nothing, a memory corrected twice.
                with suppress(InvalidArgument):
                    do(memory, ids, step)
            assert edges(graphs.at("default", now)) == edges(fresh(memory, now))
        assert memory.admin.check() == []


def test_ranks_are_computed_once_for_each_state() -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember("Anna met Ben", entities=["Anna", "Ben"])
        known = memory.runtime.part(Graphs).at("default", memory.runtime.clock())
        before = known.ranks
        # Anna - memory - Ben: the middle of three is ranked above its ends, which are alike.
        assert before is known.ranks
        assert before.sum() == pytest.approx(1)
        anna, ben = known.entity_node("Anna"), known.entity_node("Ben")
        assert before[anna] == pytest.approx(before[ben])
        assert before.max() > before[anna]
        memory.remember("Anna sang", entities=["Anna"])
        known = memory.runtime.part(Graphs).at("default", memory.runtime.clock())
        assert known.ranks[known.entity_node("Anna")] > known.ranks[known.entity_node("Ben")]
