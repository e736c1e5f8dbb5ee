"""Paths, communities, places and times, as a person asks about them; and bad input to any of these."""

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata import Engine
from memorata.model import InvalidArgument
from memorata.model.errors import EntityNotFound, MemorataError, MemoryNotFound
from memorata.rank.distance import haversines
from memorata_graph import Graph

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        yield engine


# --- paths --------------------------------------------------------------------------------------------


def test_paths_go_through_relations_and_memories(memory: Engine) -> None:
    Graph(memory).entities.relate("UAV-001", "belongs_to", "fleet-rescue")
    Graph(memory).entities.relate("fleet-rescue", "stationed_at", "base-west")
    Graph(memory).entities.relate("UAV-002", "belongs_to", "fleet-rescue")
    found = Graph(memory).paths("uav-001", depth=2)
    assert [str(path) for path in found.paths] == [
        "UAV-001 —belongs_to→ fleet-rescue —stationed_at→ base-west",
        "UAV-001 —belongs_to→ fleet-rescue ←belongs_to— UAV-002",
    ]
    assert [round(path.score, 4) for path in found.paths] == [0.7225, 0.7225]
    assert found.truncated is None
    said = memory.remember("They met.", entities=["UAV-002", "Anna"])
    to_anna = Graph(memory).paths("UAV-001", to="anna", depth=4)
    assert [[step.entity or step.memory for step in path.steps] for path in to_anna.paths] == [
        ["fleet-rescue", "UAV-002", said.id, "Anna"]
    ]
    assert to_anna.paths[0].score == pytest.approx(0.85**4)
    assert Graph(memory).paths("UAV-001", to="fleet-rescue", depth=4).paths[0].score == pytest.approx(0.85)
    assert Graph(memory).paths("UAV-001", depth=1).truncated == "depth"
    assert Graph(memory).paths("UAV-001", types=["stationed_at"]).paths == ()
    assert Graph(memory).paths("fleet-rescue", types=["stationed_at"], direction="in").paths == ()
    Graph(memory).entities.describe("Zoe")
    assert Graph(memory).paths("Zoe").paths == Graph(memory).paths("Anna", to="Zoe").paths == ()


# --- communities --------------------------------------------------------------------------------------


def test_a_type_that_no_relation_has_any_more_is_unknown_as_if_it_had_never_been(memory: Engine) -> None:
    Graph(memory).entities.relate("Anna", "owns", "Boat")
    Graph(memory).entities.relate("Anna", "knows", "Ben")
    assert [str(path) for path in Graph(memory).paths("Anna", types=["owns"]).paths] == ["Anna —owns→ Boat"]
    Graph(memory).entities.unrelate("Anna", "owns", "Boat")
    with pytest.raises(InvalidArgument, match="one of 'mentions', 'next', 'supersedes', 'knows', got 'owns'"):
        Graph(memory).paths("Anna", types=["owns"])


def test_a_way_counts_by_its_own_steps_however_far_others_go_on(memory: Engine) -> None:
    for number in range(6):
        Graph(memory).entities.relate(f"p{number}", "knows", f"p{number + 1}")
    for steps in range(1, 7):
        (way,) = Graph(memory).paths("p0", to=f"p{steps}", depth=6).paths
        assert way.score == 0.85**steps


def test_communities_are_told_with_what_they_are_about(memory: Engine) -> None:
    tea = [memory.remember(f"green tea {n}", entities=["Anna", "Ben"]) for n in range(4)]
    memory.remember_many({"content": f"sailing boats {n}", "entities": ["Cyd", "Dora"]} for n in range(3))
    memory.remember("alone")
    hidden = memory.remember("green secret", entities=["Anna"])
    memory.forget(hidden.id)
    found = Graph(memory).communities(level=2)
    assert (found.count, len(found.groups), found.level, found.converged) == (2, 2, 2, True)
    # Eight of fourteen edges are within the first community, six within the second, none between the two.
    assert found.modularity == pytest.approx(1 - (8 / 14) ** 2 - (6 / 14) ** 2)
    first, second = found.groups
    assert set(first.memories) == {said.id for said in tea}
    assert set(first.entities) == {"Anna", "Ben"}
    # Words as they were written, not their stems ("sail", "boat"), and no bare numbers.
    assert set(first.summary.terms) == {"green", "tea"}
    assert set(second.summary.terms) == {"sailing", "boats"}
    assert (second.summary.memory_count, second.summary.entity_count) == (3, 2)
    assert Graph(memory).communities(level=2, limit=1).groups == (first,)
    assert Graph(memory).communities().count >= 2
    assert Graph(memory).communities(namespace="nobody").groups == ()


