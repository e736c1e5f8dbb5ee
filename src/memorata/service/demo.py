"""The demo's conversation of seven months, which was written for this purpose and ships with the package."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import Final

from memorata.model.memory import Memory
from memorata.service.codec import memory_arguments

CONVERSATION: Final = "demo_conversation.jsonl"
ASKED: Final = datetime(2026, 11, 15, 9, tzinfo=UTC)
"""When the questions are asked: two days after the conversation ends."""


def conversation() -> tuple[Memory, ...]:
    """Return the memories of the demo, oldest first."""
    lines = files("memorata.service").joinpath(CONVERSATION).read_text(encoding="utf-8").splitlines()
    return tuple(Memory(**memory_arguments(json.loads(line))) for line in lines)
