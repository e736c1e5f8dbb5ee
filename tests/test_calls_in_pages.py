"""Calls that the pages write take arguments that there are, also where an example is not run."""

import ast
import doctest
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import reduce
from pathlib import Path

import pytest

import memorata

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), ROOT / "llms.txt", *ROOT.glob("docs/*.md"), *ROOT.glob("packages/*/README.md")]
)
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
SPAN = re.compile(r"`([^`\n]+\))`")


MEM0 = ("add", "search", "get_all")
"""Verbs of mem0's memory, which two pages call by the same name; their examples are run."""


def calls(text: str) -> Iterator[ast.Call]:
    """Yield the calls of a page: in blocks of Python, and in spans of text that are Python."""
    blocks = [doctest.script_from_examples(code) if ">>>" in code else code for code in BLOCK.findall(text)]
    for code in [*blocks, *SPAN.findall(BLOCK.sub("", text))]:
        try:
            tree = ast.parse(code.replace("…", "..."))
        except SyntaxError:
            continue
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def called(call: ast.Call, memory: memorata.Engine) -> object:
    """Return what a call of `memorata`, of a memory, or of a bare verb of either names; None for all else."""
    names = ast.unparse(call.func).split(".")
    if names[0] in ("memorata", "memory") and names[-1] not in MEM0:
        root, names = {"memorata": memorata, "memory": memory}[names[0]], names[1:]
        return reduce(getattr, names, root) if all(name.isidentifier() for name in names) else None
    if names == ["open"]:
        return memorata.open
    return getattr(memory, names[0], None) if len(names) == 1 else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_calls_in_pages_take_arguments_that_there_are(page: Path) -> None:
    wrong = []
    with memorata.open(":memory:", embedder="lexical") as memory:
        for call in calls(page.read_text("utf-8")):
            try:
                function = called(call, memory)
            except AttributeError as error:
                wrong.append(f"{ast.unparse(call)}: {error}")
                continue
            if not callable(function):
                continue
            parameters = inspect.signature(function).parameters
            open_ended = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
            given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
            unknown = set() if open_ended else given.keys() - parameters.keys()
            if isinstance(config := given.get("config"), ast.Dict):
                keys = {str(key.value) for key in config.keys if isinstance(key, ast.Constant)}
                unknown |= keys - {field.name for field in fields(memorata.Config)}
            if unknown:
                wrong.append(f"{ast.unparse(call)}: {', '.join(sorted(unknown))}")
    assert wrong == []