def test_a_summary_is_made_once_for_the_same_members(memory: Engine) -> None:
    memory.remember_many({"content": f"tea {n}", "entities": ["Anna"]} for n in range(3))
    first = Graph(memory).communities().groups[0].summary
    memory.remember_many({"content": f"boat {n}", "entities": ["Cyd"]} for n in range(2))
    assert Graph(memory).communities().groups[0].summary is first
    memory.remember("tea again", entities=["Anna"])
    assert Graph(memory).communities().groups[0].summary is not first


def test_what_was_superseded_is_in_no_community(memory: Engine) -> None:
    old = memory.remember("rare words", entities=["Anna"])
    memory.remember("tea", entities=["Anna"])
    memory.correct(old.id, "other words", entities=["Anna"])
    for level in range(3):
        groups = Graph(memory).communities(level=level).groups
        assert groups
        assert all(old.id not in group.memories for group in groups)


# --- places and times ---------------------------------------------------------------------------------

CITIES = {
    "Berlin": (52.52, 13.41),
    "Paris": (48.86, 2.35),
    "Suva": (-18.14, 178.44),
    "Apia": (-13.83, -171.77),
}


def test_the_nearest_memories_and_how_far_they_are(memory: Engine) -> None:
    for name, (lat, lon) in CITIES.items():
        memory.remember(name, place={"lat": lat, "lon": lon})
    memory.remember("nowhere")
    found = Graph(memory).near(50.85, 4.35)
    assert [each.memory.content for each in found] == ["Paris", "Berlin", "Apia", "Suva"]
    assert found[0].metres == pytest.approx(
        haversines(50.85, 4.35, *([degrees] for degrees in CITIES["Paris"]))[0]
    )
    assert [each.memory.content for each in Graph(memory).near(-16.5, -179.9, 300_000)] == ["Suva"]
    assert len(Graph(memory).near(50.85, 4.35, limit=1)) == 1
    assert Graph(memory).near(50.85, 4.35, limit=0) == ()
    memory.forget(found[0].memory.id)
    assert [each.memory.content for each in Graph(memory).near(50.85, 4.35, limit=1)] == ["Berlin"]
    memory.purge(found[0].memory.id)
    memory.remember("Brussels", place={"lat": 50.85, "lon": 4.35})
    assert Graph(memory).near(50.85, 4.35, 0)[0].metres == 0
    assert Graph(memory).near(50.85, 4.35, namespace="nobody") == ()


def test_places_that_change_are_found_where_they_are_now(memory: Engine) -> None:
    said = memory.remember("x", place={"lat": 0, "lon": 0})
    assert len(Graph(memory).near(0, 0, 1)) == 1
    memory.store.update(memorata.Memory(**{**as_fields(said), "place": memorata.Place(1, 1)}), said.version)
    assert Graph(memory).near(0, 0, 1) == ()
    assert len(Graph(memory).near(1, 1, 1)) == 1


def as_fields(said: memorata.Memory) -> dict[str, Any]:
    return {name: getattr(said, name) for name in said.__dataclass_fields__}


@given(
    st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.booleans()), max_size=12),
    st.floats(-90, 90),
    st.floats(-180, 180),
    st.sampled_from([None, 1_000_000.0, 10_000_000.0]),
    st.integers(0, 6),
)
def test_near_is_what_measuring_everything_gives(
    points: list[tuple[float, float, bool]], lat: float, lon: float, radius: float | None, limit: int
) -> None:
    with memorata.open(":memory:", embedder=None, config={"duplicates": "off"}) as memory:
        expected = []
        for north, east, is_hidden in points:
            said = memory.remember("x", place={"lat": north, "lon": east})
            metres = haversines(lat, lon, [north], [east])[0]
            if is_hidden:
                memory.forget(said.id)
            elif radius is None or metres <= radius:
                expected.append(metres)
        found = Graph(memory).near(lat, lon, radius, limit=limit)
        assert [each.metres for each in found] == pytest.approx(sorted(expected)[:limit], rel=1e-6, abs=0.2)


def test_a_timeline_is_in_the_order_of_what_happened(memory: Engine) -> None:
    for day, names in ((3, ["Anna"]), (1, ["Ben"]), (2, ["anna"])):
        memory.remember(f"day {day}", entities=names, valid_from=NOW + day * DAY)
    hidden = memory.remember("day 0", entities=["Anna"], valid_from=NOW)
    memory.forget(hidden.id)
    assert [said.content for said in Graph(memory).timeline()] == ["day 1", "day 2", "day 3"]
    assert [said.content for said in Graph(memory).timeline("Anna")] == ["day 2", "day 3"]
    between = Graph(memory).timeline(start=NOW + DAY, end=NOW + 3 * DAY)
    assert [said.content for said in between] == ["day 1", "day 2"]
    assert [said.content for said in Graph(memory).timeline(limit=1)] == ["day 1"]
    assert Graph(memory).timeline(limit=0) == Graph(memory).timeline(start=NOW, end=NOW) == ()


