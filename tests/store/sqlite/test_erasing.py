import logging
import random
import re
import sqlite3
from pathlib import Path

import pytest

import recollect
from recollect.store.sqlite import segments, writing
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.erasing import empty_log, overwrite_free_pages, overwriting

WORDS = [f"w{n}" for n in range(500)]


def left_of(path: Path, secrets: set[str]) -> set[str]:
    """Return which secrets anyone who reads the bytes of the file and its log can find."""
    bytes_ = b"".join(file.read_bytes() for file in path.parent.iterdir())
    return {secret for secret in secrets if secret.encode() in bytes_}


@pytest.mark.parametrize(("tail", "seed"), [(4, 4), (256, 256), (256, 5), (256, 6)])
def test_nothing_of_what_was_purged_is_left_in_any_file(
    tmp_path: Path, tail: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small segments are written anew all the time, and leave their old pages behind.
    monkeypatch.setattr(writing, "TAIL", tail)
    monkeypatch.setattr(segments, "TAIL", tail)
    dice = random.Random(seed)
    path = tmp_path / "m.db"
    with recollect.open(path, embedder="lexical", durable=False) as memory:
        for batch in range(8):
            texts = []
            for number in range(dice.choice([1, 5, 100, 300])):
                secret = f"zqsecret{batch}x{number}y"
                words = " ".join(dice.choices(WORDS, k=dice.choice([5, 20, 300, 2000])))
                texts.append(
                    {
                        "id": f"{secret}-id",
                        "content": f"{words} {secret} {words[:40]}",
                        "tags": (f"{secret}-tag",),
                        "source": {"speaker": f"{secret}-name"},
                        "metadata": {"key": f"{secret}-meta"},
                        "namespace": dice.choice(["here", "there"]),
                    }
                )
            for said in memory.remember_many(texts)[:3]:
                memory.correct(said.id, said.content + " corrected", namespace=said.namespace)
        every = list(memory.store.export(None))
        gone = dice.sample(every, 20)
        secrets = {found for each in gone for found in re.findall(r"zqsecret\d+x\d+y", each.content)}
        assert left_of(path, secrets) == secrets
        for each in gone:
            memory.purge(each.id, namespace=each.namespace)
        kept = {
            found for m in memory.store.export(None) for found in re.findall(r"zqsecret\d+x\d+y", m.content)
        }
        assert left_of(path, secrets - kept) == set()
        assert memory.check() == []


def test_one_block_that_overwrites_may_stand_in_another(tmp_path: Path) -> None:
    connection = connect(tmp_path / "m.db", durable=False)
    with overwriting(connection):
        with overwriting(connection):
            pass
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    assert connection.execute("PRAGMA secure_delete").fetchone() == (2,)
    connection.close()


def test_free_pages_are_filled_with_zeros(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    connection = connect(path, durable=False)
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("CREATE TABLE notes (text TEXT)")
    connection.executemany("INSERT INTO notes VALUES (?)", [("zqsecret " * 2000,)] * 50)
    connection.execute("DROP TABLE notes")
    assert left_of(path, {"zqsecret"}) == {"zqsecret"}
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    assert free > 100
    with overwriting(connection):
        connection.execute("BEGIN")
        overwrite_free_pages(connection)
        connection.execute("COMMIT")
    empty_log(connection, str(path))
    assert left_of(path, {"zqsecret"}) == set()
    assert connection.execute("PRAGMA freelist_count").fetchone()[0] >= free
    assert connection.execute("PRAGMA secure_delete").fetchone() == (2,)
    connection.close()


def test_a_reader_that_keeps_the_log_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with recollect.open(tmp_path / "m.db", embedder="lexical") as memory:
        said = memory.remember("tea")
        reader = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM memories").fetchall()
        memory.store._connection.execute("PRAGMA busy_timeout = 10")
        with caplog.at_level(logging.WARNING):
            memory.purge(said.id)
        assert "the write-ahead log could not be emptied" in caplog.text
        reader.execute("COMMIT")
        reader.close()
        assert memory.list(hidden=True).memories == ()
