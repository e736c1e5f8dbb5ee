"""Every example runs from the command line, warns of nothing, and shows what its docstring promises.

With the models of a plain installation, as for a reader who tries it.
"""

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
ARGUMENTS = {"demo.py": ("--embedder", "lexical")}


@cache
def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "utf8", "-W", "error", str(EXAMPLES / name), *arguments]
    plain = {**os.environ, "MEMORATA_MODELS": str(EXAMPLES / "no-models")}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=plain)


def lines(name: str, *arguments: str) -> dict[str, str]:
    """Return what an example printed, by the word before the colon."""
    printed = run(name, *arguments).stdout.splitlines()
    return {line.partition(":")[0]: line.partition(":")[2].strip() for line in printed}


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_every_example_runs_cleanly(name: str) -> None:
    done = run(name, *ARGUMENTS.get(name, ()))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_remember_and_recall_shows_the_verbs() -> None:
    said = lines("remember_and_recall.py")
    assert said["recalled"] == "Lea takes her coffee with oat milk."
    assert said["corrected"] == "['Lea lives in Tromsø now.']"
    assert said["history"] == "['Lea lives in Bergen.', 'Lea lives in Tromsø now.']"
    assert said["filtered"] == said["restored"] == "['Lea takes her coffee with oat milk.']"
    assert said["forgotten"] == "[]"
    assert said["kept"] == "4"


def test_just_the_algorithms_needs_nothing_but_the_ranking_core() -> None:
    tree = ast.parse((EXAMPLES / "just_the_algorithms.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"__future__", "memorata.rank"}
    said = lines("just_the_algorithms.py")
    # In both lists first, so first together: 1/61 + 1/61.
    assert ast.literal_eval(said["together"])[0] == "the ferry leaves at noon"
    assert "0.0327869 the ferry leaves at noon = sum of" in said
    # The museum is last by relevance and unlike all the rest, so MMR brings it forward.
    assert ast.literal_eval(said["together"])[-1] == "the museum is closed on mondays"
    assert ast.literal_eval(said["diverse"])[1] == "the museum is closed on mondays"


def test_own_recipe_puts_the_best_of_every_session_first() -> None:
    printed = run("own_recipe.py").stdout.splitlines()
    assert printed[0] == "mine (meaning 0.3):"
    assert "cake" in printed[2]
    assert "cake" not in printed[1] + printed[3]
    assert printed[-1] == "mine, whatever the session: ['monday', 'monday', 'friday']"


def test_the_demo_keeps_its_memories_in_a_new_file_and_refuses_an_old_one(tmp_path: Path) -> None:
    kept = tmp_path / "kept.db"
    assert run("demo.py", str(kept), "--embedder", "lexical").returncode == 0
    run.cache_clear()
    size = kept.stat().st_size
    again = run("demo.py", str(kept), "--embedder", "lexical")
    assert again.returncode == 2
    assert "a file that does not exist yet" in again.stderr
    assert kept.stat().st_size == size