def test_what_was_known_then(tmp_path: Path) -> None:
    moment = [NOW]
    with memorata.open(tmp_path / "m.db", embedder=None, clock=lambda: moment[0]) as memory:
        here = {"lat": 48.86, "lon": 2.35}
        old = memory.remember("Anna met Ben", entities=["Anna", "Ben"], place=here)
        Graph(memory).entities.relate("Anna", "works_at", "Acme", memory=old.id)
        moment[0] = NOW + DAY
        new = memory.correct(old.id, "Anna met Carl", entities=["Anna", "Carl"])
        Graph(memory).entities.relate("Anna", "works_at", "Zeta", memory=new.id)
        moment[0] = NOW + 2 * DAY

        def reached(**when: Any) -> set[str]:
            ways = Graph(memory).paths("Anna", depth=2, direction="both", **when).paths
            return {step.entity for way in ways for step in way.steps if step.entity is not None}

        assert reached() == {"Carl", "Zeta"}
        assert reached(as_of=NOW) == {"Ben", "Acme"}
        assert reached(as_of=NOW + DAY) == {"Carl", "Zeta"}
        assert [each.id for each in Graph(memory).timeline("Anna", as_of=NOW)] == [old.id]
        assert [each.id for each in Graph(memory).timeline("Anna")] == [new.id]
        assert Graph(memory).timeline(as_of=NOW - DAY) == ()
        assert [each.memory.id for each in Graph(memory).near(48.86, 2.35, as_of=NOW)] == [old.id]
        assert [each.memory.id for each in Graph(memory).near(48.86, 2.35)] == [new.id]
        assert Graph(memory).near(48.86, 2.35, 1000, as_of=NOW - DAY) == ()

        def together(**when: Any) -> tuple[set[str], set[str]]:
            groups = Graph(memory).communities(**when).groups
            memories = {id_ for group in groups for id_ in group.memories}
            return memories, {name for group in groups for name in group.entities}

        assert together(as_of=NOW) == ({old.id}, {"Anna", "Ben", "Acme"})
        assert together() == ({new.id}, {"Anna", "Carl", "Zeta"})
        assert Graph(memory).communities(as_of=NOW - DAY).groups == ()
        with pytest.raises(EntityNotFound, match="no entity 'Ben'"):
            Graph(memory).paths("Ben")
        assert [str(way) for way in Graph(memory).paths("Ben", depth=1, as_of=NOW).paths] == [
            f"Ben ←mentions— {old.id}"
        ]


# --- bad input ----------------------------------------------------------------------------------------

