"""How the words of a store were read is recorded, and noticed when the rules have changed since."""

import hashlib
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import memorata
from memorata.engine.write.terms import VERSION, WORDS_VERSION, outdated_words, terms_of
from memorata.model.memory import Memory, Source
from memorata.text.analysers import analyser

SAMPLES = (
    "Anna moved to Lisbon last summer and likes running.",
    "Gestern haben wir die Katzen der Nachbarn gefüttert.",
    "El martes pasado compramos dos bicicletas en Granada.",
    "La semaine dernière, nous avons visité les musées de Lyon.",
    "Вчера мы гуляли по набережной с друзьями.",
    "昨天我们在上海吃了火锅。",
    "先週、京都で紅葉を見ました。",
    "De kinderen speelden vorige week buiten.",
)
TERMS_OF_SAMPLES = "ade3d1f17dfc03b0"
"""The first digits of a digest of all terms of the samples, of the version that is recorded."""


def opened(path: Path) -> memorata.Engine:
    return memorata.open(path, embedder="lexical")


def read_before(path: Path) -> None:
    with opened(path) as memory:
        memory.store.remember_setting(VERSION, "1")


def test_a_new_store_records_the_version(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    for _ in range(2):
        with opened(path) as memory:
            memory.remember("Anna likes tea.")
            assert memory.store.setting(VERSION) == WORDS_VERSION
            assert memory.admin.check() == []
            assert not [note for note in memory.notes if "words" in note]


def test_a_store_of_before_says_so_until_it_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with opened(path) as memory:
        memory.remember("Anna likes tea.")
    read_before(path)
    with opened(path) as memory:
        (note,) = [note for note in memory.notes if "version 1 of the rules" in note]
        assert "memorata admin check --repair" in note
        assert memory.admin.check() == [note]
        assert memory.admin.check(repair=True) == [note]
        assert memory.admin.check() == []
    with opened(path) as memory:
        assert not [note for note in memory.notes if "of the rules" in note]


def test_a_store_without_a_version_was_read_by_the_first(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with opened(path) as memory:
        memory.remember("Anna likes tea.")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM settings WHERE name = 'words_version'")
    with opened(path) as memory:
        assert "version 1 of the rules" in outdated_words(memory.store)
        assert memory.admin.check(repair=True)
        assert outdated_words(memory.store) == ""


def test_other_terms_are_another_version() -> None:
    """If this fails, texts get other terms than before: raise WORDS_VERSION, and put the new digest here."""
    said = datetime(2026, 5, 7, 12, tzinfo=UTC)
    terms = [
        terms_of(
            Memory(id="m", content=text, created_at=said, tags=("notes",), source=Source(speaker="Ben")),
            analyser("snowball"),
        )
        for text in SAMPLES
    ]
    written = json.dumps(terms, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(written.encode()).hexdigest()
    assert (WORDS_VERSION, digest[:16]) == ("2", TERMS_OF_SAMPLES)
