"""Entities, relations, paths, communities, places and times, as a person asks about them."""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect import Engine
from recollect.engine.graph_answers import KnownEntity
from recollect.model import Entity, InvalidArgument, Relation
from recollect.model.errors import EntityNotFound, MemoryNotFound, RecollectError
from recollect.place import haversine
from recollect.text.known_names import KnownNames
from recollect.text.mentions import Extraction, Mention
from recollect.text.resolution import Redirects

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with recollect.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        yield engine


def told(relations: tuple[Relation, ...]) -> list[tuple[str, str, str]]:
    return [(relation.source, relation.type, relation.target) for relation in relations]


# --- names in what is remembered ----------------------------------------------------------------------


def test_what_is_remembered_is_read_for_names(memory: Engine) -> None:
    said = memory.remember("Yesterday Anna met Ben at the Bank of England.", entities=["Project X"])
    assert said.entities == ("Project X", "Anna", "Ben", "Bank of England")
    assert memory.draft("I met anna").entities == ()
    memory.describe_entity("Anna Keller", aliases=["Anna"])
    assert memory.draft("I met anna and ANNA KELLER").entities == ("Anna", "Anna Keller")


def test_reading_for_names_can_be_left_out() -> None:
    with recollect.open(":memory:", embedder=None, extract_entities=False) as memory:
        assert memory.remember("Anna met Ben").entities == ()
        assert memory.remember("Anna met Ben", entities=["Carl"]).entities == ("Carl",)


def test_a_correction_keeps_the_names_that_were_given_and_reads_the_others_anew(memory: Engine) -> None:
    said = memory.remember("Anna lives in Rome.", entities=["Project X"])
    assert memory.correct(said.id, "Anna lives in Paris.").entities == ("Project X", "Anna", "Paris")


def test_names_do_not_change_what_words_find(memory: Engine) -> None:
    texts = ["Anna likes tea", "tea for Ben and Anna", "Ben sings", "we drink tea"]
    memory.remember_many(texts)
    with recollect.open(":memory:", embedder=None, extract_entities=False, clock=lambda: NOW) as plain:
        plain.remember_many(texts)
        for question in ("Anna tea", "what does Ben do", "Anna"):
            one, other = (e.recall(question, recipe="bm25").hits for e in (memory, plain))
            assert [(h.memory.content, h.score) for h in one] == [(h.memory.content, h.score) for h in other]


class Model:
    """Reads a relation in every text that has three words, and fails over the others."""

    name = "three words"

    def extract(self, texts: Sequence[str], known: KnownNames | None = None) -> list[Extraction]:
        return [self._read(text) for text in texts]

    def _read(self, text: str) -> Extraction:
        if len(text.split()) != 3:
            return Extraction(failure="not three words")
        source, kind, target = text.split()
        mention = Mention(source, "person", 0, len(source))
        return Extraction((mention,), (Relation(source, kind, target, weight=2),))


def test_relations_that_an_extractor_reads_rest_on_the_memory(caplog: pytest.LogCaptureFixture) -> None:
    with recollect.open(":memory:", embedder=None, extract_entities=Model(), clock=lambda: NOW) as memory:
        said = memory.remember("Anna knows Ben")
        assert said.entities == ("Anna",)
        expected = Relation("Anna", "knows", "Ben", 2.0, said.id, created_at=NOW)
        assert memory.relations() == (expected,)
        others = memory.remember_many(["Ben knows Cyd", "a text of more words", "Cyd next Dora"])
        assert len(others) == 3
        assert "was not read for names: not three words" in caplog.text
        assert told(memory.relations()) == [("Anna", "knows", "Ben"), ("Ben", "knows", "Cyd")]
        memory.draft("Dora knows Eve")
        assert len(memory.relations()) == 2
        memory.correct(said.id, "Anna left Ben")
        assert told(memory.relations("Anna")) == [("Anna", "left", "Ben")]
    with pytest.raises(InvalidArgument, match="extract_entities must be true, false or an extractor"):
        recollect.open(":memory:", embedder=None, extract_entities="yes")  # type: ignore[arg-type]


