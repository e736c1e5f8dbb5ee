"""mem0: a stand-in for its ``Memory`` and ``AsyncMemory``; see :mod:`memorata_agents.mem0.memory`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from memorata_agents.mem0.memory import Memory

__all__ = ["AsyncMemory", "Memory"]


class AsyncMemory:
    """What mem0 calls an asynchronous memory: the verbs of :class:`Memory`, awaited."""

    def __init__(
        self,
        config: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None,
        **options: Any,  # noqa: ANN401 - those of Memory
    ) -> None:
        self._memory = Memory(config, **options)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one by a configuration of mem0's."""
        return cls(config_dict)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the memory; the one verb that mem0 does not await."""
        self._memory.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb = getattr(self._memory, name)

        async def awaited(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of the verb
            return await asyncio.to_thread(verb, *args, **kwargs)

        return awaited
