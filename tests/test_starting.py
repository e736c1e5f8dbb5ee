"""What a new process loads before its first answer: what a recall needs, and nothing of the other verbs."""

import subprocess
import sys
from pathlib import Path

import recollect

ASKED = """
import sys, recollect
with recollect.open({path!r}, embedder=None) as memory:
    assert memory.recall("tea").hits[0].memory.content == "Anna drinks green tea"
print("\\n".join(sys.modules))
"""

OF_OTHER_VERBS = {
    "recollect.duplicates.near": "remembering",
    "recollect.duplicates.strategies": "finding duplicates",
    "recollect.embed.select": "opening an embedder by its name",
    "recollect.engine.duplicate_search": "finding duplicates",
    "recollect.engine.graph_answers": "asking the graph",
    "recollect.engine.hearing": "remembering",
    "recollect.engine.summarising": "consolidating",
    "recollect.exchange.formats": "importing",
    "recollect.graph.summaries": "describing communities",
    "recollect.store.filters": "asking with a filter",
    "recollect.store.postgres.store": "opening a server",
    "recollect.store.repeats": "finding duplicates",
    "recollect.text.names": "remembering",
    "recollect.text.secrets": "redacting",
}
ELSEWHERE = {
    "asyncio",
    "difflib",
    "email",
    "http",
    "multiprocessing",
    "numpy.ma",
    "pydantic",
    "socket",
    "ssl",
}


def loaded(path: Path) -> set[str]:
    code = ASKED.format(path=str(path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_first_recall_of_a_process_loads_nothing_of_the_other_verbs(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memories.db", embedder=None) as memory:
        memory.remember("Anna drinks green tea", source={"session": "kitchen", "position": 1})
        memory.remember("It rained", source={"session": "kitchen", "position": 2})
    found = loaded(tmp_path / "memories.db")
    assert "recollect.engine.recalling" in found
    for module, verb in OF_OTHER_VERBS.items():
        assert module not in found, f"{module} is for {verb}"
    assert not found & ELSEWHERE