# --- entities -----------------------------------------------------------------------------------------


def test_entities_are_counted_and_the_most_mentioned_come_first(memory: Engine) -> None:
    for names in (["Anna", "Ben"], ["anna"], ["Ánna"], ["Ben"], ["Carl"]):
        memory.remember("x", entities=names)
    memory.relate("Anna", "knows", "Dora")
    found = memory.entities()
    assert [(each.entity.name, each.memories, each.relations) for each in found] == [
        ("Anna", 3, 1),
        ("Ben", 2, 0),
        ("Carl", 1, 0),
        ("Dora", 0, 1),
    ]
    assert [each.entity.name for each in memory.entities(prefix="ÁN")] == ["Anna"]
    assert len(memory.entities(limit=2)) == 2
    assert memory.entities(namespace="nobody") == ()


def test_what_is_hidden_is_not_counted(memory: Engine) -> None:
    one, two = (memory.remember("x", entities=["Anna"]) for _ in range(2))
    memory.forget(one.id)
    assert memory.entity("anna").memories == 1
    memory.correct(two.id, "y", entities=["Ben"])
    assert [each.entity.name for each in memory.entities()] == ["Ben"]
    with pytest.raises(EntityNotFound):
        memory.entity("Anna")


def test_an_entity_is_described_under_any_of_its_names(memory: Engine) -> None:
    memory.remember("x", entities=["Anna"])
    memory.describe_entity("Anna Keller", type="person", aliases=["Anna", "AK", "anna keller"])
    described = memory.describe_entity("ANNA", description="an engineer")
    assert described == Entity("Anna Keller", "person", ("Anna", "AK"), "an engineer")
    assert memory.entity("ak") == KnownEntity(described, memories=1, relations=0)
    assert memory.describe_entity("AK", aliases=[]).aliases == ()
    assert memory.entity("Anna Keller").memories == 0


def test_a_name_means_one_entity(memory: Engine) -> None:
    memory.describe_entity("Anna", aliases=["Annie"])
    before = memory.store.changes(0, 100)
    for taken in ("ANNIE", "anna"):
        with pytest.raises(InvalidArgument, match="'Anna' has it; merge the two if they are one"):
            memory.describe_entity("Ben", aliases=[taken])
    assert memory.store.changes(0, 100) == before
    assert [each.entity.name for each in memory.entities()] == ["Anna"]


def test_saying_the_same_again_writes_nothing(memory: Engine) -> None:
    memory.describe_entity("Anna", type="person", aliases=["Annie"])
    memory.relate("Anna", "knows", "Ben", weight=2)
    before = memory.store.changes(0, 100)
    memory.describe_entity("Anna", type="person", aliases=["Annie"])
    memory.describe_entity("Anna")
    memory.relate("anna", "knows", "BEN", weight=2)
    assert memory.store.changes(0, 100) == before


def test_namespaces_know_nothing_of_each_others_names(memory: Engine) -> None:
    memory.relate("Anna", "knows", "Ben", namespace="a")
    memory.describe_entity("Anna", aliases=["Ben"], namespace="b")
    assert memory.entities() == ()
    assert told(memory.relations("Ben", namespace="a")) == [("Anna", "knows", "Ben")]
    assert memory.relations("Ben", namespace="b") == ()
    with pytest.raises(EntityNotFound):
        memory.relations("Anna")


# --- merging ------------------------------------------------------------------------------------------


