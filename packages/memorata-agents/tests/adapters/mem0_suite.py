"""Plugin of pytest that asks mem0's own tests of the drop-in: `make test-adapters` fetches and runs them.

Most of them look inside mem0: they set the answers of its vector store and read what reaches it. The drop-in
has no such parts, so these tests are skipped, each with the names that it looks at. The behaviour is asked of
mem0 and of the drop-in in test_mem0_behaviour.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any
from unittest.mock import Mock

import mem0
import mem0.memory.main
import pytest

from memorata_agents.mem0 import AsyncMemory, Memory

PARTS = ("vector_store", "embedding_model", "llm", "db")
INSIDES = {*PARTS, "mock_vector_store", "collection_name", "call_args"}
SET_UP_ONLY = (
    "test_async_delete_nonexistent_memory_raises_error",
    "test_delete_nonexistent_memory_raises_error",
    "test_reset_skips_graph_when_graph_disabled",
    "test_search_accepts_threshold_one",
    "test_search_accepts_threshold_zero",
    "test_search_accepts_top_k_zero",
    "test_search_rejects_empty_query",
)
"""Tests that prepare a part of mem0, but whose result is that of a public verb."""
OTHERWISE = dict.fromkeys(
    (
        "test_async_add_timestamp_raises_before_validation",
        "test_async_search_reference_date_raises_before_validation",
        "test_sync_add_timestamp_raises_before_validation",
        "test_sync_search_reference_date_raises_before_validation",
    ),
    "mem0 refuses times of the caller, which only its platform takes; the drop-in takes them",
) | {"test_no_warning_for_store_with_keyword_search": "the drop-in has no vector stores to choose from"}
"""Tests of behaviour that the drop-in does not share, and the reason."""


class SyncDropIn(Memory):
    """The drop-in, with parts that tests may prepare and that it never asks."""

    def __init__(self, *details: Any) -> None:
        super().__init__(*details)
        vars(self).update({part: Mock() for part in PARTS})


class AsyncDropIn(AsyncMemory):
    """The awaited drop-in, likewise."""

    def __init__(self, *details: Any) -> None:
        super().__init__(*details)
        vars(self).update({part: Mock() for part in PARTS})


# Before the tests are imported, as they import the classes by name.
for module in (mem0, mem0.memory.main):
    vars(module).update(Memory=SyncDropIn, AsyncMemory=AsyncDropIn)


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test an empty database of its own."""
    monkeypatch.setenv("MEMORATA_DB", str(tmp_path / "memories.db"))
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Skip the tests that cannot be asked of the drop-in, with the reason."""
    for item in items:
        if reason := left_out(item):
            item.add_marker(pytest.mark.skip(reason=reason))


def left_out(item: pytest.Function) -> str:
    """Return why a test cannot be asked of the drop-in, or an empty text."""
    name = item.originalname
    if name in OTHERWISE or name in SET_UP_ONLY:
        return OTHERWISE.get(name, "")
    if "memory_client" in item.fixturenames:
        return "every verb is replaced by a mock"
    own, used = set(), set()
    for code in codes(item.function):
        own |= {name for name in code.co_names if name.startswith("_") and not name.startswith("__")}
        used |= {*code.co_names, *code.co_varnames}
    helpers = vars(item.module).keys() - vars(mem0.memory.main).keys()
    if inside := sorted(own - helpers | used & INSIDES):
        return f"looks inside mem0: {', '.join(inside)}"
    if used & {"Memory", "AsyncMemory", "memory_instance"}:
        return ""
    return "calls functions of mem0's, not a memory"


def codes(function: Callable[..., object]) -> Iterator[CodeType]:
    """Yield the code of a test, of the functions in it, and of the helpers beside it that it calls."""
    function = inspect.unwrap(function)
    helpers, waiting, seen = function.__globals__, [function.__code__], set()
    while waiting:
        code = waiting.pop()
        if code in seen:
            continue
        seen.add(code)
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        called = (helpers.get(name) for name in code.co_names)
        waiting += [
            other.__code__
            for other in called
            if isinstance(other, FunctionType) and other.__globals__ is helpers
        ]
