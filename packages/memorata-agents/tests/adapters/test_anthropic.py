"""Anthropic's memory tool: commands to the SDK's own tool on files and to ours give the same answers."""

import asyncio
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata import Engine

pytest.importorskip("anthropic", reason="make test-adapters installs it")

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from memorata_agents.anthropic import MemorataAsyncMemoryTool, MemorataMemoryTool

ROOT = "/memories"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as memory:
        yield memory


def answer(tool: Any, command: dict[str, Any]) -> str:
    """Return what a tool answers; how large a directory is depends on the file system."""
    try:
        text = str(tool.call(command))
    except ToolError as error:
        text = f"error: {error}"
    viewed = re.escape(command.get("path", ROOT))
    return re.sub(rf"^[0-9.]+[BKMG]\t({ROOT}(?:.*/|/?)|{viewed})$", r"-\t\1", text, flags=re.M)


def command(name: str, **arguments: Any) -> dict[str, Any]:
    return {"command": name, **arguments}


def commands(path: str) -> list[dict[str, Any]]:
    return [
        command("view", path=path),
        command("create", path=path, file_text="one\ntwo\n\nfour\ntwo"),
        command("create", path=path, file_text="again"),
        command("view", path=path),
        command("view", path=path, view_range=[2, 3]),
        command("view", path=path, view_range=[4, -1]),
        command("str_replace", path=path, old_str="one", new_str="ONE\nand more"),
        command("str_replace", path=path, old_str="two", new_str="2"),
        command("str_replace", path=path, old_str="three", new_str="3"),
        command("insert", path=path, insert_line=0, insert_text="zero\n"),
        command("insert", path=path, insert_line=3, insert_text="between"),
        command("insert", path=path, insert_line=99, insert_text="far"),
        command("insert", path=path, insert_line=-1, insert_text="far"),
        command("view", path=path),
        command("view", path=ROOT),
    ]


SEQUENCE = [
    *commands(f"{ROOT}/notes.txt"),
    *commands(f"{ROOT}/a/b/deep.md"),
    command("create", path=f"{ROOT}/a/.hidden", file_text="x"),
    command("create", path=f"{ROOT}/a/blank", file_text=""),
    command("view", path=f"{ROOT}/a/blank"),
    command("insert", path=f"{ROOT}/a/blank", insert_line=0, insert_text="first"),
    command("view", path=f"{ROOT}/a/blank"),
    command("create", path=f"{ROOT}/a/large", file_text="x" * 1536),
    command("view", path=f"{ROOT}/a"),
    command("view", path=ROOT),
    command("create", path=f"{ROOT}/a", file_text="x"),
    command("str_replace", path=f"{ROOT}/a", old_str="x", new_str="y"),
    command("insert", path=f"{ROOT}/a", insert_line=0, insert_text="y"),
    command("str_replace", path=f"{ROOT}/none", old_str="x", new_str="y"),
    command("insert", path=f"{ROOT}/none", insert_line=0, insert_text="y"),
    command("rename", old_path=f"{ROOT}/none", new_path=f"{ROOT}/other"),
    command("rename", old_path=f"{ROOT}/notes.txt", new_path=f"{ROOT}/a/blank"),
    command("rename", old_path=f"{ROOT}/notes.txt", new_path=f"{ROOT}/n/m.txt"),
    command("view", path=f"{ROOT}/n/m.txt"),
    command("rename", old_path=f"{ROOT}/a", new_path=f"{ROOT}/z"),
    command("view", path=f"{ROOT}/z/b/deep.md"),
    command("view", path=f"{ROOT}/a"),
    command("rename", old_path=ROOT, new_path=f"{ROOT}/y"),
    command("delete", path=ROOT),
    command("delete", path=f"{ROOT}/none"),
    command("delete", path=f"{ROOT}/z"),
    command("delete", path=f"{ROOT}/z"),
    command("view", path=ROOT),
    command("view", path="/etc/passwd"),
    command("view", path=f"{ROOT}/../secret"),
    command("create", path=f"{ROOT}/x/../../secret", file_text="x"),
    command("create", path=f"{ROOT}/x/../plain", file_text="x"),
    command("view", path=f"{ROOT}/plain"),
]


def test_the_same_commands_give_the_same_answers(engine: Engine, tmp_path: Path) -> None:
    theirs, ours = BetaLocalFilesystemMemoryTool(str(tmp_path)), MemorataMemoryTool(engine)
    for number, each in enumerate(SEQUENCE):
        assert answer(ours, each) == answer(theirs, each), (number, each)


# A directory without files is there for them and not for us, so one file in it is left alone.
PATHS = st.sampled_from([f"{ROOT}/a", f"{ROOT}/b", f"{ROOT}/d/a", f"{ROOT}/d/b"])
TEXTS = st.text(alphabet="ab \n", max_size=8)
COMMANDS = st.one_of(
    st.builds(command, st.just("view"), path=st.one_of(PATHS, st.just(ROOT), st.just(f"{ROOT}/d"))),
    st.builds(command, st.just("create"), path=PATHS, file_text=TEXTS),
    st.builds(
        command, st.just("str_replace"), path=PATHS, old_str=st.text("ab\n", min_size=1), new_str=TEXTS
    ),
    st.builds(command, st.just("insert"), path=PATHS, insert_line=st.integers(-1, 5), insert_text=TEXTS),
    st.builds(command, st.just("delete"), path=PATHS),
    st.builds(command, st.just("rename"), old_path=PATHS, new_path=PATHS),
)


@given(st.lists(COMMANDS, max_size=12))
def test_random_commands_give_the_same_answers(steps: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder, memorata.open(":memory:", embedder="lexical") as engine:
        theirs, ours = BetaLocalFilesystemMemoryTool(folder), MemorataMemoryTool(engine)
        for each in (command("create", path=f"{ROOT}/d/keep", file_text="kept"), *steps):
            assert answer(ours, each) == answer(theirs, each), each


def test_notes_are_recalled_and_have_a_history(engine: Engine) -> None:
    tool = MemorataMemoryTool(engine)
    tool.call(command("create", path=f"{ROOT}/team.md", file_text="We deploy on Fridays."))
    tool.call(command("str_replace", path=f"{ROOT}/team.md", old_str="Fridays", new_str="Mondays"))
    (hit,) = engine.recall("When do we deploy?", namespace="claude").hits
    assert hit.memory.content == "We deploy on Mondays."
    versions = engine.history(hit.memory.id, namespace="claude")
    assert [version.content for version in versions] == ["We deploy on Fridays.", "We deploy on Mondays."]
    assert tool.clear_all_memory() == "All memory cleared"
    assert engine.list(namespace="claude").memories == ()


def test_what_memory_refuses_is_told_to_the_model(engine: Engine) -> None:
    with pytest.raises(ToolError, match="1,000 characters"):
        MemorataMemoryTool(engine).call(command("create", path=f"{ROOT}/{'x' * 1_000}", file_text="x"))


def test_awaited(engine: Engine) -> None:
    async def main() -> None:
        tool = MemorataAsyncMemoryTool(engine)
        assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
        await tool.call(command("create", path=f"{ROOT}/a", file_text="tea"))
        assert "tea" in str(await tool.call(command("view", path=f"{ROOT}/a")))
        with pytest.raises(ToolError, match="does not exist"):
            await tool.call(command("view", path=f"{ROOT}/b"))
        assert await tool.clear_all_memory() == "All memory cleared"

    asyncio.run(main())
