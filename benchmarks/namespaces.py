"""Several namespaces at once: what a recall across them finds of what one namespace with all of it finds.

    python -m benchmarks.namespaces locomo_dev.json.gz

The sessions of a conversation are dealt out to a large, a middle and a small namespace (six, three and one of
ten), and the same questions are asked of these three at once and of one that holds everything.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import Any, Final

import memorata
from memorata import Engine
from memorata.engine.recall.result import RecallResult
from memorata_lab.evaluate.dataset import Document, Haystack
from memorata_lab.evaluate.datasets.conversations import read_locomo

PARTS: Final = ("parts/large", "parts/middle", "parts/small")
_SHARES: Final = (0, 0, 0, 0, 0, 0, 1, 1, 1, 2)


def fill(memory: Engine, haystack: Haystack) -> None:
    """Write a conversation whole, and dealt out by session."""
    sessions: dict[str, int] = {}
    items: list[dict[str, Any]] = []
    for document in haystack.documents:
        number = sessions.setdefault(document.session, len(sessions))
        paths = "whole", PARTS[_SHARES[number % len(_SHARES)]]
        items += [{**_fields(document), "namespace": path} for path in paths]
    memory.remember_many(items, duplicates="off")


def _fields(document: Document) -> dict[str, Any]:
    source = {"session": document.session, "speaker": document.speaker, "position": document.position}
    return {"id": document.id, "content": document.text, "created_at": document.when, "source": source}


def main() -> int:
    """Measure, and print recall@10 and hit@1 of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--conversations", type=int, default=2)
    parser.add_argument("--questions", type=int, default=150)
    given = parser.parse_args()
    asked = 0
    found = {"whole": 0.0, "across": 0.0}
    first = dict.fromkeys(found, 0)
    for haystack in islice(read_locomo(given.file).haystacks(), given.conversations):
        with memorata.open(":memory:", embedder="builtin") as memory:
            fill(memory, haystack)
            for question in haystack.questions[: given.questions]:
                if not question.relevant:
                    continue
                asked += 1
                results: dict[str, RecallResult] = {
                    "whole": memory.recall(question.text, namespace="whole", min_confidence=0),
                    "across": memory.admin.namespaces.recall(question.text, PARTS, min_confidence=0),
                }
                for name, result in results.items():
                    ids = [hit.memory.id for hit in result]
                    found[name] += len(question.relevant.keys() & set(ids)) / len(question.relevant)
                    first[name] += bool(ids) and ids[0] in question.relevant
    for name in found:
        sys.stdout.write(
            f"{name}: recall@10 {found[name] / asked:.3f}, hit@1 {first[name] / asked:.3f}, {asked}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
