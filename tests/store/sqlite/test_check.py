from collections.abc import Iterator

import numpy as np
import pytest

from memorata.index.codes import Codes
from memorata.index.postings import SegmentLists, inverted
from memorata.index.record import encoded_terms, packed
from memorata.model.errors import StoreCorrupt
from memorata.model.memory import Memory
from memorata.store.check import Problem, problems
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Terms
from memorata.store.sqlite import integrity
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, NOW, direction, entry, words


def terms_of(memory: Memory) -> Terms:
    return {"content": words(memory.content)}


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:")
    opened.use_embedder(EMBEDDER, DIMENSION)
    opened.add([entry(f"m{n}", f"tea cup{n}", direction(1, n)) for n in range(300)])
    opened.add([entry("last", "late tea", direction(0, 1))])
    yield opened
    opened.close()


def connection(store: SqliteStore) -> SqliteSession:
    return store._connection


def told(store: SqliteStore) -> list[str]:
    return [problem.text for problem in problems(connection(store), terms_of)]


def test_a_sound_file_has_no_problems(store: SqliteStore) -> None:
    assert problems(connection(store), terms_of) == []
    assert integrity.problems(connection(store)) == []


def test_a_record_that_says_something_else_is_found(store: SqliteStore) -> None:
    memory = store.get(HERE, ["m7"])[0]
    other = packed(memory, state=0, session=4, vectors=1, superseded_at=None, lengths={"content": 2})
    connection(store).execute("UPDATE records SET record = ? WHERE slot = 7", (other,))
    assert told(store) == ["acme/alice: the record of memory m7 does not match the memory"]


def test_a_zero_with_a_sign_that_was_stored_before_is_the_same_number(store: SqliteStore) -> None:
    stored = entry("zero", "never sure", direction(0, 2))
    # What is built now has no such zero.
    object.__setattr__(stored.memory, "confidence", -0.0)
    store.add([stored])
    assert told(store) == []


def test_words_that_are_not_listed_where_they_are_said_are_found(store: SqliteStore) -> None:
    (value,) = connection(store).execute("SELECT lists FROM segments").fetchone()
    lost = len(SegmentLists.decoded(value))
    assert lost > 2
    nothing = inverted([], 0).encoded()
    connection(store).execute("UPDATE segments SET lists = ?", (nothing,))
    assert told(store) == [f"acme/alice: {lost} words are not listed for the memories that contain them"]


def test_rewordings_that_are_not_of_their_memory_are_found(store: SqliteStore) -> None:
    connection(store).execute(
        "INSERT INTO rewordings VALUES (1, 7, ?)", (encoded_terms({"content": {"zebra": 1}}),)
    )
    (problem,) = told(store)
    assert "words are not listed for the memories that contain them" in problem


def test_lists_that_do_not_check_are_found(store: SqliteStore) -> None:
    connection(store).execute("UPDATE segments SET lists = substr(lists, 1, 99)")
    assert "acme/alice: segment 1: the posting lists of a segment do not match their checksum" in told(store)


def test_gaps_between_segments_are_found(store: SqliteStore) -> None:
    connection(store).execute("UPDATE segments SET first = 1, slots = 299")
    assert "acme/alice: slots 0 to 1 are in no segment, or in two" in told(store)
    connection(store).execute("UPDATE segments SET first = 0, slots = 299")
    assert "acme/alice: segments end at slot 299, not at 300" in told(store)


def test_codes_of_other_vectors_are_found(store: SqliteStore) -> None:
    owners = np.arange(300, dtype=np.int32)
    others = np.repeat(direction(-1), 300, axis=0)
    connection(store).execute("UPDATE vector_codes SET codes = ?", (Codes.of(owners, others).encoded(),))
    assert told(store) == ["acme/alice: slots from 0 on: vector codes do not match the vectors"]


@pytest.mark.parametrize("embedder", ["7", "-5", "NULL"])
def test_codes_of_nobodys_vectors_are_found(store: SqliteStore, embedder: str) -> None:
    connection(store).execute(f"UPDATE vector_codes SET embedder = {embedder}")
    assert told(store) == ["acme/alice: slots from 0 on: vector codes of no embedder"]
    store.check(terms_of, repair=True)
    assert told(store) == []


def test_vectors_that_cannot_be_are_found(store: SqliteStore) -> None:
    nan = np.full(DIMENSION, np.nan, np.float32).tobytes()
    connection(store).execute("UPDATE vectors SET vectors = ? WHERE slot = 3", (nan,))
    expected = "the vectors of 1 memories are damaged; without them they are found by words only"
    assert told(store) == [f"acme/alice: {expected}"]
    store.check(terms_of, repair=True)
    assert told(store) == []


