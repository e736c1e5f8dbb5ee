"""Supersedes duplicates one group at a time, and says so after each; killed by test_duplicates_kill.py."""

import sys
from pathlib import Path

import memorata
from memorata.engine import duplicates


def main(path: Path) -> None:
    duplicates._GROUPS_PER_TRANSACTION = 1  # type: ignore[misc]

    def told(what: str, done: int, total: int) -> None:
        sys.stdout.write(f"{done}\n")
        sys.stdout.flush()

    with memorata.open(path, embedder="lexical", config={"duplicates": "off"}) as engine:
        found = engine.admin.duplicates.find()
        engine.admin.duplicates.supersede(found.groups, progress=told)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