def test_a_merge_is_followed_by_every_verb_and_can_be_undone(memory: Engine) -> None:
    memory.remember("first", entities=["Bob"])
    memory.remember("second", entities=["Robert"])
    memory.relate("Bob", "knows", "Anna")
    merged = memory.merge_entities("Robert", "Bob")
    assert merged == KnownEntity(Entity("Robert"), memories=2, relations=1, merged=("Bob",))
    assert memory.entity("bob") == merged
    assert [each.entity.name for each in memory.entities()] == ["Robert", "Anna"]
    assert told(memory.relations("Bob")) == told(memory.relations("Robert")) == [("Robert", "knows", "Anna")]
    assert [said.content for said in memory.timeline("Bob")] == ["first", "second"]
    assert str(memory.paths("Robert", types=["knows"]).paths[0]) == "Robert —knows→ Anna"
    memory.describe_entity("Bob", type="person")
    assert memory.entity("Robert").entity.type == "person"
    memory.relate("Bob", "likes", "tea")
    memory.undo_merge("BOB")
    assert memory.entity("Bob").memories == memory.entity("Robert").memories == 1
    assert told(memory.relations("Bob")) == [("Bob", "knows", "Anna"), ("Bob", "likes", "tea")]
    assert memory.relations("Robert") == ()


PEOPLE = ("Ann", "Bob", "Cyd", "Dan")
MERGES = st.lists(
    st.tuples(st.booleans(), st.sampled_from(PEOPLE), st.sampled_from([*PEOPLE, "BOB", "cyd"])), max_size=12
)


@settings(max_examples=60, deadline=None)
@given(MERGES)
def test_merging_is_what_the_table_of_redirects_says(steps: list[tuple[bool, str, str]]) -> None:
    with recollect.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        for name in PEOPLE:
            memory.remember("x", entities=[name])
        table = Redirects()
        for merging, one, other in steps:
            before = memory.store.changes(0, 1000)
            try:
                expected = table.merge(other, one) if merging else table.undo(other)
            except InvalidArgument:
                with pytest.raises(InvalidArgument):
                    memory.merge_entities(one, other) if merging else memory.undo_merge(other)
                assert memory.store.changes(0, 1000) == before
                continue
            memory.merge_entities(one, other) if merging else memory.undo_merge(other)
            table = expected
            for name in PEOPLE:
                means = table.follow(name)
                found = memory.entity(name)
                assert found.entity.name.casefold() == means.casefold()
                everyone = {each for each in PEOPLE if table.follow(each).casefold() == means.casefold()}
                assert found.memories == len(everyone)
                assert {each.casefold() for each in found.merged} == {
                    each.casefold() for each in everyone
                } - {means.casefold()}
        assert memory.check() == []


# --- relations ----------------------------------------------------------------------------------------


def test_a_relation_holds_as_long_as_the_memory_that_asserts_it(memory: Engine) -> None:
    said = memory.remember("Anna works at the bank")
    given = memory.relate("Anna", "works_at", "the bank", memory=said.id, weight=3)
    assert given == Relation("Anna", "works_at", "the bank", 3.0, said.id, created_at=NOW)
    assert memory.relations("Anna") == (given,)
    memory.forget(said.id)
    assert memory.relations("Anna") == ()
    memory.restore(said.id)
    assert memory.relations() == (given,)
    new = memory.correct(said.id, "Anna left the bank", created_at=NOW + DAY)
    assert memory.relations() == ()
    assert memory.relations(as_of=NOW) == (given,)
    assert memory.relations(as_of=NOW - DAY) == ()
    assert memory.relations(as_of=NOW + 2 * DAY) == ()
    memory.purge(new.id)
    assert memory.relations() == (given,)
    memory.purge(said.id)
    assert memory.relations() == memory.relations(as_of=NOW) == ()
    assert memory.entities() == ()


