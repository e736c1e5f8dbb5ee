import logging
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.index import cache
from memorata.index import vectors as index_vectors
from memorata.model.errors import IndexCorrupt, StoreCorrupt, StoreTooNew
from memorata.store.sqlite.schema import VERSION
from memorata_graph import Graph

CONTENTS = [f"tea number {n} for {name}" for n in range(100) for name in ("Anna", "Boris", "Chen")]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound file: 300 memories in a segment, 20 in the tail."""
    file = tmp_path_factory.mktemp("sound") / "m.db"
    with memorata.open(file, embedder="lexical", config={"durable": False}) as memory:
        memory.remember_many(CONTENTS)
        memory.remember_many([f"late coffee {n}" for n in range(20)])
        memory.remember("someone else's tea", namespace="other")
    return file


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    """A copy of the sound file."""
    return Path(shutil.copy(sound, tmp_path))


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search by codes, as if there were many more vectors."""
    for module in (index_vectors, cache):
        monkeypatch.setattr(module, "MAX_EXACT_VECTORS", 10)


def flip(file: Path, table: str, column: str, where: str = "1") -> None:
    """Flip one bit in the middle of one value."""
    connection = sqlite3.connect(file)
    rows = connection.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchall()
    value = rows[len(rows) // 2][0]
    blob = bytearray(value)
    blob[len(blob) // 2] ^= 16
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (bytes(blob), value))
    connection.commit()
    connection.close()


DAMAGE = [
    ("segments", "lists", "namespace = 1"),
    ("vector_codes", "codes", "namespace = 1"),
    ("records", "record", "namespace = 1"),
    ("records", "terms", "namespace = 1 AND terms IS NOT NULL"),
]


def answers(memory: memorata.Engine) -> list[list[tuple[str, float]]]:
    questions = ("tea number 7 for Anna", "coffee", "who is Boris", "Chen 99")
    return [[(hit.memory.content, hit.score) for hit in memory.recall(each)] for each in questions]


@pytest.mark.untraced
@pytest.mark.usefixtures("codes")
@pytest.mark.parametrize(("table", "column", "where"), DAMAGE)
def test_a_flipped_bit_is_found_by_check_and_repaired(
    path: Path, table: str, column: str, where: str
) -> None:
    with memorata.open(path, embedder="lexical") as memory:
        before = answers(memory)
    flip(path, table, column, where)
    with memorata.open(path, embedder="lexical") as memory:
        problems = memory.admin.check()
        assert problems
        assert all(problem.startswith("default: ") for problem in problems)
        assert memory.admin.check() == problems
        assert memory.admin.check(repair=True) == problems
        assert memory.admin.check() == []
        assert answers(memory) == before


@pytest.mark.usefixtures("codes")
@pytest.mark.parametrize(("table", "column", "where"), DAMAGE)
def test_a_flipped_bit_is_repaired_on_the_way_to_the_answer(
    path: Path, table: str, column: str, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    with memorata.open(path, embedder="lexical") as memory:
        before = answers(memory)
    flip(path, table, column, where)
    with memorata.open(path, embedder="lexical") as memory, caplog.at_level(logging.WARNING):
        assert answers(memory) == before
        assert [record.message.split(":")[0] for record in caplog.records] == [
            "rebuilding what is derived from the memories of default"
        ]
        assert memory.admin.check() == []


@pytest.mark.parametrize(("table", "column", "where"), [DAMAGE[0], DAMAGE[2]])
def test_a_flipped_bit_is_repaired_on_the_way_to_a_write(
    path: Path, table: str, column: str, where: str
) -> None:
    flip(path, table, column, where)
    with memorata.open(path, embedder="lexical") as memory:
        damaged = CONTENTS[len(CONTENTS) // 2]
        target = next(each for each in memory.list(limit=1000).memories if each.content == damaged)
        memory.purge(target.id)
        assert memory.admin.check() == []
        assert damaged not in [hit.memory.content for hit in memory.recall(damaged)]


def test_damage_that_comes_back_is_not_repaired_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with memorata.open(path, embedder="lexical") as memory:
        rebuilt = []
        monkeypatch.setattr(memory.store, "rebuild", lambda namespace, terms_of: rebuilt.append(namespace))
        flip(path, *DAMAGE[0])
        with pytest.raises(IndexCorrupt):
            memory.recall("tea")
        assert rebuilt == ["default"]


def test_a_process_that_had_loaded_everything_before_goes_on(path: Path) -> None:
    with (
        memorata.open(path, embedder="lexical") as memory,
        memorata.open(path, embedder="lexical") as other,
    ):
        before = answers(memory)
        flip(path, *DAMAGE[0])
        other.admin.check(repair=True)
        other.remember("one more coffee")
        assert [content for content, _ in answers(memory)[0]] == [content for content, _ in before[0]]
        assert "one more coffee" in [hit.memory.content for hit in memory.recall("coffee", limit=50)]


@pytest.mark.untraced
def test_rows_that_are_missing_are_written_again(path: Path) -> None:
    with memorata.open(path, embedder="lexical") as memory:
        before = answers(memory)
    for statement in (
        "UPDATE records SET terms = NULL WHERE slot > 305",
        "DELETE FROM records WHERE slot = 7",
        "DELETE FROM segments",
        "UPDATE namespaces SET flushed = 5",
        "UPDATE namespaces SET slots = slots - 1 WHERE path = 'default'",
        "UPDATE namespaces SET slots = slots + 1000000 WHERE path = 'default'",
    ):
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.commit()
        connection.close()
        with memorata.open(path, embedder="lexical") as memory:
            assert memory.admin.check(repair=True)
            assert memory.admin.check() == []
            assert answers(memory) == before


def test_a_damaged_vector_is_removed_and_its_memory_found_by_words(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE vectors SET vectors = substr(vectors, 1, 99) WHERE namespace = 1 AND slot = 0")
    connection.commit()
    connection.close()
    with memorata.open(path, embedder="lexical") as memory:
        assert CONTENTS[0] in [hit.memory.content for hit in memory.recall(CONTENTS[0])]
        assert memory.recall(CONTENTS[0]).degraded == (
            "1 memory has no vector of this embedder yet; words only for it",
        )
        assert memory.admin.check() == []


@pytest.mark.parametrize("search", ["exact", "codes"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30, 50.0])
def test_a_vector_that_has_become_too_long_is_not_trusted(
    path: Path, value: float, search: str, request: pytest.FixtureRequest
) -> None:
    if search == "codes":
        request.getfixturevalue("codes")
    asked = CONTENTS[0]
    connection = sqlite3.connect(path)
    of_it = "WHERE namespace = 1 AND slot = 9"
    ((blob,),) = connection.execute(f"SELECT vectors FROM vectors {of_it}").fetchall()
    row = np.frombuffer(blob, np.float32).copy()
    row[LexicalEmbedder().embed_query(asked).argmax()] = value
    connection.execute(f"UPDATE vectors SET vectors = ? {of_it}", (row.tobytes(),))
    connection.commit()
    connection.close()
    with memorata.open(path, embedder="lexical") as memory:
        (told,) = memory.admin.check()
        assert "the vectors of 1 memories are damaged" in told
        answer = memory.recall(asked, recipe="vector")
        assert answer.hits[0].memory.content == asked
        assert all(hit.score <= 1.001 for hit in answer)
        assert answer.degraded
        assert memory.admin.check() == []


def test_a_namespace_of_which_nothing_is_left_is_sound_after_a_repair(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical") as memory:
        said = memory.remember_many(["tea", "milk", "cup"])
        memory.purge(*[each.id for each in said])
        memory.store.rebuild("default", lambda memory: {})
        assert memory.admin.check() == []
        memory.remember("tea again")
        assert len(memory.recall("tea")) == 1
        assert memory.admin.check() == []


def test_a_content_that_is_not_what_was_written_is_told(path: Path) -> None:
    change = "UPDATE memories SET content = 'tea number 8 for Anna'{} WHERE slot = 21"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(change.format(""))
    with memorata.open(path, embedder="lexical") as memory:
        (told,) = memory.admin.check(repair=True)
        assert "its checksum is another" in told
    # Of a row without one, its fingerprint tells.
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(change.format(", checksum = NULL"))
    with memorata.open(path, embedder="lexical") as memory:
        (told,) = [problem for problem in memory.admin.check(repair=True) if "fingerprint" in problem]
        # A repair can only make the words agree with what is there now.
        assert memory.admin.check() == [told]


@pytest.mark.untraced
@pytest.mark.parametrize(
    "damage",
    [
        "tier = 'semantib'",
        "tags = '[' || tags",
        "metadata = '{x'",
        "supersedes = 'None'",
        "lat = 99, lon = 0",
    ],
)
def test_a_row_that_cannot_be_read_is_told_and_left_alone(path: Path, damage: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE memories SET {damage} WHERE namespace = 1 AND slot = 21")
    connection.commit()
    of_it = "FROM memories WHERE namespace = 1 AND slot = 21"
    before = connection.execute(f"SELECT * {of_it}").fetchall()
    ((id_,),) = connection.execute(f"SELECT id {of_it}").fetchall()
    with memorata.open(path, embedder="lexical") as memory:
        for repair in (False, True, False):
            (told,) = memory.admin.check(repair=repair)
            assert f"the row of memory {id_} cannot be read" in told
            assert "restore it from a backup" in told
        with pytest.raises(StoreCorrupt, match="cannot be read"):
            memory.get(id_)
        assert memory.recall("late coffee 7", limit=3).hits
    assert connection.execute(f"SELECT * {of_it}").fetchall() == before
    connection.close()


def test_what_was_said_is_never_touched_by_a_repair(path: Path) -> None:
    with memorata.open(path, embedder="lexical") as memory:
        before = list(memory.store.export(None))
        flip(path, *DAMAGE[2])
        memory.admin.check(repair=True)
        assert list(memory.store.export(None)) == before


def test_a_truncated_file_is_refused_or_found_out(path: Path) -> None:
    whole = path.read_bytes()
    for part in (0.9, 0.5, 0.1, 0.01):
        path.write_bytes(whole[: int(len(whole) * part)])
        with pytest.raises(StoreCorrupt, match="damaged or not a database"):
            memorata.open(path, embedder="lexical").admin.check()


def damaged_pages(whole: bytes, dice: random.Random) -> Iterator[bytes]:
    for _ in range(12):
        page = dice.randrange(1, len(whole) // 4096)
        yield whole[: page * 4096] + dice.randbytes(4096) + whole[(page + 1) * 4096 :]


def test_a_page_of_nonsense_never_gives_a_wrong_answer(path: Path) -> None:
    with memorata.open(path, embedder="lexical") as memory:
        before = answers(memory)
    whole = path.read_bytes()
    found = 0
    for damaged in damaged_pages(whole, random.Random(1)):
        path.write_bytes(damaged)
        try:
            with memorata.open(path, embedder="lexical") as memory:
                found += bool(memory.admin.check())
                assert answers(memory) == before
        except StoreCorrupt:
            found += 1
    assert found > 6


def test_an_index_of_sqlite_itself_is_made_anew(path: Path) -> None:
    connection = sqlite3.connect(path)
    # The index says another order than the one it was written in, as if it had been damaged.
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, '(embedder)', '(slot)') "
                       "WHERE name = 'vectors_by_embedder'")  # fmt: skip
    connection.commit()
    connection.close()
    with memorata.open(path, embedder="lexical") as memory:
        problems = memory.admin.check(repair=True)
        assert problems
        assert all(problem.startswith("the file: ") for problem in problems)
        assert memory.admin.check() == []


def test_a_random_file_is_refused(tmp_path: Path) -> None:
    for content in (
        random.Random(0).randbytes(10_000),
        b"I am a text file.\n" * 500,
        b"SQLite format 3\0" * 300,
    ):
        file = tmp_path / "m.db"
        file.write_bytes(content)
        with pytest.raises(StoreCorrupt, match="damaged or not a database"):
            memorata.open(file, embedder="lexical")
        assert file.read_bytes() == content


def test_a_database_of_another_application_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE invoices (number INTEGER)")
    connection.commit()
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreCorrupt, match="not one of Memorata's; name another file"):
        memorata.open(file, embedder="lexical")
    assert file.read_bytes() == before


def test_a_database_of_a_newer_version_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="upgrade with `pip install --upgrade memorata`"):
        memorata.open(path, embedder="lexical")
    assert path.read_bytes() == before


def test_a_row_that_is_gone_is_an_error_of_ours(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM memories WHERE content = 'tea number 7 for Anna'")
    connection.commit()
    connection.close()
    with (
        memorata.open(path, embedder="lexical") as memory,
        pytest.raises(StoreCorrupt, match="not where their records say; run `memorata admin check`"),
    ):
        memory.recall("tea number 7 for Anna")


@pytest.mark.parametrize("value", ["NULL", "x'ff'", "7"])
def test_a_list_that_is_none_is_an_error_of_ours(path: Path, value: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    # As a damaged page would, which no constraint sees.
    connection.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, 'entities TEXT NOT NULL', 'entities TEXT') "
        "WHERE name = 'memories'"
    )
    connection.commit()
    connection.close()
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE memories SET entities = {value} WHERE content = 'tea number 7 for Anna'")
    connection.commit()
    connection.close()
    with memorata.open(path, embedder="lexical") as memory:
        with pytest.raises(StoreCorrupt):
            Graph(memory).communities()
        assert memory.admin.check()


def exchange(file: Path, one: int, other: int) -> None:
    """Let two pages change places."""
    content = bytearray(file.read_bytes())
    first, second = (slice(4_096 * page, 4_096 * (page + 1)) for page in (one, other))
    content[first], content[second] = content[second], content[first]
    file.write_bytes(content)


def page_with(file: Path, some: bytes) -> int:
    return file.read_bytes().index(some) // 4_096


def root_of(file: Path, table: str) -> int:
    with closing(sqlite3.connect(file)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return int(root) - 1


def vector_of(file: Path, slot: int) -> bytes:
    with closing(sqlite3.connect(file)) as connection:
        (blob,) = connection.execute(
            "SELECT vectors FROM vectors WHERE namespace = 1 AND slot = ?", (slot,)
        ).fetchone()
    return bytes(blob)


def test_vectors_that_changed_places_are_noticed_by_a_recall(path: Path) -> None:
    exchange(path, *(page_with(path, vector_of(path, slot)) for slot in (30, 200)))
    with memorata.open(path, embedder="lexical") as memory:
        with pytest.raises(StoreCorrupt, match="not in the order of their memories"):
            memory.recall(CONTENTS[30])
        assert memory.admin.check()


def test_memories_that_changed_places_are_noticed_by_a_listing(path: Path) -> None:
    exchange(path, *(page_with(path, CONTENTS[place].encode()) for place in (30, 200)))
    with memorata.open(path, embedder="lexical") as memory:
        with pytest.raises(StoreCorrupt, match="not where they were written"):
            memory.list(limit=500)
        assert memory.admin.check()


@pytest.mark.parametrize("oldest_first", [False, True])
def test_memories_that_cannot_be_found_are_noticed_by_a_listing(path: Path, *, oldest_first: bool) -> None:
    exchange(path, root_of(path, "memories"), page_with(path, vector_of(path, 30)))
    with (
        memorata.open(path, embedder="lexical") as memory,
        pytest.raises(StoreCorrupt, match="not where they were written"),
    ):
        memory.list(oldest_first=oldest_first)
