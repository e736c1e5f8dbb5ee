"""Looks after a namespace, or removes it, in a process that its parent kills, of test_maintenance_kill.py.

Says "begin" when the store is open and the work starts, and "end" when it is done.
"""

import sys
from datetime import UTC, datetime

import memorata

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main(path: str, verb: str, namespace: str) -> None:
    with memorata.open(path, embedder="lexical", clock=lambda: NOW) as memory:
        say("begin")
        if verb == "maintain":
            memory.admin.lifecycle.maintain(namespace=namespace)
        else:
            memory.admin.namespaces.purge(namespace)
        say("end")


if __name__ == "__main__":
    main(*sys.argv[1:])