BAD: list[tuple[Callable[[Any], Any], str]] = [
    (lambda m: Graph(m).entities.get("Ana"), "no entity 'Ana' in namespace 'default'; did you mean 'Anna'?"),
    (lambda m: Graph(m).entities.relations("Ana"), "did you mean 'Anna'"),
    (lambda m: Graph(m).paths("Ana"), "did you mean 'Anna'"),
    (lambda m: Graph(m).paths("Anna", to="Bem"), "did you mean 'Ben'"),
    (lambda m: Graph(m).timeline("Xerxes"), "no entity 'Xerxes' in namespace 'default'"),
    (lambda m: Graph(m).entities.merge("Anna", "Xerxes"), "no entity 'Xerxes'"),
    (lambda m: Graph(m).entities.get(" "), "name must be a name that is not blank"),
    (lambda m: Graph(m).entities.get(5), "name must be a string"),  # type: ignore[arg-type]
    (lambda m: Graph(m).entities.list(limit=-1), "limit must be"),
    (lambda m: Graph(m).entities.list(prefix=None), "prefix must be"),  # type: ignore[arg-type]
    (lambda m: Graph(m).entities.describe("\u200b"), "name must be a name that is not blank"),
    (lambda m: Graph(m).entities.describe("Anna", aliases="Annie"), "aliases must be"),
    (lambda m: Graph(m).entities.describe("Anna", aliases=["Annie", " "]), r"aliases\[1\] must be"),
    (
        lambda m: Graph(m).entities.describe("New", aliases=["Ben"]),
        "aliases must be names of no other entity",
    ),
    (lambda m: Graph(m).entities.describe("Anna", type="\ud83c"), "type must be text"),
    (lambda m: Graph(m).entities.relate("Anna", " ", "Ben"), "type must be a word of your own"),
    (lambda m: Graph(m).entities.relate("Anna", "mentions", "Ben"), "type must be a word of your own"),
    (lambda m: Graph(m).entities.relate("", "knows", "Ben"), "subject must be"),
    (lambda m: Graph(m).entities.relate("Anna", "knows", "\ud83c"), "object must be"),
    (lambda m: Graph(m).entities.relate("New", "knows", "Ben", weight=0), "weight must be"),
    (lambda m: Graph(m).entities.relate("New", "knows", "Ben", weight=math.nan), "weight must be"),
    (lambda m: Graph(m).entities.relate("New", "knows", "Ben", weight=1e300), "weight must be"),
    (lambda m: Graph(m).entities.relate("New", "knows", "Ben", memory="nobody"), "no memory 'nobody'"),
    (
        lambda m: Graph(m).entities.relate("New", "knows", "Ben", valid_from=NOW, valid_to=NOW - DAY),
        "valid_to must be",
    ),
    (
        lambda m: Graph(m).entities.relate("New", "knows", "Ben", valid_from=datetime(2026, 5, 7)),
        "valid_from must be",
    ),
    (lambda m: Graph(m).entities.unrelate("Anna", "hates", "Ben"), "type must be that of a relation"),
    (lambda m: Graph(m).entities.merge("Anna", "anna"), "other must be another entity than 'Anna'"),
    (
        lambda m: Graph(m).entities.merge("Bobby", "Anna"),
        "keep must be a name that does not lead back to 'Anna'",
    ),
    (lambda m: Graph(m).entities.merge("Ben", "Bobby"), "a name not merged yet"),
    (lambda m: Graph(m).entities.undo_merge("Ben"), "name must be a name that was merged"),
    (lambda m: Graph(m).entities.undo_merge("Xerxes"), "name must be a name that was merged"),
    (lambda m: Graph(m).entities.relations(as_of="today"), "as_of must be"),
    (lambda m: Graph(m).paths("Anna", depth=10**9), "depth must be a whole number from 1 to 100"),
    (lambda m: Graph(m).paths("Anna", depth=0), "depth must be"),
    (lambda m: Graph(m).paths("Anna", types=["nonsense"]), r"types\[0\] must be one of"),
    (lambda m: Graph(m).paths("Anna", direction="up"), "direction must be"),
    (lambda m: Graph(m).paths("Anna", order="random"), "order must be"),
    (lambda m: Graph(m).paths("Anna", nodes=0), "nodes must be"),
    (lambda m: Graph(m).paths("Anna", seconds=-1), "seconds must be"),
    (lambda m: Graph(m).paths("Anna", to="anna"), "to must be another entity"),
    (lambda m: Graph(m).communities(level=3), "level must be a whole number from 0 to 2"),
    (lambda m: Graph(m).communities(limit=-1), "limit must be"),
    (lambda m: Graph(m).communities(seed=-1), "seed must be"),
    (lambda m: Graph(m).near(91, 0), "lat must be a number from -90 to 90, got 91"),
    (lambda m: Graph(m).near(0, 181), "lon must be"),
    (lambda m: Graph(m).near(0, 0, -1), "radius must be"),
    (lambda m: Graph(m).near(0, 0, math.nan), "radius must be"),
    (lambda m: Graph(m).near(0, 0, limit=-1), "limit must be"),
    (lambda m: Graph(m).timeline(start=NOW, end=NOW - DAY), "end must be at or after start"),
    (lambda m: Graph(m).timeline(start="now"), "start must be"),
    (lambda m: Graph(m).timeline(limit=2.5), "limit must be"),  # type: ignore[arg-type]
    (lambda m: Graph(m).paths("Anna", as_of="then"), "as_of must be"),
    (lambda m: Graph(m).communities(as_of=datetime(2026, 5, 7)), "as_of must be"),
    (lambda m: Graph(m).near(0, 0, as_of=5), "as_of must be"),  # type: ignore[arg-type]
    (lambda m: Graph(m).timeline(as_of="then"), "as_of must be"),
    (lambda m: Graph(m).entities.list(namespace="a//b"), "namespace must be"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[f"{n}" for n in range(len(BAD))])
def test_bad_input_is_refused_in_clear_words_and_nothing_is_written(
    memory: Engine, call: Callable[[Any], Any], message: str
) -> None:
    memory.remember("x", entities=["Anna", "Ben", "Bobby"])
    Graph(memory).entities.relate("Anna", "knows", "Ben")
    Graph(memory).entities.merge("Anna", "Bobby")
    before = memory.store.changes(0, 100)
    with pytest.raises(MemorataError, match=message) as caught:
        call(memory)
    assert isinstance(caught.value, InvalidArgument | EntityNotFound | MemoryNotFound)
    assert memory.store.changes(0, 100) == before
    assert memory.store.namespaces().keys() == {"default"}
