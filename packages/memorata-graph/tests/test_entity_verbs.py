"""Entities, relations, names and merges, as a person speaks about them."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata import Engine
from memorata.model import Entity, InvalidArgument, Place, Relation
from memorata.model.errors import EntityNotFound, StoreUnavailable
from memorata.text.entities import Extraction, Mention
from memorata.text.known_names import Gazetteer, Redirects
from memorata.text.tokens import folded
from memorata_graph import Graph
from memorata_graph.results import KnownEntity

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(
        ":memory:", embedder="lexical", clock=lambda: NOW, config={"duplicates": "off"}
    ) as engine:
        yield engine


def told(relations: tuple[Relation, ...]) -> list[tuple[str, str, str]]:
    return [(relation.source, relation.type, relation.target) for relation in relations]


# --- places of their own -------------------------------------------------------------------------------


def test_an_entity_has_a_place_of_its_own_and_is_found_by_it(memory: Engine) -> None:
    describe, near = Graph(memory).entities.describe, Graph(memory).near_entities
    describe("Porto office", place=Place(41.15, -8.61, "Porto"))
    described = describe("Lisbon office", type="office", place={"lat": 38.72, "lon": -9.14})
    assert (described.type, described.place) == ("office", Place(38.72, -9.14))
    Graph(memory).entities.describe("nowhere", type="idea")
    nearest = near(38.7, -9.1)
    assert [found.entity.name for found in nearest] == ["Lisbon office", "Porto office"]
    # From (38.70, -9.10) to (38.72, -9.14): .02 and .04 · cos 38.71° degrees of 111,195 m each.
    assert nearest[0].metres == pytest.approx(
        111_195 * math.hypot(0.02, 0.04 * math.cos(math.radians(38.71))), 1e-3
    )
    assert [found.entity.name for found in near(38.7, -9.1, 100_000)] == ["Lisbon office"]
    assert near(38.7, -9.1, limit=0) == ()
    # Other parts stay as they are, and an empty mapping takes the place away.
    assert describe("lisbon office", description="closed").place == Place(38.72, -9.14)
    assert describe("Lisbon office", place={}).place is None
    assert [found.entity.name for found in near(38.7, -9.1)] == ["Porto office"]
    wrong: list[Any] = [{"lat": 91, "lon": 0}, {"lat": 1}, {"north": 1}, "Porto", True]
    for bad in wrong:
        with pytest.raises(InvalidArgument):
            describe("Lisbon office", place=bad)
    assert Graph(memory).entities.get("Lisbon office").entity.place is None


# --- names in what is remembered ----------------------------------------------------------------------


def test_what_is_remembered_is_read_for_names(memory: Engine) -> None:
    said = memory.remember("Yesterday Anna met Ben at the Bank of England.", entities=["Project X"])
    assert said.entities == ("Project X", "Anna", "Ben", "Bank of England")
    assert memory.draft("I met anna").entities == ()
    Graph(memory).entities.describe("Anna Keller", aliases=["Anna"])
    assert memory.draft("I met anna and ANNA KELLER").entities == ("Anna", "Anna Keller")


def test_reading_for_names_can_be_left_out() -> None:
    with memorata.open(":memory:", embedder=None, config={"duplicates": "off", "extractor": None}) as memory:
        assert memory.remember("Anna met Ben").entities == ()
        assert memory.remember("Anna met Ben", entities=["Carl"]).entities == ("Carl",)


def test_a_correction_keeps_the_names_that_were_given_and_reads_the_others_anew(memory: Engine) -> None:
    said = memory.remember("Anna lives in Rome.", entities=["Project X"])
    assert memory.correct(said.id, "Anna lives in Paris.").entities == ("Project X", "Anna", "Paris")


def test_names_do_not_change_what_words_find(memory: Engine) -> None:
    texts = ["Anna likes tea", "tea for Ben and Anna", "Ben sings", "we drink tea"]
    memory.remember_many(texts)
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW, config={"extractor": None}) as plain:
        plain.remember_many(texts)
        for question in ("Anna tea", "what does Ben do", "Anna"):
            one, other = (e.recall(question, recipe="bm25").hits for e in (memory, plain))
            assert [(h.memory.content, h.score) for h in one] == [(h.memory.content, h.score) for h in other]


class Model:
    """Reads a relation in every text that has three words, and fails over the others."""

    name = "three words"

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        return [self._read(text) for text in texts]

    def _read(self, text: str) -> Extraction:
        if len(text.split()) != 3:
            return Extraction(failure="not three words")
        source, kind, target = text.split()
        mention = Mention(source, "person", 0, len(source))
        return Extraction((mention,), (Relation(source, kind, target, weight=2),))


def test_relations_that_an_extractor_reads_rest_on_the_memory(caplog: pytest.LogCaptureFixture) -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW, config={"extractor": Model()}) as memory:
        said = memory.remember("Anna knows Ben")
        assert said.entities == ("Anna",)
        expected = Relation("Anna", "knows", "Ben", 2.0, said.id, created_at=NOW)
        assert Graph(memory).entities.relations() == (expected,)
        others = memory.remember_many(["Ben knows Cyd", "a text of more words", "Cyd next Dora"])
        assert len(others) == 3
        assert "was not read for names: not three words" in caplog.text
        assert told(Graph(memory).entities.relations()) == [("Anna", "knows", "Ben"), ("Ben", "knows", "Cyd")]
        memory.draft("Dora knows Eve")
        assert len(Graph(memory).entities.relations()) == 2
        memory.correct(said.id, "Anna left Ben")
        assert told(Graph(memory).entities.relations("Anna")) == [("Anna", "left", "Ben")]
    with pytest.raises(InvalidArgument, match="extractor must be the name of"):
        memorata.open(":memory:", embedder=None, config={"extractor": 5})


@pytest.mark.untraced
def test_many_texts_are_read_at_once_and_their_relations_written_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    class Batched(Model):
        def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
            asked.append(len(texts))
            return super().extract(texts, gazetteer)

    with memorata.open(
        ":memory:", embedder=None, clock=lambda: NOW, config={"extractor": Batched()}
    ) as memory:
        memory.remember_many([f"Anna{n} knows Ben" for n in range(2_500)])
        assert asked == [1_000, 1_000, 500]
        assert len(Graph(memory).entities.relations()) == 2_500

        def full(*_: object) -> None:
            raise StoreUnavailable("the disk is full")

        monkeypatch.setattr(memory.store.relations, "add", full)
        with pytest.raises(StoreUnavailable):
            memory.remember_many(["Cyd knows Dora"])
        monkeypatch.undo()
        # Neither the memory nor its relation: what is run again finds nothing half done.
        assert memory.list(filter={"content": {"contains": "Cyd"}}).memories == ()


# --- entities -----------------------------------------------------------------------------------------


def test_entities_are_counted_and_the_most_mentioned_come_first(memory: Engine) -> None:
    for names in (["Anna", "Ben"], ["anna"], ["Ánna"], ["Ben"], ["Carl"]):
        memory.remember("x", entities=names)
    Graph(memory).entities.relate("Anna", "knows", "Dora")
    found = Graph(memory).entities.list()
    assert [(each.entity.name, each.memories, each.relations) for each in found] == [
        ("Anna", 3, 1),
        ("Ben", 2, 0),
        ("Carl", 1, 0),
        ("Dora", 0, 1),
    ]
    assert [each.entity.name for each in Graph(memory).entities.list(prefix="ÁN")] == ["Anna"]
    assert len(Graph(memory).entities.list(limit=2)) == 2
    assert Graph(memory).entities.list(namespace="nobody") == ()


def test_what_is_hidden_is_not_counted(memory: Engine) -> None:
    one, two = (memory.remember("x", entities=["Anna"]) for _ in range(2))
    memory.forget(one.id)
    assert Graph(memory).entities.get("anna").memories == 1
    memory.correct(two.id, "y", entities=["Ben"])
    assert [each.entity.name for each in Graph(memory).entities.list()] == ["Ben"]
    with pytest.raises(EntityNotFound):
        Graph(memory).entities.get("Anna")


def test_an_entity_is_described_under_any_of_its_names(memory: Engine) -> None:
    memory.remember("x", entities=["Anna"])
    Graph(memory).entities.describe("Anna Keller", type="person", aliases=["Anna", "AK", "anna keller"])
    described = Graph(memory).entities.describe("ANNA", description="an engineer")
    assert described == Entity("Anna Keller", "person", ("Anna", "AK"), "an engineer")
    assert Graph(memory).entities.get("ak") == KnownEntity(described, memories=1, relations=0)
    assert Graph(memory).entities.describe("AK", aliases=[]).aliases == ()
    assert Graph(memory).entities.get("Anna Keller").memories == 0


def test_a_name_means_one_entity(memory: Engine) -> None:
    Graph(memory).entities.describe("Anna", aliases=["Annie"])
    before = memory.store.changes(0, 100)
    for taken in ("ANNIE", "anna"):
        with pytest.raises(InvalidArgument, match="'Anna' has it; merge the two if they are one"):
            Graph(memory).entities.describe("Ben", aliases=[taken])
    assert memory.store.changes(0, 100) == before
    assert [each.entity.name for each in Graph(memory).entities.list()] == ["Anna"]


def test_saying_the_same_again_writes_nothing(memory: Engine) -> None:
    Graph(memory).entities.describe("Anna", type="person", aliases=["Annie"])
    Graph(memory).entities.relate("Anna", "knows", "Ben", weight=2)
    before = memory.store.changes(0, 100)
    Graph(memory).entities.describe("Anna", type="person", aliases=["Annie"])
    Graph(memory).entities.describe("Anna")
    Graph(memory).entities.relate("anna", "knows", "BEN", weight=2)
    assert memory.store.changes(0, 100) == before


def test_namespaces_know_nothing_of_each_others_names(memory: Engine) -> None:
    Graph(memory).entities.relate("Anna", "knows", "Ben", namespace="a")
    Graph(memory).entities.describe("Anna", aliases=["Ben"], namespace="b")
    assert Graph(memory).entities.list() == ()
    assert told(Graph(memory).entities.relations("Ben", namespace="a")) == [("Anna", "knows", "Ben")]
    assert Graph(memory).entities.relations("Ben", namespace="b") == ()
    with pytest.raises(EntityNotFound):
        Graph(memory).entities.relations("Anna")


# --- merging ------------------------------------------------------------------------------------------


def test_a_merge_is_followed_by_every_verb_and_can_be_undone(memory: Engine) -> None:
    memory.remember("first", entities=["Bob"])
    memory.remember("second", entities=["Robert"])
    Graph(memory).entities.relate("Bob", "knows", "Anna")
    merged = Graph(memory).entities.merge("Robert", "Bob")
    assert merged == KnownEntity(Entity("Robert"), memories=2, relations=1, merged=("Bob",))
    assert Graph(memory).entities.get("bob") == merged
    assert [each.entity.name for each in Graph(memory).entities.list()] == ["Robert", "Anna"]
    assert (
        told(Graph(memory).entities.relations("Bob"))
        == told(Graph(memory).entities.relations("Robert"))
        == [("Robert", "knows", "Anna")]
    )
    assert [said.content for said in Graph(memory).timeline("Bob")] == ["first", "second"]
    assert str(Graph(memory).paths("Robert", types=["knows"]).paths[0]) == "Robert —knows→ Anna"
    Graph(memory).entities.describe("Bob", type="person")
    assert Graph(memory).entities.get("Robert").entity.type == "person"
    Graph(memory).entities.relate("Bob", "likes", "tea")
    Graph(memory).entities.undo_merge("BOB")
    assert Graph(memory).entities.get("Bob").memories == Graph(memory).entities.get("Robert").memories == 1
    relations = Graph(memory).entities.relations("Bob")
    assert told(relations) == [("Bob", "knows", "Anna"), ("Bob", "likes", "tea")]
    assert Graph(memory).entities.relations("Robert") == ()


PEOPLE = ("Ann", "Bob", "Cyd", "Dan")
MERGES = st.lists(
    st.tuples(st.booleans(), st.sampled_from(PEOPLE), st.sampled_from([*PEOPLE, "BOB", "cyd"])), max_size=12
)


def merged(table: Redirects, name: str, into: str) -> Redirects:
    """Return a table in which a name is read as another; one that was merged before is refused."""
    if folded(name) in map(folded, table.entries):
        raise InvalidArgument("name", name, "a name not merged yet")
    return Redirects({**table.entries, name: into})


def undone(table: Redirects, name: str) -> Redirects:
    """Return a table in which a name stands for itself again; one that was not merged is refused."""
    left = {written: into for written, into in table.entries.items() if folded(written) != folded(name)}
    if len(left) == len(table.entries):
        raise InvalidArgument("name", name, "a name that was merged")
    return Redirects(left)


@given(MERGES)
def test_merging_is_what_the_table_of_redirects_says(steps: list[tuple[bool, str, str]]) -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW, config={"duplicates": "off"}) as memory:
        for name in PEOPLE:
            memory.remember("x", entities=[name])
        table = Redirects()
        for merging, one, other in steps:
            before = memory.store.changes(0, 1000)
            try:
                expected = merged(table, other, one) if merging else undone(table, other)
            except InvalidArgument:
                entities = Graph(memory).entities
                with pytest.raises(InvalidArgument):
                    entities.merge(one, other) if merging else entities.undo_merge(other)
                assert memory.store.changes(0, 1000) == before
                continue
            Graph(memory).entities.merge(one, other) if merging else Graph(memory).entities.undo_merge(other)
            table = expected
            for name in PEOPLE:
                means = table.follow(name)
                found = Graph(memory).entities.get(name)
                assert found.entity.name.casefold() == means.casefold()
                everyone = {each for each in PEOPLE if table.follow(each).casefold() == means.casefold()}
                assert found.memories == len(everyone)
                assert {each.casefold() for each in found.merged} == {
                    each.casefold() for each in everyone
                } - {means.casefold()}
        assert memory.admin.check() == []


# --- relations ----------------------------------------------------------------------------------------


def test_a_relation_holds_as_long_as_the_memory_that_asserts_it(memory: Engine) -> None:
    said = memory.remember("Anna works at the bank")
    given = Graph(memory).entities.relate("Anna", "works_at", "the bank", memory=said.id, weight=3)
    assert given == Relation("Anna", "works_at", "the bank", 3.0, said.id, created_at=NOW)
    assert Graph(memory).entities.relations("Anna") == (given,)
    memory.forget(said.id)
    assert Graph(memory).entities.relations("Anna") == ()
    memory.restore(said.id)
    assert Graph(memory).entities.relations() == (given,)
    new = memory.correct(said.id, "Anna left the bank", created_at=NOW + DAY)
    assert Graph(memory).entities.relations() == ()
    assert Graph(memory).entities.relations(as_of=NOW) == (given,)
    assert Graph(memory).entities.relations(as_of=NOW - DAY) == ()
    assert Graph(memory).entities.relations(as_of=NOW + 2 * DAY) == ()
    memory.purge(new.id)
    assert Graph(memory).entities.relations() == (given,)
    memory.purge(said.id)
    assert Graph(memory).entities.relations() == Graph(memory).entities.relations(as_of=NOW) == ()
    assert Graph(memory).entities.list() == ()


def test_a_relation_holds_while_its_words_are_current_in_what_its_memory_repeats(memory: Engine) -> None:
    def holds() -> bool:
        found = told(Graph(memory).entities.relations()) == [("Anna", "knows", "Ben")]
        # The graph catches up with the same.
        assert bool(Graph(memory).paths("Anna", to="Ben").paths) == found
        return found

    first, again = memory.remember("They met.", created_at=NOW - DAY), memory.remember("they met")
    Graph(memory).entities.relate("Anna", "knows", "Ben", memory=first.id)
    groups = memory.admin.duplicates.find(strategy="keep_most_recent").groups
    run = memory.admin.duplicates.supersede(groups, strategy="keep_most_recent")
    assert memory.get(first.id).superseded_by == again.id
    assert holds()
    memory.forget(again.id)
    assert not holds()
    memory.restore(again.id)
    assert holds()
    memory.admin.duplicates.undo(run.number)
    memory.forget(again.id)
    assert holds()
    memory.restore(again.id)
    memory.admin.duplicates.supersede(groups, strategy="keep_most_recent")
    memory.correct(again.id, "They never met.")
    assert not holds()


def test_a_relation_holds_within_its_own_time(memory: Engine) -> None:
    Graph(memory).entities.relate("Anna", "lives_in", "Rome", valid_to=NOW)
    Graph(memory).entities.relate("Anna", "lives_in", "Paris", valid_from=NOW)
    Graph(memory).entities.relate("Anna", "lives_in", "Oslo", valid_from=NOW + DAY, valid_to=NOW + 2 * DAY)
    assert told(Graph(memory).entities.relations()) == [("Anna", "lives_in", "Paris")]
    assert told(Graph(memory).entities.relations(as_of=NOW + DAY)) == [
        ("Anna", "lives_in", "Paris"),
        ("Anna", "lives_in", "Oslo"),
    ]
    # Nobody had said anything yet, so nothing was believed.
    assert Graph(memory).entities.relations(as_of=NOW - DAY) == ()
    Graph(memory).entities.relate("Anna", "lives_in", "Paris", valid_from=NOW, valid_to=NOW + DAY, weight=2)
    assert [r.weight for r in Graph(memory).entities.relations()] == [2.0]


def test_a_relation_can_be_taken_back(memory: Engine) -> None:
    Graph(memory).entities.relate("Anna", "knows", "Ben")
    Graph(memory).entities.relate("Anna", "knows", "Ben", valid_from=NOW - DAY)
    Graph(memory).entities.relate("Anna", "likes", "Ben")
    Graph(memory).entities.describe("Anna", aliases=["Annie"])
    assert Graph(memory).entities.unrelate("ANNIE", "knows", "Ben") == 2
    assert told(Graph(memory).entities.relations()) == [("Anna", "likes", "Ben")]
    with pytest.raises(InvalidArgument, match="that of a relation from 'Anna' to 'Ben'"):
        Graph(memory).entities.unrelate("Anna", "knows", "Ben")


STATES = st.lists(st.sampled_from(["forget", "restore", "correct", "purge"]), max_size=6)


@given(STATES, st.lists(st.integers(-3, 8), max_size=4))
def test_relations_hold_exactly_while_their_memory_may_be_seen(steps: list[str], days: list[int]) -> None:
    clock = [NOW]
    with memorata.open(":memory:", embedder=None, clock=lambda: clock[0]) as memory:
        first = memory.remember("x", entities=["Anna"])
        Graph(memory).entities.relate("Anna", "knows", "Ben", memory=first.id)
        Graph(memory).entities.relate("Anna", "likes", "tea")
        chain = [first.id]
        for step in steps:
            clock[0] += DAY
            if step == "correct":
                if chain[-1] in {each.id for each in memory.list(hidden=True).memories}:
                    # In other words each time: what only says the same again goes with what it repeats.
                    chain.append(memory.correct(chain[-1], "y" * len(chain)).id)
            elif step == "purge":
                memory.purge(chain.pop())
                if not chain:
                    break
            else:
                getattr(memory, step)(chain[0])
            seen = {each.id for each in memory.list().memories}
            relations = told(Graph(memory).entities.relations("Anna"))
            assert (("Anna", "knows", "Ben") in relations) == (first.id in seen)
            for day in days:
                then = NOW + day * DAY
                with memory.store.view("default", clock[0], as_of=then) as view:
                    believed = view.document_frequencies(["anna"], "names")[1]["anna"] and first.id in {
                        each.id for each in memory.list(hidden=True).memories if each.content == "x"
                    }
                found = told(Graph(memory).entities.relations(as_of=then))
                assert (("Anna", "likes", "tea") in found) == (day >= 0)
                if len(chain) == 1:
                    assert (("Anna", "knows", "Ben") in found) == bool(believed)


# --- purging ------------------------------------------------------------------------------------------


def test_what_only_a_purged_memory_referred_to_is_gone(memory: Engine) -> None:
    said = memory.remember("x", entities=["Anna", "Ben", "Cyd"])
    memory.remember("y", entities=["ben"])
    Graph(memory).entities.relate("Anna", "knows", "Dora", memory=said.id)
    Graph(memory).entities.describe("Anna", type="person", aliases=["Annie"], description="secret")
    Graph(memory).entities.describe("Ben", type="person")
    Graph(memory).entities.merge("Cyd", "Anna")
    Graph(memory).entities.describe("Eve")
    memory.purge(said.id)
    assert [each.entity.name for each in Graph(memory).entities.list()] == ["Ben", "Eve"]
    assert memory.admin.check() == []


def test_what_was_said_in_a_block_that_was_undone_never_was(memory: Engine) -> None:
    """The numbers of its changes are given out again, to others."""
    here = {"lat": 0.0, "lon": 0.0}
    memory.remember("It is late.", entities=["Anna"])
    Graph(memory).entities.list()
    Graph(memory).near(0, 0)

    def block() -> None:
        with memory.store.together():
            Graph(memory).entities.describe("Dora", aliases=["D"])
            memory.admin.recipes.save("mine", memory.recipe)
            memory.remember("It is later.", id="gone", entities=["Dora"], place=here)
            assert [each.entity.name for each in Graph(memory).entities.list()] == ["Anna", "Dora"]
            assert [each.memory.id for each in Graph(memory).near(0, 0)] == ["gone"]
            assert memory.admin.recipes.get("mine").name == "mine"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        block()
    Graph(memory).entities.describe("Emil", aliases=["E"])
    memory.remember("It is too late.", id="there", entities=["Emil"], place=here)
    assert [each.entity.name for each in Graph(memory).entities.list()] == ["Anna", "Emil"]
    assert Graph(memory).entities.get("E").entity.name == "Emil"
    assert [each.memory.id for each in Graph(memory).near(0, 0)] == ["there"]
    with pytest.raises(EntityNotFound):
        Graph(memory).entities.get("D")
    with pytest.raises(InvalidArgument):
        memory.admin.recipes.get("mine")
