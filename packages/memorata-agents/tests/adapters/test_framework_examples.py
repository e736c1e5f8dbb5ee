"""The examples of the frameworks: what one process was told, another one knows."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[4] / "examples" / "frameworks"
NEEDS = {
    "agent_framework_context": "agent_framework",
    "agno_knowledge": "agno",
    "anthropic_memory_tool": "anthropic",
    "crewai_storage": "crewai",
    "google_adk_memory": "google.adk",
    "haystack_pipeline": "haystack_integrations",
    "langchain_middleware": "langchain",
    "langgraph_store": "langgraph.graph",
    "llama_index_memory": "llama_index.core",
    "mem0_class": "memorata",
    "openai_agents": "agents",
    "pydantic_ai_capability": "pydantic_ai",
    "strands_agents": "strands",
}
CONVERSATION = """user: We deploy on Fridays.
agent: Noted.
user: When do we deploy?
agent: On Fridays.
"""


def test_every_example_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*NEEDS, "two_processes"}


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_one_process_is_told_and_another_one_knows(name: str) -> None:
    if not is_installed(NEEDS[name]):
        pytest.skip("make test-adapters installs it")
    offline = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **offline},
        check=False,
    )
    assert done.stdout == CONVERSATION, done.stderr
