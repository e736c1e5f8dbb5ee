"""Seven months of conversation, remembered and asked about, with explanations: what ``make demo`` runs.

Give it the name of a new file to keep the memories, and ``--embedder`` to choose what measures meaning.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from memorata import MemorataError
from memorata.cli.demo import tour

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", nargs="?", type=Path, help="a file that does not exist yet")
    parser.add_argument("--embedder", default="auto", help="auto, builtin, lexical, or an installed model")
    given = parser.parse_args()
    try:
        tour(given.database, embedder=given.embedder)
    except MemorataError as error:
        parser.error(str(error))
