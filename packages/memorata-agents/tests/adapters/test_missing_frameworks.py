"""An adapter whose framework is not installed says what to install."""

import importlib
import sys

import pytest

from memorata.extend.errors import MissingExtra


@pytest.mark.parametrize(
    ("adapter", "module", "package"),
    [
        ("agent_framework", "agent_framework", "agent-framework-core"),
        ("agno", "agno", "agno"),
        ("anthropic", "anthropic", "anthropic"),
        ("crewai", "crewai", "crewai"),
        ("google_adk", "google.adk", "google-adk"),
        ("langgraph", "langgraph", "langgraph-checkpoint"),
        ("llama_index", "llama_index", "llama-index-core"),
        ("openai_agents", "agents", "openai-agents"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai-slim"),
        ("strands", "strands", "strands-agents"),
    ],
)
def test_the_line_to_install_it(
    adapter: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name == module or name.startswith(module + ".")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, f"memorata_agents.{adapter}", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=f"pip install {package}"):
        importlib.import_module(f"memorata_agents.{adapter}")
