"""docs/mcp.md says what is: its JSON can be pasted, its commands exist, its table is that of the tools."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memorata.cli.app import app
from memorata_server.mcp.answers import DEFAULT_BUDGET, MAX_BUDGET, MIN_BUDGET, PROMPT
from memorata_server.mcp.tools import tools

TEXT = (Path(__file__).parents[4] / "docs" / "mcp.md").read_text("utf-8")
BLOCKS = re.findall(r"```json\n(.*?)```", TEXT, re.S)


def servers(block: str) -> dict[str, Any]:
    whole = json.loads(block)
    (key,) = whole
    assert key in ("mcpServers", "servers")
    found: dict[str, Any] = whole[key]["memorata"]
    return found


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_can_be_pasted_and_names_a_command_that_works(block: str) -> None:
    server = servers(block)
    if "url" in server:
        assert server["url"] == "http://127.0.0.1:8766/mcp"
        assert set(server) <= {"type", "url"}
        return
    assert set(server) <= {"type", "command", "args", "env"}
    assert server["command"] == "memorata"
    ran = CliRunner().invoke(app, [*server["args"], "--help"])
    assert ran.exit_code == 0, ran.output


def test_there_is_a_block_for_every_client() -> None:
    assert len(BLOCKS) == 6
    for client in ("Claude Desktop", "Claude Code", "Cursor", "VS Code"):
        assert f"## {client}\n" in TEXT


def test_the_table_is_that_of_the_tools() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .*? \| (yes|no) \| (yes|no) \| (yes|no) \|$", TEXT, re.M)
    told = {name: tuple(word == "yes" for word in hints) for name, *hints in rows}
    assert told == {tool.name: (tool.read_only, tool.destructive, tool.idempotent) for tool in tools()}


def test_numbers_and_names_are_those_of_the_program() -> None:
    assert f"about {DEFAULT_BUDGET:,} tokens" in TEXT
    assert f"from {MIN_BUDGET} to {MAX_BUDGET:,}" in TEXT
    assert f"`{PROMPT.name}`" in TEXT