def test_a_relation_holds_within_its_own_time(memory: Engine) -> None:
    memory.relate("Anna", "lives_in", "Rome", valid_to=NOW)
    memory.relate("Anna", "lives_in", "Paris", valid_from=NOW)
    memory.relate("Anna", "lives_in", "Oslo", valid_from=NOW + DAY, valid_to=NOW + 2 * DAY)
    assert told(memory.relations()) == [("Anna", "lives_in", "Paris")]
    assert told(memory.relations(as_of=NOW + DAY)) == [
        ("Anna", "lives_in", "Paris"),
        ("Anna", "lives_in", "Oslo"),
    ]
    # Nobody had said anything yet, so nothing was believed.
    assert memory.relations(as_of=NOW - DAY) == ()
    memory.relate("Anna", "lives_in", "Paris", valid_from=NOW, valid_to=NOW + DAY, weight=2)
    assert [r.weight for r in memory.relations()] == [2.0]


def test_a_relation_can_be_taken_back(memory: Engine) -> None:
    memory.relate("Anna", "knows", "Ben")
    memory.relate("Anna", "knows", "Ben", valid_from=NOW - DAY)
    memory.relate("Anna", "likes", "Ben")
    memory.describe_entity("Anna", aliases=["Annie"])
    assert memory.unrelate("ANNIE", "knows", "Ben") == 2
    assert told(memory.relations()) == [("Anna", "likes", "Ben")]
    with pytest.raises(InvalidArgument, match="that of a relation from 'Anna' to 'Ben'"):
        memory.unrelate("Anna", "knows", "Ben")


STATES = st.lists(st.sampled_from(["forget", "restore", "correct", "purge"]), max_size=6)


@settings(max_examples=60, deadline=None)
@given(STATES, st.lists(st.integers(-3, 8), max_size=4))
def test_relations_hold_exactly_while_their_memory_may_be_seen(steps: list[str], days: list[int]) -> None:
    clock = [NOW]
    with recollect.open(":memory:", embedder=None, clock=lambda: clock[0]) as memory:
        first = memory.remember("x", entities=["Anna"])
        memory.relate("Anna", "knows", "Ben", memory=first.id)
        memory.relate("Anna", "likes", "tea")
        chain = [first.id]
        for step in steps:
            clock[0] += DAY
            if step == "correct":
                if chain[-1] in {each.id for each in memory.list(hidden=True).memories}:
                    chain.append(memory.correct(chain[-1], "y").id)
            elif step == "purge":
                memory.purge(chain.pop())
                if not chain:
                    break
            else:
                getattr(memory, step)(chain[0])
            seen = {each.id for each in memory.list().memories}
            assert (("Anna", "knows", "Ben") in told(memory.relations("Anna"))) == (first.id in seen)
            for day in days:
                then = NOW + day * DAY
                with memory.store.view("default", clock[0], as_of=then) as view:
                    believed = view.document_frequencies(["anna"], "names")[1]["anna"] and first.id in {
                        each.id for each in memory.list(hidden=True).memories if each.content == "x"
                    }
                found = told(memory.relations(as_of=then))
                assert (("Anna", "likes", "tea") in found) == (day >= 0)
                if len(chain) == 1:
                    assert (("Anna", "knows", "Ben") in found) == bool(believed)


# --- purging ------------------------------------------------------------------------------------------


def test_what_only_a_purged_memory_referred_to_is_gone(memory: Engine) -> None:
    said = memory.remember("x", entities=["Anna", "Ben", "Cyd"])
    memory.remember("y", entities=["ben"])
    memory.relate("Anna", "knows", "Dora", memory=said.id)
    memory.describe_entity("Anna", type="person", aliases=["Annie"], description="secret")
    memory.describe_entity("Ben", type="person")
    memory.merge_entities("Cyd", "Anna")
    memory.describe_entity("Eve")
    memory.purge(said.id)
    assert [each.entity.name for each in memory.entities()] == ["Ben", "Eve"]
    assert memory.check() == []


# --- paths --------------------------------------------------------------------------------------------


