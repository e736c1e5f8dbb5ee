"""Makes the database files of this folder, each with the code of a commit that had its schema.

They are kept so that today's code is held to opening them (test_released_schemas.py). Run from the top of the
repository, and only to add the file of a newly released schema::

    python tests/store/sqlite/released/make.py 2
"""

import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).parent

COMMITS = {
    1: "7c08c6a36ced1c33a0f64382992f603372711cfb",
    2: "c5096d24d7535443de763b817e9dc58af1a7cc2e",
}
"""A commit that wrote each schema as it was released."""

FILLING = """
import sys
from datetime import UTC, datetime, timedelta
import memorata
from memorata.embed import LexicalEmbedder
from memorata.model import Place, Source

START = datetime(2026, 5, 7, 12, tzinfo=UTC)
now = iter(START + timedelta(minutes=number) for number in range(10_000))
memory = memorata.open(sys.argv[1], embedder=LexicalEmbedder(dimension=16), clock=lambda: next(now))
memory.remember("Anna prefers green tea in the morning.", id="tea", category="preference", tags=("drinks",),
                confidence=0.75, importance=1 / 3, metadata={"cup": {"size": [1, None, 0.1]}},
                source=Source("Anna", "breakfast", 0, "https://example.org/1"), entities=("Anna",))
memory.remember("Bob moved to Lisbon.", id="lisbon", place=Place(38.72, -9.14, "Lisbon"), tier="episodic",
                valid_from=START - timedelta(days=9), source=Source("Bob", "breakfast", 1))
memory.remember("Bob moved on to Porto.", id="porto", supersedes=("lisbon",),
                place=Place(41.15, -8.61, "Porto"))
memory.remember("Zoë wrote: «naïve» 👩‍🚀 שלום", id="zoe", expires_at=START + timedelta(days=36500))
memory.remember("Nobody needs this any more.", id="gone")
memory.forget("gone")
memory.remember("The meeting is about tea, too.", id="other", namespace="acme/alice")
memory.remember("A secret that was purged.", id="purged")
memory.purge("purged")
if hasattr(memory, "relate"):
    memory.relate("Anna", "works_at", "Bank of England", memory="tea")
    memory.describe_entity("Bob", type="person", aliases=["Robert"], description="moves a lot")
    memory.describe_entity("Annie", type="person")
    memory.merge_entities("Anna", "Annie")
# Enough for a segment, so that its words and codes are in the file as well.
memory.remember_many({"id": f"n{n}", "content": f"Note {n} about the garden."} for n in range(260))
assert memory.check() == []
memory.store.vacuum()
memory.close()
"""


def make(schema: int) -> Path:
    """Return the file of a schema, written by the code of its time."""
    target = HERE / f"schema-{schema}.db.gz"
    archive = subprocess.run(
        ["git", "archive", COMMITS[schema], "src"], check=True, capture_output=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        made = Path(folder) / "made.db"
        subprocess.run(
            [sys.executable, "-c", FILLING, str(made)],
            check=True,
            env={**os.environ, "PYTHONPATH": str(Path(folder) / "src")},
        )
        target.write_bytes(gzip.compress(made.read_bytes(), mtime=0))
    return target


if __name__ == "__main__":
    for number in map(int, sys.argv[1:]):
        path = make(number)
        sys.stdout.write(f"{path.name}: {path.stat().st_size} bytes\n")
