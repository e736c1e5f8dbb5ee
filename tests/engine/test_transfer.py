"""A memory is copied from one file into another, and compared; servers are in memorata-postgres."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import memorata
from memorata.engine.engine import Engine
from memorata.model.errors import InvalidArgument
from memorata.store.dialects import SqliteStore
from memorata_graph import Graph


@pytest.fixture
def source() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember_many([{"content": f"Anna had tea {n} times", "id": f"m{n}"} for n in range(5)])
        engine.correct("m0", "Anna had coffee")
        engine.forget("m1")
        Graph(engine).entities.relate("Anna", "drinks", "tea")
        yield engine


def test_a_copy_answers_as_what_it_was_made_from(source: Engine, tmp_path: Path) -> None:
    target = SqliteStore(tmp_path / "copy.db")
    done = source.admin.transfer.copy(target)
    assert (done.memories, done.new, done.relations, done.differing) == (6, 6, 1, ())
    target.close()
    with memorata.open(tmp_path / "copy.db", embedder="lexical") as copied:
        assert copied.admin.check() == []
        assert copied.store.count_waiting() == 0
        one, other = (engine.recall("what does Anna drink?") for engine in (source, copied))
        assert [hit.memory.id for hit in other] == [hit.memory.id for hit in one]
        assert copied.store.hidden("default") == source.store.hidden("default")


def test_what_was_said_again_and_then_corrected_is_copied_as_it_is() -> None:
    target = SqliteStore(":memory:")
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember("Anna lives in Rome.", id="rome")
        engine.remember("Anna lives in Paris.", id="paris")
        engine.remember("Anna lives in Rome.", id="again")
        assert engine.get("again").superseded_by == "rome"
        engine.admin.duplicates.resolve_contradiction("paris", "rome", contradicts=True, because="She moved.")
        assert engine.admin.transfer.copy(target).differing == ()
    assert [each.id for each in target.page("default", None, 9, None, hidden=False).memories] == ["paris"]
    target.close()


def test_what_was_superseded_after_it_was_copied_is_caught_up_with() -> None:
    target = SqliteStore(":memory:")

    def current() -> set[str]:
        return {each.id for each in target.page("default", None, 9, None, hidden=False).memories}

    with memorata.open(":memory:", embedder="lexical", config={"duplicates": "off"}) as engine:
        engine.remember_many(
            [{"id": id_, "content": f"Bob {said}"} for id_, said in (("a", "sails."), ("b", "sails"))]
        )
        engine.remember("Anna lives in Rome.", id="rome")
        engine.remember("Anna lives in Paris.", id="paris", duplicates="near")
        assert engine.admin.transfer.copy(target).differing == ()
        engine.admin.duplicates.resolve_contradiction("paris", "rome", contradicts=True, because="She moved.")
        engine.admin.duplicates.supersede(engine.admin.duplicates.find().groups)
        kept = {each.id for each in engine.list().memories}
        assert len(kept) == 2
        assert (engine.admin.transfer.copy(target).differing, current()) == ((), kept)
        engine.admin.duplicates.undo()
        assert (engine.admin.transfer.copy(target).differing, current()) == ((), {"a", "b", "paris"})
        rowed = engine.correct("a", "Bob rows.")
        assert (engine.admin.transfer.copy(target).differing, current()) == ((), {rowed.id, "b", "paris"})
        engine.purge("paris")
        # What is only in the target stays, with what it took the place of.
        assert engine.admin.transfer.copy(target).differing == ("default: rome",)
        moved = engine.correct("rome", "Anna lives in Oslo.")
        assert set(engine.admin.transfer.copy(target).differing) == {"default: rome", f"default: {moved.id}"}
        assert (target.get("default", ["rome"])[0].superseded_by, "paris" in current()) == ("paris", True)
    target.close()


def test_a_name_that_went_to_another_is_caught_up_with(source: Engine) -> None:
    target = SqliteStore(":memory:")
    Graph(source).entities.describe("Robert", aliases=["Bob"], type="person")
    Graph(source).entities.describe("Ben", type="boat")
    Graph(source).entities.merge("Robert", "Ben")
    assert source.admin.transfer.copy(target).differing == ()
    Graph(source).entities.describe("Robert", aliases=[])
    Graph(source).entities.describe("Bob", aliases=["Rob"], type="dog")
    Graph(source).entities.undo_merge("Ben")
    Graph(source).entities.merge("Bob", "Ben")
    assert source.admin.transfer.copy(target).differing == ()
    assert target.entities.list("default") == source.store.entities.list("default")
    target.close()


def test_what_is_only_in_the_target_stays(source: Engine) -> None:
    target = SqliteStore(":memory:")
    source.admin.transfer.copy(target)
    source.purge("m4")
    assert source.admin.transfer.copy(target).differing == ()
    assert sum(target.namespaces().values()) == 6
    target.close()


def test_a_store_without_vectors_of_its_own_is_copied_by_words(tmp_path: Path) -> None:
    target = SqliteStore(":memory:")
    with memorata.open(":memory:", embedder=None) as engine:
        engine.remember("Anna had tea", id="a")
        assert engine.admin.transfer.copy(target).differing == ()
    target.close()


def test_a_memory_is_not_copied_onto_itself(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical") as engine:
        engine.remember("tea")
        (tmp_path / "linked.db").symlink_to(tmp_path / "m.db")
        again = SqliteStore(tmp_path / "linked.db")
        for target in (engine.store, again):
            with pytest.raises(InvalidArgument, match="target must be another database than the one to copy"):
                engine.admin.transfer.copy(target)
        again.close()
