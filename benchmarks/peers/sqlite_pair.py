"""SQLite with FTS5 and sqlite-vec, joined by reciprocal rank fusion in one statement: the usual recipe.

The standard library's sqlite3 often cannot load extensions, so this goes through apsw.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw
import sqlite_vec

from benchmarks.engine_data import DIMENSION, Batch, Question, content_words
from benchmarks.peers import LIMIT, POOL, Way

_TABLES = f"""
PRAGMA journal_mode = WAL;
CREATE TABLE memories (number INTEGER PRIMARY KEY, text TEXT NOT NULL, category TEXT NOT NULL);
CREATE VIRTUAL TABLE words
    USING fts5 (text, content = 'memories', content_rowid = 'number', tokenize = 'porter');
CREATE VIRTUAL TABLE meanings
    USING vec0 (number INTEGER PRIMARY KEY, vector FLOAT[{DIMENSION}] distance_metric=cosine);
"""
_RECALL = f"""
WITH near AS (
    SELECT number, row_number() OVER (ORDER BY distance) AS place
    FROM meanings WHERE vector MATCH ?1 AND k = {POOL}
), worded AS (
    SELECT number, row_number() OVER () AS place FROM (
        SELECT rowid AS number FROM words WHERE words MATCH ?2 ORDER BY rank LIMIT {POOL}
    )
), fused AS (
    SELECT number, sum(1.0 / (60 + place)) AS score
    FROM (SELECT * FROM near UNION ALL SELECT * FROM worded) GROUP BY number
)
SELECT memories.text FROM fused JOIN memories USING (number) ORDER BY score DESC LIMIT {LIMIT}
"""


class SqlitePair:
    """Both extensions in one file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._connection = apsw.Connection(str(folder / "memories.db"))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(sqlite_vec.loadable_path())
        # apsw runs a statement when its rows are asked for; there are several.
        self._connection.execute(_TABLES).fetchall()
        self._count = 0

    def add(self, batch: Batch) -> None:
        """Store some memories."""
        numbers = range(self._count, self._count + len(batch.texts))
        rows = list(zip(numbers, batch.texts, batch.categories, strict=True))
        with self._connection:
            self._connection.executemany("INSERT INTO memories VALUES (?, ?, ?)", rows)
            self._connection.executemany(
                "INSERT INTO words (rowid, text) VALUES (?, ?)", [row[:2] for row in rows]
            )
            self._connection.executemany(
                "INSERT INTO meanings VALUES (?, ?)",
                [(number, vector.tobytes()) for number, vector in zip(numbers, batch.vectors, strict=True)],
            )
        self._count += len(rows)

    def ready(self) -> None:
        """Make one segment of the word index."""
        self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")

    def ways(self) -> Sequence[Way]:
        """Return the one way of asking."""
        return (Way("SQLite FTS5 + sqlite-vec, RRF", self._recall),)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _recall(self, question: Question) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in content_words(question.text))
        found = self._connection.execute(_RECALL, (question.vector.tobytes(), words))
        return [str(text) for (text,) in found]
