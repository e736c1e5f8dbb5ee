"""What a new process loads before its first answer: what a recall needs, and nothing of the other verbs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import memorata

ASKED = """
import sys, memorata
with memorata.open({path!r}, embedder=None) as memory:
    assert memory.recall("tea").hits[0].memory.content == "Anna drinks green tea"
print("\\n".join(sys.modules))
"""

OF_OTHER_VERBS = {
    "memorata.dedupe.verification": "remembering",
    "memorata.dedupe.decisions": "finding duplicates",
    "memorata.embed.selection": "opening an embedder by its name",
    "memorata.engine.duplicate_search": "finding duplicates",
    "memorata.engine.write.deduplication": "remembering",
    "memorata.engine.consolidation": "consolidating",
    "memorata.service.formats": "importing",
    "memorata_graph.graph": "asking the graph",
    "memorata.store.filters": "asking with a filter",
    "memorata_postgres.database": "opening a server",
    "memorata.store.memory.repeats": "finding duplicates",
    "memorata.text.capitalised_names": "remembering",
    "memorata.text.secrets": "redacting",
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
COMMAND = """
import atexit, sys
atexit.register(lambda: print("\\n".join(sys.modules)))
from memorata.cli import main
main()
"""
ASKING_FOR_COLOUR = {"FORCE_COLOR", "TTY_COMPATIBLE"}
NOT_FOR_A_PIPE = {"asyncio", "multiprocessing", "onnxruntime", "pydantic", "rich", "tokenizers"}


def loaded(path: Path) -> set[str]:
    code = ASKED.format(path=str(path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_first_recall_of_a_process_loads_nothing_of_the_other_verbs(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "memories.db", embedder=None) as memory:
        memory.remember("Anna drinks green tea", source={"session": "kitchen", "position": 1})
        memory.remember("It rained", source={"session": "kitchen", "position": 2})
    found = loaded(tmp_path / "memories.db")
    assert "memorata.engine.recall.recaller" in found
    for module, verb in OF_OTHER_VERBS.items():
        assert module not in found, f"{module} is for {verb}"
    assert not found & ELSEWHERE


@pytest.mark.parametrize("command", [("list",), ("recall", "tea"), ("remember", "Tom drinks coffee")])
def test_a_command_in_a_pipe_loads_nothing_that_draws_and_no_model(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    path = tmp_path / "memories.db"
    with memorata.open(path, embedder="lexical") as memory:
        memory.remember("Anna drinks green tea")
    environment = {name: value for name, value in os.environ.items() if name not in ASKING_FOR_COLOUR}
    asked = [sys.executable, "-c", COMMAND, "--db", str(path), "--embedder", "lexical", *command]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    found = set(done.stdout.split())
    assert "memorata.engine.engine" in found
    assert not found & NOT_FOR_A_PIPE
    # The names of embedders are read where one is opened.
    assert ("memorata.embed.selection" in found) == (command != ("list",))


def test_a_frozen_class_is_defined_the_quick_way() -> None:
    files = list(Path(memorata.__file__).parent.rglob("*.py"))
    assert len(files) > 200
    slow = [file.name for file in files if "@dataclass(frozen=True, slots=True" in file.read_text("utf-8")]
    assert slow == []