def test_paths_go_through_relations_and_memories(memory: Engine) -> None:
    memory.relate("UAV-001", "belongs_to", "fleet-rescue")
    memory.relate("fleet-rescue", "stationed_at", "base-west")
    memory.relate("UAV-002", "belongs_to", "fleet-rescue")
    found = memory.paths("uav-001", depth=2)
    assert [str(path) for path in found.paths] == [
        "UAV-001 —belongs_to→ fleet-rescue —stationed_at→ base-west",
        "UAV-001 —belongs_to→ fleet-rescue ←belongs_to— UAV-002",
    ]
    assert [round(path.score, 4) for path in found.paths] == [0.7225, 0.7225]
    assert found.truncated is None
    said = memory.remember("They met.", entities=["UAV-002", "Anna"])
    to_anna = memory.paths("UAV-001", to="anna", depth=4)
    assert [[step.entity or step.memory for step in path.steps] for path in to_anna.paths] == [
        ["fleet-rescue", "UAV-002", said.id, "Anna"]
    ]
    assert to_anna.paths[0].score == pytest.approx(0.85**4)
    assert memory.paths("UAV-001", to="fleet-rescue", depth=4).paths[0].score == pytest.approx(0.85)
    assert memory.paths("UAV-001", depth=1).truncated == "depth"
    assert memory.paths("UAV-001", types=["stationed_at"]).paths == ()
    assert memory.paths("fleet-rescue", types=["stationed_at"], direction="in").paths == ()
    memory.describe_entity("Zoe")
    assert memory.paths("Zoe").paths == memory.paths("Anna", to="Zoe").paths == ()


# --- communities --------------------------------------------------------------------------------------


def test_communities_are_told_with_what_they_are_about(memory: Engine) -> None:
    tea = [memory.remember(f"green tea {n}", entities=["Anna", "Ben"]) for n in range(4)]
    memory.remember_many({"content": f"sailing boats {n}", "entities": ["Cyd", "Dora"]} for n in range(3))
    memory.remember("alone")
    hidden = memory.remember("green secret", entities=["Anna"])
    memory.forget(hidden.id)
    found = memory.communities(level=2)
    assert (found.count, len(found.groups), found.level, found.converged) == (2, 2, 2, True)
    # Eight of fourteen edges are within the first community, six within the second, none between the two.
    assert found.modularity == pytest.approx(1 - (8 / 14) ** 2 - (6 / 14) ** 2)
    first, second = found.groups
    assert set(first.memories) == {said.id for said in tea}
    assert set(first.entities) == {"Anna", "Ben"}
    assert {"green", "tea"} <= set(first.summary.terms)
    assert (second.summary.memory_count, second.summary.entity_count) == (3, 2)
    assert memory.communities(level=2, limit=1).groups == (first,)
    assert memory.communities().count >= 2
    assert memory.communities(namespace="nobody").groups == ()


def test_a_summary_is_made_once_for_the_same_members(memory: Engine) -> None:
    memory.remember_many({"content": f"tea {n}", "entities": ["Anna"]} for n in range(3))
    first = memory.communities().groups[0].summary
    memory.remember_many({"content": f"boat {n}", "entities": ["Cyd"]} for n in range(2))
    assert memory.communities().groups[0].summary is first
    memory.remember("tea again", entities=["Anna"])
    assert memory.communities().groups[0].summary is not first


def test_what_was_superseded_is_in_no_community(memory: Engine) -> None:
    old = memory.remember("rare words", entities=["Anna"])
    memory.remember("tea", entities=["Anna"])
    memory.correct(old.id, "other words", entities=["Anna"])
    for level in range(3):
        groups = memory.communities(level=level).groups
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
    found = memory.near(50.85, 4.35)
    assert [each.memory.content for each in found] == ["Paris", "Berlin", "Apia", "Suva"]
    assert found[0].metres == pytest.approx(haversine(50.85, 4.35, *CITIES["Paris"]))
    assert [each.memory.content for each in memory.near(-16.5, -179.9, 300_000)] == ["Suva"]
    assert len(memory.near(50.85, 4.35, limit=1)) == 1
    assert memory.near(50.85, 4.35, limit=0) == ()
    memory.forget(found[0].memory.id)
    assert [each.memory.content for each in memory.near(50.85, 4.35, limit=1)] == ["Berlin"]
    memory.purge(found[0].memory.id)
    memory.remember("Brussels", place={"lat": 50.85, "lon": 4.35})
    assert memory.near(50.85, 4.35, 0)[0].metres == 0
    assert memory.near(50.85, 4.35, namespace="nobody") == ()


