"""Writes memories one after the other and says so, until it is killed; run by `test_reliability.py`."""

import sys
from itertools import count
from pathlib import Path

from memorata_postgres.store import PostgresStore

# Run as a script, it has only its own folder to import from.
sys.path.insert(0, str(Path(__file__).parents[3]))

from memorata.testing.samples import DIMENSION, EMBEDDER, direction, entry

if __name__ == "__main__":
    store = PostgresStore(sys.argv[1])
    store.use_embedder(EMBEDDER, DIMENSION)
    for number in count():
        name = f"{sys.argv[2]}-{number}"
        store.add([entry(f"{name}a", "tea and milk", direction(1)), entry(f"{name}b", "tea")])
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
