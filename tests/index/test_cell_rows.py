"""The approximate index in the file: made by `renew_codes`, loaded by all, never trusted when damaged."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.index import approximate as index_approximate
from memorata.index import cache, cell_rows
from memorata.index.search import BITS, CELLS
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry, Terms
from memorata.store.memory.embedding import Embedded
from memorata.testing.samples import NOW

DIMENSION = 32
COUNT = 1_500


def unit(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), np.float32)


ROWS = unit(np.random.default_rng(0).normal(size=(3 * COUNT, DIMENSION)))


def words(memory: Memory) -> Terms:
    return {"content": {memory.content: 1}}


def entries(first: int, last: int, *, embedded: bool = True) -> list[Entry]:
    result = []
    for number in range(first, last):
        memory = Memory(id=f"m{number}", content=f"word{number}", created_at=NOW)
        vectors = ROWS[number : number + 1] if embedded else None
        result.append(Entry(memory, words(memory), vectors))
    return result


def opened(path: Path | str) -> SqliteStore:
    store = SqliteStore(path, durable=False, approximate_from=1_000)
    store.use_embedder("one", DIMENSION)
    return store


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "m.db"
    with closing(opened(path)) as store:
        store.add(entries(0, COUNT))
    return path


@pytest.fixture
def store(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 100)
    monkeypatch.setattr(cell_rows, "MAX_EXACT_VECTORS", 100)
    with closing(opened(shutil.copy(filled, tmp_path))) as store:
        yield store


def nearest(store: SqliteStore, number: int, limit: int = 3) -> int:
    """The slot that is found for the vector of a slot: the same, if all is well."""
    with store.view("default", NOW) as view:
        found = view.search(ROWS[number], limit)
    assert found.slots.size == limit
    return int(found.slots[0])


def index_of(store: SqliteStore) -> index_approximate.Approximate | None:
    nearest(store, 0)
    return store._cache._kept["", "default"][0].vectors.approximate


def renewed(store: SqliteStore) -> int:
    steps = 0
    while store.renew_codes():
        steps += 1
    return steps


def one_of(store: SqliteStore, statement: str) -> int:
    return int(store._connection.execute(statement).fetchone()[0])


@pytest.mark.untraced
def test_it_is_made_when_asked_for_and_loaded_by_everybody(store: SqliteStore) -> None:
    other = opened(store.path)
    assert index_of(store) is None
    assert index_of(other) is None
    assert renewed(store) == 1
    for each in (store, other):
        found = index_of(each)
        assert found is not None
        assert len(found) == COUNT
        assert [nearest(each, number) for number in (3, 700, 1_499)] == [3, 700, 1_499]
    other.close()
    again = opened(store.path)
    assert index_of(again) is not None
    again.close()
    assert store.check(words) == []


def test_a_process_that_only_opens_the_file_writes_nothing(store: SqliteStore) -> None:
    renewed(store)
    before = one_of(store, "SELECT total_changes()"), one_of(store, "PRAGMA data_version")
    other = opened(store.path)
    assert index_of(other) is not None
    other.close()
    assert (one_of(store, "SELECT total_changes()"), one_of(store, "PRAGMA data_version")) == before


def test_a_small_namespace_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 100)
    store = opened(tmp_path / "m.db")
    store.add(entries(0, 999))
    assert renewed(store) == 0
    store.add(entries(999, 1_001, embedded=False))
    # There are 1,001 memories, but 999 of them have vectors.
    assert renewed(store) == 0
    store.close()


@pytest.mark.untraced
def test_what_is_written_later_is_found_at_once_and_joins_it_when_it_is_much(store: SqliteStore) -> None:
    renewed(store)
    store.add(entries(COUNT, COUNT + 300))
    assert nearest(store, COUNT + 5) == COUNT + 5
    assert renewed(store) == 0
    store.add(entries(COUNT + 300, COUNT + 400))
    assert renewed(store) == 1
    found = index_of(store)
    assert found is not None
    assert len(found) == COUNT + 400
    # The centres are still those of the first fifteen hundred; of twice as many, others are chosen.
    assert one_of(store, "SELECT trained FROM approximations") == COUNT
    store.add(entries(COUNT + 400, 2 * COUNT + 400))
    assert renewed(store) == 1
    assert one_of(store, "SELECT trained FROM approximations") == 2 * COUNT + 400
    assert nearest(store, 2 * COUNT + 399) == 2 * COUNT + 399
    assert store.check(words) == []


def test_what_gets_its_vector_late_is_found_and_counted(store: SqliteStore) -> None:
    store.add(entries(COUNT, COUNT + 400, embedded=False))
    renewed(store)
    given = [
        Embedded("default", f"m{number}", ROWS[number : number + 1], b"d%d" % number)
        for number in range(COUNT, COUNT + 400)
    ]
    store.put_vectors(given[:300])
    assert nearest(store, COUNT + 7) == COUNT + 7
    assert one_of(store, "SELECT gaps FROM approximations") == 300
    store.put_vectors(given[300:])
    # First the codes of the segments, then the index.
    assert renewed(store) >= 2
    assert one_of(store, "SELECT gaps FROM approximations") == 0
    found = index_of(store)
    assert found is not None
    assert len(found) == COUNT + 400


def test_a_purge_leaves_nothing_of_a_memory_in_it(store: SqliteStore) -> None:
    renewed(store)
    other = opened(store.path)
    assert nearest(other, 700) == 700
    store.purge("default", ["m700", "m701"])
    for each in (store, other):
        found = index_of(each)
        assert found is not None
        assert len(found) == COUNT - 2
        assert not found.covered[[700, 701]].any()
        assert nearest(each, 700) not in (700, 701)
        assert nearest(each, 702) == 702
    assert renewed(store) == 0
    assert store.check(words) == []
    other.close()


def test_what_is_purged_while_it_is_made_is_not_in_it(store: SqliteStore) -> None:
    done: list[str] = []

    def purge(what: str, at: int, total: int) -> None:
        if at == total and not done:
            done.append(what)
            store.purge("default", ["m9"])

    assert store.renew_codes(purge)
    assert done
    found = index_of(store)
    assert found is not None
    assert not found.covered[9]
    assert store.check(words) == []


def test_a_namespace_that_is_purged_takes_it_along(store: SqliteStore) -> None:
    renewed(store)
    store.purge_namespace("default")
    assert one_of(store, "SELECT count(*) FROM approximations") == 0
    assert one_of(store, "SELECT count(*) FROM approximation_parts") == 0


def test_who_stops_it_leaves_nothing_behind(store: SqliteStore) -> None:
    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.renew_codes(stop)
    assert one_of(store, "SELECT count(*) FROM approximations") == 0
    assert renewed(store) == 1


def test_vectors_of_another_embedder_get_their_own(store: SqliteStore) -> None:
    renewed(store)
    store.use_embedder("two", DIMENSION)
    assert store.renew_codes()
    assert renewed(store) == 0
    store.put_vectors(
        [
            Embedded("default", f"m{number}", -ROWS[number : number + 1], b"e%d" % number)
            for number in range(COUNT)
        ]
    )
    renewed(store)
    assert one_of(store, "SELECT count(*) FROM approximations") == 2
    while store.drop_vectors(10_000):
        pass
    assert one_of(store, "SELECT count(*) FROM approximations") == 1
    assert index_of(store) is not None


@pytest.mark.untraced
@pytest.mark.parametrize("damage", ["data = zeroblob(length(data))", "data = substr(data, 1, 1000)"])
def test_a_damaged_one_is_not_used_and_is_told_of_and_made_anew(store: SqliteStore, damage: str) -> None:
    renewed(store)
    store._connection.execute(f"UPDATE approximation_parts SET {damage}")
    other = opened(store.path)
    assert index_of(other) is None
    assert nearest(other, 700) == 700
    found = other.statistics()
    assert found["vector_search"] == {"exact": 0, "sign bits": 1, "approximate": 0}
    assert "memorata maintain makes it anew" in found["vector_search_advice"]
    assert any("approximate index" in problem for problem in other.check(words))
    assert renewed(other) == 1
    assert index_of(other) is not None
    assert other.check(words) == []
    other.close()


@pytest.mark.untraced
def test_repair_takes_a_damaged_one_away(store: SqliteStore) -> None:
    renewed(store)
    store._connection.execute("DELETE FROM approximation_parts")
    assert store.check(words, repair=True) != []
    assert store.check(words) == []
    assert index_of(store) is None
    assert renewed(store) == 1


def test_a_purge_drops_a_damaged_one(store: SqliteStore) -> None:
    renewed(store)
    store._connection.execute("UPDATE approximation_parts SET data = x'00'")
    store.purge("default", ["m1"])
    assert one_of(store, "SELECT count(*) FROM approximations") == 0


def test_check_notices_memories_that_are_gone(store: SqliteStore) -> None:
    renewed(store)
    cell_rows._put(
        store._connection,
        1,
        1,
        index_approximate.extended(
            index_approximate.trained(ROWS[:80], 80), [(np.array([COUNT + 7], np.int32), ROWS[:1])], 2
        ),
        0,
    )
    assert any("holds memories that are gone" in problem for problem in store.check(words))


def test_one_of_another_version_of_the_library_is_made_anew(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed(store)
    monkeypatch.setattr(index_approximate, "_maker", lambda faiss: "faiss 99.0")
    other = opened(store.path)
    assert index_of(other) is None
    assert "and this is faiss 99.0: memorata maintain" in other.statistics()["vector_search_advice"]
    assert renewed(other) == 1
    assert index_of(other) is not None
    other.close()


def test_without_the_library_bits_are_scanned_and_doctor_says_what_to_install(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed(store)
    monkeypatch.setattr(cell_rows, "is_available", lambda: False)
    other = opened(store.path)
    assert index_of(other) is None
    assert nearest(other, 700) == 700
    assert renewed(other) == 0
    found = other.statistics()
    assert found["vector_search"] == {"exact": 0, "sign bits": 1, "approximate": 0}
    assert "pip install 'memorata[ann]'" in found["vector_search_advice"]
    # A purge needs no library.
    other.purge("default", ["m3"])
    other.close()
    monkeypatch.undo()
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 100)
    found_again = index_of(opened(store.path))
    assert found_again is not None
    assert not found_again.covered[3]


def test_a_library_that_is_there_and_cannot_be_loaded_is_as_good_as_none(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed(store)
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setattr(cell_rows, "is_available", lambda: True)
    other = opened(store.path)
    assert index_of(other) is None
    assert nearest(other, 700) == 700
    other.close()


def test_statistics_say_how_each_namespace_is_searched(store: SqliteStore) -> None:
    few = Memory(id="few", content="few", created_at=NOW, namespace="small")
    store.add([Entry(few, words(few), ROWS[:1])])
    before = store.statistics()
    assert before["vector_search"] == {"exact": 1, "sign bits": 1, "approximate": 0}
    assert "memorata maintain makes it" in before["vector_search_advice"]
    renewed(store)
    after = store.statistics()
    assert after["vector_search"] == {"exact": 1, "sign bits": 0, "approximate": 1}
    assert after["vector_search_advice"] == ""


def test_an_index_of_many_parts_is_put_together_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_rows, "_PART_BYTES", 1_000)
    renewed(store)
    assert one_of(store, "SELECT count(*) FROM approximation_parts") > 20
    assert index_of(store) is not None
    assert store.check(words) == []


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True])
def test_a_threshold_is_a_whole_number_of_at_least_one(wrong: int) -> None:
    with pytest.raises(InvalidArgument, match="approximate_from"):
        SqliteStore(":memory:", approximate_from=wrong)


def test_maintain_makes_it_and_a_recall_says_that_it_was_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 100)
    embedder = LexicalEmbedder(dimension=DIMENSION)
    with memorata.open(tmp_path / "m.db", embedder=embedder, approximate_from=600) as memory:
        memory.remember_many([f"Anna has cup number{number}" for number in range(600)])
        assert memory.recall("the cup number77").methods["vector"] == BITS
        before = [hit.memory.content for hit in memory.recall("the cup number77").hits]
        memory.lifecycle.maintain()
        after = memory.recall("the cup number77")
        assert after.methods["vector"] == CELLS
        assert [hit.memory.content for hit in after.hits][:1] == before[:1] == ["Anna has cup number77"]
        assert memory.recall("the cup number77", filter={"category": "nothing"}).hits == ()