def test_places_that_change_are_found_where_they_are_now(memory: Engine) -> None:
    said = memory.remember("x", place={"lat": 0, "lon": 0})
    assert len(memory.near(0, 0, 1)) == 1
    memory.store.update(recollect.Memory(**{**as_fields(said), "place": recollect.Place(1, 1)}), said.version)
    assert memory.near(0, 0, 1) == ()
    assert len(memory.near(1, 1, 1)) == 1


def as_fields(said: recollect.Memory) -> dict[str, Any]:
    return {name: getattr(said, name) for name in said.__dataclass_fields__}


@settings(max_examples=30, deadline=None)
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
    with recollect.open(":memory:", embedder=None) as memory:
        expected = []
        for north, east, is_hidden in points:
            said = memory.remember("x", place={"lat": north, "lon": east})
            metres = haversine(lat, lon, north, east)
            if is_hidden:
                memory.forget(said.id)
            elif radius is None or metres <= radius:
                expected.append(metres)
        found = memory.near(lat, lon, radius, limit=limit)
        assert [each.metres for each in found] == pytest.approx(sorted(expected)[:limit], rel=1e-6, abs=0.2)


def test_a_timeline_is_in_the_order_of_what_happened(memory: Engine) -> None:
    for day, names in ((3, ["Anna"]), (1, ["Ben"]), (2, ["anna"])):
        memory.remember(f"day {day}", entities=names, valid_from=NOW + day * DAY)
    hidden = memory.remember("day 0", entities=["Anna"], valid_from=NOW)
    memory.forget(hidden.id)
    assert [said.content for said in memory.timeline()] == ["day 1", "day 2", "day 3"]
    assert [said.content for said in memory.timeline("Anna")] == ["day 2", "day 3"]
    between = memory.timeline(start=NOW + DAY, end=NOW + 3 * DAY)
    assert [said.content for said in between] == ["day 1", "day 2"]
    assert [said.content for said in memory.timeline(limit=1)] == ["day 1"]
    assert memory.timeline(limit=0) == memory.timeline(start=NOW, end=NOW) == ()


# --- bad input ----------------------------------------------------------------------------------------

