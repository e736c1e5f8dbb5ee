"""Installing into the settings of agents: what is added, what stays, and that nothing is left behind."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memorata.extend.errors import InvalidArgument
from memorata_agents.hooks.daemon import AGENTS
from memorata_agents.hooks.install import edits, installed

ROOT = Path(__file__).parents[3]
SETTINGS = {
    ".claude/settings.json": {
        "model": "opus",
        "hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]},
    },
    ".claude.json": {"numStartups": 3, "mcpServers": {"other": {"command": "other"}}},
    ".codex/hooks.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}},
    ".cursor/hooks.json": {"version": 1, "hooks": {"stop": [{"command": "say done"}]}},
    ".cursor/mcp.json": {"mcpServers": {"other": {"url": "http://localhost"}}},
}
CODEX = '# mine\nmodel = "gpt-5"\n\n[mcp_servers.other]\ncommand = "other"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home in which every agent has settings of its own."""
    for name, data in SETTINGS.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(data, indent=2) + "\n")
    (tmp_path / ".codex" / "config.toml").write_text(CODEX)
    return tmp_path


def files(home: Path) -> dict[str, str]:
    return {str(path.relative_to(home)): path.read_text() for path in home.rglob("*") if path.is_file()}


def change(agent: str, home: Path, *, remove: bool) -> None:
    for edit in edits(agent, home, remove=remove):
        edit.apply()


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_installed_is_taken_out_again_and_the_rest_is_as_it_was(agent: str, home: Path) -> None:
    before = files(home)
    change(agent, home, remove=False)
    assert installed(agent, home)
    assert files(home) != before
    change(agent, home, remove=True)
    assert files(home) == before
    assert not installed(agent, home)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_home_without_settings_is_left_without_any(agent: str, tmp_path: Path) -> None:
    change(agent, tmp_path, remove=False)
    assert installed(agent, tmp_path)
    change(agent, tmp_path, remove=True)
    assert files(tmp_path) == {}


@pytest.mark.parametrize("agent", AGENTS)
def test_installing_twice_changes_nothing_more(agent: str, home: Path) -> None:
    change(agent, home, remove=False)
    assert edits(agent, home, remove=False) == []


def test_an_older_command_is_replaced(home: Path) -> None:
    for edit in edits("claude-code", home, remove=False, command="/old/bin/memorata-hook"):
        edit.apply()
    change("claude-code", home, remove=False)
    settings = (home / ".claude" / "settings.json").read_text()
    assert "/old/bin" not in settings
    assert settings.count("memorata-hook claude-code") == 5


@pytest.mark.parametrize(
    ("hook", "server"),
    [
        ("memorata-hook", "memorata"),
        ("/v/bin/memorata-hook", "/v/bin/memorata"),
        ("C:\\v\\memorata-hook.EXE", "C:\\v\\memorata.EXE"),
    ],
)
def test_the_server_is_started_from_where_the_hook_is(home: Path, hook: str, server: str) -> None:
    for agent in AGENTS:
        for edit in edits(agent, home, remove=False, command=hook):
            edit.apply()
    codex = tomllib.loads((home / ".codex" / "config.toml").read_text())
    entries = [
        codex["mcp_servers"],
        *(
            json.loads((home / name).read_text())["mcpServers"]
            for name in (".claude.json", ".cursor/mcp.json")
        ),
    ]
    assert [entry["memorata"]["command"] for entry in entries] == [server] * 3
    assert all(installed(agent, home) for agent in AGENTS)


def test_a_command_in_a_folder_with_spaces_is_quoted(home: Path) -> None:
    (edit, *_) = edits("claude-code", home, remove=False, command="/home/anna b/bin/memorata-hook")
    assert '\\"/home/anna b/bin/memorata-hook\\" claude-code' in (edit.after or "")
    edit.apply()
    assert installed("claude-code", home)


def test_hooks_of_others_stay_beside_ours(home: Path) -> None:
    change("claude-code", home, remove=False)
    data: dict[str, Any] = json.loads((home / ".claude" / "settings.json").read_text())
    commands = [hook["command"] for group in data["hooks"]["Stop"] for hook in group["hooks"]]
    assert commands == ["say done", "memorata-hook claude-code"]
    assert data["model"] == "opus"


def test_codex_keeps_its_comments_and_its_other_servers(home: Path) -> None:
    change("codex", home, remove=False)
    text = (home / ".codex" / "config.toml").read_text()
    assert text.startswith(CODEX)
    assert tomllib.loads(text)["mcp_servers"].keys() == {"other", "memorata"}


def test_what_was_set_for_our_server_in_codex_stays_until_it_goes(home: Path) -> None:
    change("codex", home, remove=False)
    path = home / ".codex" / "config.toml"
    own = (
        path.read_text()
        + '\n[mcp_servers.memorata.env]\nMEMORATA_DB = "/m.db"\n\n[projects."/x"]\ntrust = 1\n'
    )
    path.write_text(own)
    change("codex", home, remove=False)
    assert tomllib.loads(path.read_text()) == tomllib.loads(own)
    change("codex", home, remove=True)
    assert tomllib.loads(path.read_text()) == {**tomllib.loads(CODEX), "projects": {"/x": {"trust": 1}}}


@pytest.mark.parametrize(
    ("agent", "name", "content"),
    [
        ("claude-code", ".claude/settings.json", "{"),
        ("cursor", ".cursor/mcp.json", "[]"),
        ("codex", ".codex/config.toml", "= 1"),
    ],
)
def test_settings_that_cannot_be_read_are_left_alone(agent: str, name: str, content: str, home: Path) -> None:
    (home / name).write_text(content)
    before = files(home)
    with pytest.raises(InvalidArgument, match="mend it first"):
        edits(agent, home, remove=False)
    assert files(home) == before


def test_an_agent_that_is_not_known() -> None:
    with pytest.raises(InvalidArgument, match="claude-code"):
        edits("clippy", Path("/nowhere"), remove=False)


@pytest.mark.parametrize(
    ("agent", "name"), [("claude-code", "hooks"), ("codex", "codex"), ("cursor", "cursor")]
)
def test_the_plugin_has_the_same_hooks(agent: str, name: str, tmp_path: Path) -> None:
    hooks = edits(agent, tmp_path, remove=False)[0]
    assert (ROOT / "plugin" / "hooks" / f"{name}.json").read_text() == hooks.after


def test_manifests_name_files_that_are_there() -> None:
    from memorata import __version__

    for folder in (".claude-plugin", ".codex-plugin", ".cursor-plugin"):
        manifest = json.loads((ROOT / "plugin" / folder / "plugin.json").read_text())
        assert (manifest["name"], manifest["version"]) == ("memorata", __version__)
        for name in ("hooks", "mcpServers", "skills"):
            assert name not in manifest or (ROOT / "plugin" / manifest[name]).exists()
    for market, manifest_folder in (
        (".claude-plugin", ".claude-plugin"),
        (".agents/plugins", ".codex-plugin"),
        (".cursor-plugin", ".cursor-plugin"),
    ):
        listed = json.loads((ROOT / market / "marketplace.json").read_text())
        (plugin,) = listed["plugins"]
        source = plugin["source"] if isinstance(plugin["source"], str) else plugin["source"]["path"]
        assert (ROOT / source / manifest_folder / "plugin.json").exists()
