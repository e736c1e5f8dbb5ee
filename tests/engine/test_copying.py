"""A memory is copied from one file into another, and compared; servers are in tests/store/postgres."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.engine.copying import copy
from recollect.engine.engine import Engine
from recollect.store.sqlite.store import SqliteStore


@pytest.fixture
def source() -> Iterator[Engine]:
    with recollect.open(":memory:", embedder="lexical") as engine:
        engine.remember_many([{"content": f"Anna had tea {n} times", "id": f"m{n}"} for n in range(5)])
        engine.correct("m0", "Anna had coffee")
        engine.forget("m1")
        engine.relate("Anna", "drinks", "tea")
        yield engine


def test_a_copy_answers_as_what_it_was_made_from(source: Engine, tmp_path: Path) -> None:
    target = SqliteStore(tmp_path / "copy.db")
    done = copy(source, target)
    assert (done.memories, done.new, done.relations, done.differing) == (6, 6, 1, ())
    target.close()
    with recollect.open(tmp_path / "copy.db", embedder="lexical") as copied:
        assert copied.check() == []
        assert copied.store.count_waiting() == 0
        one, other = (engine.recall("what does Anna drink?") for engine in (source, copied))
        assert [hit.memory.id for hit in other] == [hit.memory.id for hit in one]
        assert copied.store.hidden("default") == source.store.hidden("default")


def test_what_was_said_again_and_then_corrected_is_copied_as_it_is() -> None:
    target = SqliteStore(":memory:")
    with recollect.open(":memory:", embedder="lexical") as engine:
        engine.remember("Anna lives in Rome.", id="rome")
        engine.remember("Anna lives in Paris.", id="paris")
        engine.remember("Anna lives in Rome.", id="again")
        assert engine.get("again").superseded_by == "rome"
        engine.settle_contradiction("paris", "rome", contradicts=True, because="She moved.")
        assert copy(engine, target).differing == ()
    assert [each.id for each in target.page("default", None, 9, None, hidden=False).memories] == ["paris"]
    target.close()


def test_what_is_only_in_the_target_stays(source: Engine) -> None:
    target = SqliteStore(":memory:")
    copy(source, target)
    source.purge("m4")
    assert copy(source, target).differing == ()
    assert sum(target.namespaces().values()) == 6
    target.close()


def test_a_store_without_vectors_of_its_own_is_copied_by_words(tmp_path: Path) -> None:
    target = SqliteStore(":memory:")
    with recollect.open(":memory:", embedder=None) as engine:
        engine.remember("Anna had tea", id="a")
        assert copy(engine, target).differing == ()
    target.close()
