"""A recipe with a leg of a satellite that is not installed."""

import subprocess
import sys

CODE = """
import importlib.metadata
importlib.metadata.entry_points = lambda **chosen: ()
import memorata
with memorata.open(":memory:", embedder="lexical") as memory:
    memory.remember("Anna drinks tea", entities=["Anna"])
    print(len(memory.recall("tea", recipe="balanced")))
    memory.recall("tea", recipe={"graph": "walk"})
"""


def test_the_line_that_installs_it_is_named() -> None:
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert ran.stdout == "1\n"
    assert "MissingExtra: the leg walk needs a package that is not installed: " in ran.stderr
    assert ran.stderr.endswith("pip install . packages/memorata-graph\n")
