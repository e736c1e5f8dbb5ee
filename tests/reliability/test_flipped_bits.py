"""A flipped bit in any row that memories or their search are made of is found by a check."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memorata
from memorata.model import Source

FLIPS = 12
COLUMNS = {
    "memories": ("id", "content", "category", "tags", "metadata", "created_at", "mentions", "confidence"),
    "sessions": ("namespace", "name", "number"),
    "records": ("namespace", "slot", "record", "terms"),
    "vectors": ("namespace", "embedder", "slot", "vectors"),
    "vector_codes": ("namespace", "first", "slots", "embedder", "codes"),
    "segments": ("namespace", "first", "slots", "lists"),
    "namespaces": ("slots", "flushed"),
    "changes": ("namespace", "slot", "kind"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound file with a segment, a tail, a repeat and a correction."""
    file = tmp_path_factory.mktemp("sound") / "m.db"
    with memorata.open(file, embedder="lexical", config={"durable": False}) as memory:
        memory.remember_many(
            [f"tea number {n} for {name}" for n in range(100) for name in ("Anna", "Bo", "Chen")]
        )
        memory.remember("Anna moved to Porto", source=Source("anna", "breakfast", 0))
        memory.remember_many([f"late coffee {n}" for n in range(20)])
        memory.correct(memory.remember("The door code is 1234").id, "The door code is 4321")
        memory.remember("I like tea a lot")
        memory.remember("I like tea a lot")
    return file


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    return random.Random(request.node.name)


def flipped(value: Any, chance: random.Random) -> Any:
    """Return a value with one bit of it flipped, wherever it is."""
    if isinstance(value, bytes):
        changed = bytearray(value)
        bit = chance.randrange(8 * len(changed))
        changed[bit // 8] ^= 1 << bit % 8
        return bytes(changed)
    if isinstance(value, str):
        place = chance.randrange(len(value))
        return value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]
    if isinstance(value, float):
        return float((np.array([value]).view(np.int64) ^ (1 << chance.randrange(52))).view(np.float64)[0])
    return value ^ 1 << chance.randrange(16)


def problems(file: Path) -> list[str]:
    with memorata.open(file, embedder="lexical") as memory:
        return memory.admin.check()


@pytest.mark.parametrize("table", COLUMNS)
def test_in_every_kind_of_row(sound: Path, tmp_path: Path, table: str, chance: random.Random) -> None:
    with closing(sqlite3.connect(sound)) as connection:
        rows = connection.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table}").fetchall()
    unnoticed = []
    for column, name in enumerate(COLUMNS[table]):
        value = chance.choice([row[column] for row in rows if row[column] not in (None, "", b"")])
        file = Path(shutil.copy(sound, tmp_path / f"{name}.db"))
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            where = f"rowid = (SELECT rowid FROM {table} WHERE {name} IS ? LIMIT 1)"
            if table in ("sessions", "records"):
                where = f"{name} IS ?"
            connection.execute(
                f"UPDATE OR IGNORE {table} SET {name} = ? WHERE {where}", (flipped(value, chance), value)
            )
            changed = connection.total_changes
        if changed and not problems(file):
            unnoticed.append(name)
    assert unnoticed == []


def test_in_vectors_wherever_they_are(sound: Path, tmp_path: Path, chance: random.Random) -> None:
    with closing(sqlite3.connect(sound)) as connection:
        stored = connection.execute("SELECT vectors FROM vectors").fetchall()
    whole = sound.read_bytes()
    for number in range(FLIPS):
        blob = chance.choice(stored)[0]
        start = whole.index(blob)
        file = tmp_path / f"{number}.db"
        file.write_bytes(whole[:start] + flipped(blob, chance) + whole[start + len(blob) :])
        assert problems(file) == [
            "default: the vectors of 1 memories are damaged; without them they are found by words only"
        ]


@pytest.fixture
def damaged(sound: Path, tmp_path: Path) -> Path:
    """A file with the least significant bit of one number of one vector flipped."""
    file = Path(shutil.copy(sound, tmp_path))
    with closing(sqlite3.connect(file)) as connection, connection:
        ((blob,),) = connection.execute("SELECT vectors FROM vectors WHERE slot = 7").fetchall()
        connection.execute(
            "UPDATE vectors SET vectors = ? WHERE slot = 7", (bytes([blob[0] ^ 1]) + blob[1:],)
        )
    return file


def test_a_recall_notices_it_and_the_memory_is_embedded_again(damaged: Path) -> None:
    with memorata.open(damaged, embedder="lexical") as memory:
        asked = "tea number 2 for Bo"
        answer = memory.recall(asked)
        assert answer.hits[0].memory.content == asked
        assert any(
            "1 memories have no vector" in each or "1 memory has no vector" in each
            for each in answer.degraded
        )
        memory.admin.embed_pending()
        assert memory.recall(asked).degraded == ()
        assert memory.admin.check() == []


def test_a_repeated_text_does_not_inherit_it(damaged: Path) -> None:
    with memorata.open(damaged, embedder="lexical") as memory:
        memory.remember("tea number 2 for Bo", namespace="default")
        assert memory.admin.check(repair=True)
        assert memory.admin.check() == []
