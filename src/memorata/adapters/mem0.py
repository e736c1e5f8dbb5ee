"""mem0: a stand-in for its ``Memory`` and ``AsyncMemory``; see :mod:`memorata.service.mem0`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from memorata.service.mem0 import Memory

__all__ = ["AsyncMemory", "Memory"]


class AsyncMemory:
    """What mem0 calls an asynchronous memory: the verbs of :class:`Memory`, awaited."""

    def __init__(self, config: Mapping[str, Any] | None = None, **options: Any) -> None:  # noqa: ANN401
        self._memory = Memory(config, **options)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> AsyncMemory:
        """Make one by a configuration of mem0's."""
        return cls(config_dict)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb = getattr(self._memory, name)

        async def awaited(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of the verb
            return await asyncio.to_thread(verb, *args, **kwargs)

        return awaited