BAD: list[tuple[Callable[[Any], Any], str]] = [
    (lambda m: m.entity("Ana"), "no entity 'Ana' in namespace 'default'; did you mean 'Anna'?"),
    (lambda m: m.relations("Ana"), "did you mean 'Anna'"),
    (lambda m: m.paths("Ana"), "did you mean 'Anna'"),
    (lambda m: m.paths("Anna", to="Bem"), "did you mean 'Ben'"),
    (lambda m: m.timeline("Xerxes"), "no entity 'Xerxes' in namespace 'default'"),
    (lambda m: m.merge_entities("Anna", "Xerxes"), "no entity 'Xerxes'"),
    (lambda m: m.entity(" "), "name must be a name that is not blank"),
    (lambda m: m.entity(5), "name must be a string"),
    (lambda m: m.entities(limit=-1), "limit must be"),
    (lambda m: m.entities(prefix=None), "prefix must be"),
    (lambda m: m.describe_entity("\u200b"), "name must be a name that is not blank"),
    (lambda m: m.describe_entity("Anna", aliases="Annie"), "aliases must be"),
    (lambda m: m.describe_entity("Anna", aliases=["Annie", " "]), r"aliases\[1\] must be"),
    (lambda m: m.describe_entity("New", aliases=["Ben"]), "aliases must be names of nobody else"),
    (lambda m: m.describe_entity("Anna", type="\ud83c"), "type must be text"),
    (lambda m: m.relate("Anna", " ", "Ben"), "type must be a word of your own"),
    (lambda m: m.relate("Anna", "mentions", "Ben"), "type must be a word of your own"),
    (lambda m: m.relate("", "knows", "Ben"), "subject must be"),
    (lambda m: m.relate("Anna", "knows", "\ud83c"), "object must be"),
    (lambda m: m.relate("New", "knows", "Ben", weight=0), "weight must be"),
    (lambda m: m.relate("New", "knows", "Ben", weight=math.nan), "weight must be"),
    (lambda m: m.relate("New", "knows", "Ben", weight=1e300), "weight must be"),
    (lambda m: m.relate("New", "knows", "Ben", memory="nobody"), "no memory 'nobody'"),
    (lambda m: m.relate("New", "knows", "Ben", valid_from=NOW, valid_to=NOW - DAY), "valid_to must be"),
    (lambda m: m.relate("New", "knows", "Ben", valid_from=datetime(2026, 5, 7)), "valid_from must be"),
    (lambda m: m.unrelate("Anna", "hates", "Ben"), "type must be that of a relation"),
    (lambda m: m.merge_entities("Anna", "anna"), "other must be another entity than 'Anna'"),
    (lambda m: m.merge_entities("Bobby", "Anna"), "keep must be a name that does not lead back to 'Anna'"),
    (lambda m: m.merge_entities("Ben", "Bobby"), "a name not merged yet"),
    (lambda m: m.undo_merge("Ben"), "name must be a name that was merged"),
    (lambda m: m.undo_merge("Xerxes"), "name must be a name that was merged"),
    (lambda m: m.relations(as_of="today"), "as_of must be"),
    (lambda m: m.paths("Anna", depth=10**9), "depth must be a whole number from 1 to 100"),
    (lambda m: m.paths("Anna", depth=0), "depth must be"),
    (lambda m: m.paths("Anna", types=["nonsense"]), r"types\[0\] must be one of"),
    (lambda m: m.paths("Anna", direction="up"), "direction must be"),
    (lambda m: m.paths("Anna", order="random"), "order must be"),
    (lambda m: m.paths("Anna", nodes=0), "nodes must be"),
    (lambda m: m.paths("Anna", seconds=-1), "seconds must be"),
    (lambda m: m.paths("Anna", to="anna"), "to must be another entity"),
    (lambda m: m.communities(level=3), "level must be a whole number from 0 to 2"),
    (lambda m: m.communities(limit=-1), "limit must be"),
    (lambda m: m.communities(seed=-1), "seed must be"),
    (lambda m: m.near(91, 0), "lat must be a number from -90 to 90, got 91"),
    (lambda m: m.near(0, 181), "lon must be"),
    (lambda m: m.near(0, 0, -1), "radius must be"),
    (lambda m: m.near(0, 0, math.nan), "radius must be"),
    (lambda m: m.near(0, 0, limit=-1), "limit must be"),
    (lambda m: m.timeline(start=NOW, end=NOW - DAY), "end must be at or after start"),
    (lambda m: m.timeline(start="now"), "start must be"),
    (lambda m: m.timeline(limit=2.5), "limit must be"),
    (lambda m: m.entities(namespace="a//b"), "namespace must be"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[f"{n}" for n in range(len(BAD))])
def test_bad_input_is_refused_in_clear_words_and_nothing_is_written(
    memory: Engine, call: Callable[[Any], Any], message: str
) -> None:
    memory.remember("x", entities=["Anna", "Ben", "Bobby"])
    memory.relate("Anna", "knows", "Ben")
    memory.merge_entities("Anna", "Bobby")
    before = memory.store.changes(0, 100)
    with pytest.raises(RecollectError, match=message) as caught:
        call(memory)
    assert isinstance(caught.value, InvalidArgument | EntityNotFound | MemoryNotFound)
    assert memory.store.changes(0, 100) == before
    assert memory.store.namespaces().keys() == {"default"}