def test_a_reference_to_nothing_is_a_problem_of_the_file(store: SqliteStore) -> None:
    connection(store).execute("PRAGMA foreign_keys = OFF")
    connection(store).execute("INSERT INTO changes (namespace, slot, kind) VALUES (99, 0, 'add')")
    assert problems(connection(store), terms_of) == [
        Problem("", "the file: row 302 of changes refers to nothing in namespaces")
    ]


def test_a_repair_makes_all_of_it_sound(store: SqliteStore) -> None:
    for statement in (
        "UPDATE segments SET lists = x''",
        "UPDATE segments SET slots = 3",
        "UPDATE records SET terms = NULL",
    ):
        connection(store).execute(statement)
    found = store.check(terms_of)
    assert found
    assert store.check(terms_of, repair=True) == found
    assert told(store) == []


def test_a_memory_that_cannot_be_read_is_named(store: SqliteStore) -> None:
    # A flipped bit in a letter of two bytes.
    connection(store).execute("UPDATE memories SET content = CAST(x'c3c3' AS TEXT) WHERE id = 'm7'")
    connection(store).execute("UPDATE memories SET confidence = 'high' WHERE id = 'm9'")
    connection(store).execute("DELETE FROM records WHERE slot = 3")
    first, second, third = told(store)
    assert first.startswith("acme/alice: the row of memory m7 cannot be read (content must be a string")
    assert second.startswith("acme/alice: the row of memory m9 cannot be read (confidence must be")
    assert third == "acme/alice: there are not 301 records, one for each slot"
    # What else is wrong with the namespace is mended, and searches pass over what cannot be read.
    assert store.check(terms_of, repair=True) == [first, second, third]
    assert told(store) == [first, second]
    with store.view(HERE, NOW) as view:
        slots = view.without(None, ())
        assert len(slots) == 299
        assert {"m7", "m9"}.isdisjoint(memory.id for memory in view.memories(slots))
    connection(store).execute("UPDATE memories SET confidence = 1.0 WHERE id = 'm9'")
    assert "the record of memory m9 does not match" in store.check(terms_of, repair=True)[1]
    assert told(store) == [first]
    with store.view(HERE, NOW) as view:
        assert len(view.without(None, ())) == 300


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        ("UPDATE namespaces SET slots = 'many'", "the slots of 1 rows of namespaces"),
        ("UPDATE changes SET slot = 'x' WHERE slot = 9", "the slot of 1 rows of changes"),
        ("UPDATE memories SET superseded_at = 'x' WHERE slot < 2", "the superseded_at of 2 rows of memories"),
    ],
)
def test_what_is_of_no_use_as_a_number_is_told(store: SqliteStore, damage: str, text: str) -> None:
    connection(store).execute(damage)
    assert told(store) == [f"the file: {text} is not a whole number"]


def test_a_number_of_slots_that_no_file_has_room_for_is_told(store: SqliteStore) -> None:
    connection(store).execute("UPDATE namespaces SET slots = ?", (2**62,))
    assert told(store) == [f"acme/alice: there are not {2**62} records, one for each slot"]
    store.check(terms_of, repair=True)
    assert told(store) == []


OTHERWISE = {
    "TEXT": "CASE WHEN {0} LIKE '[%' THEN '[\"x\"]' WHEN {0} LIKE '{{%' THEN '{{\"x\": 1}}' "
    "WHEN {0} = 'semantic' THEN 'working' ELSE coalesce({0}, '') || 'x' END",
    "INTEGER": "coalesce({0}, 0) + 1000",
    "REAL": "coalesce({0}, 0) / 2 + 0.1",
}


@pytest.mark.untraced
def test_a_change_of_any_field_of_a_memory_is_told(store: SqliteStore) -> None:
    session = connection(store)
    columns = session.execute("PRAGMA table_info(memories)").fetchall()
    assert len(columns) > 35
    session.execute("DROP TRIGGER state_of_changed")
    for _, column, kind, *_ in columns:
        session.execute("SAVEPOINT sound")
        session.execute("PRAGMA ignore_check_constraints = ON")
        session.execute("PRAGMA defer_foreign_keys = ON")
        session.execute(f"UPDATE memories SET {column} = {OTHERWISE[kind].format(column)} WHERE id = 'm7'")
        session.execute("PRAGMA ignore_check_constraints = OFF")
        assert told(store), column
        session.execute("ROLLBACK TO sound")
        session.execute("RELEASE sound")
    assert told(store) == []


def test_what_was_stated_is_compared_whenever_it_is_read(store: SqliteStore) -> None:
    connection(store).execute("UPDATE memories SET metadata = '{\"x\": 1}', link = 'b' WHERE id = 'm7'")
    with pytest.raises(StoreCorrupt, match="the row of memory m7 cannot be read"):
        store.get(HERE, ["m7"])
    connection(store).execute("UPDATE memories SET checksum = NULL WHERE id = 'm7'")
    assert store.get(HERE, ["m7"])[0].source.link == "b"
