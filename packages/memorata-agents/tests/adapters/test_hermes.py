"""Hermes Agent: its own loader finds the plugin, and what one session said is prefetched in another."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

PLUGIN = Path(__file__).parents[2] / "hermes" / "memorata"


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    loader = pytest.importorskip("plugins.memory", reason="make test-adapters installs it")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")
    monkeypatch.delenv("MEMORATA_DB", raising=False)
    shutil.copytree(PLUGIN, tmp_path / "plugins" / "memorata")
    assert "memorata" in loader.list_memory_provider_names()
    loaded = loader.load_memory_provider("memorata")
    assert loaded is not None
    assert loaded.is_available()
    return loaded


def test_a_turn_is_remembered_and_prefetched(provider: Any, tmp_path: Path) -> None:
    def start(session: str, context: str = "primary") -> None:
        provider.initialize(session, hermes_home=str(tmp_path), platform="cli", agent_context=context)

    assert provider.prefetch("When do we deploy?") == ""
    start("s1")
    for _ in range(2):
        provider.sync_turn("From now on we deploy on Fridays.", "Noted.", messages=[{}, {}])
    assert "Fridays" not in provider.prefetch("When do we deploy?")
    provider.on_session_switch("s2", reset=True)
    assert "deploy on Fridays" in provider.prefetch("When do we deploy?")
    assert "deploy on Fridays" in provider.system_prompt_block()
    provider.on_memory_write("add", "user", "Anna plays the cello.")
    call = provider.handle_tool_call
    assert "cello" in json.loads(call("memorata_recall", {"query": "Who plays the cello?"}))["result"]
    assert "remembered" in json.loads(call("memorata_remember", {"content": "Bob sings."}))
    assert "blank" in json.loads(call("memorata_remember", {"content": " "}))["error"]
    assert "error" in json.loads(call("other", {}))
    names = [schema["name"] for schema in provider.get_tool_schemas()]
    assert names == ["memorata_recall", "memorata_remember"]
    provider.shutdown()
    assert (tmp_path / "memorata.db").exists()
    start("s3", "subagent")
    provider.sync_turn("Rain is expected.", "Noted.")
    assert "Rain" not in provider.prefetch("What weather is expected?")
    provider.shutdown()
    assert provider.backup_paths() == []
