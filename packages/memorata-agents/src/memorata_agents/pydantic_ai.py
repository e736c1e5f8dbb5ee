"""Pydantic AI: a capability that recalls before a model is asked, and remembers what was said after a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memorata.extend.conversation import BUDGET, Conversation, recalled_text
from memorata.extend.errors import MissingExtra

try:
    from pydantic_ai import FunctionToolset
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
    from pydantic_core import to_json
except ImportError as error:
    raise MissingExtra("The Pydantic AI adapter", "pydantic-ai-slim") from error

if TYPE_CHECKING:
    from pydantic_ai import AgentRunResult, RunContext
    from pydantic_ai.models import ModelRequestContext

    from memorata import Engine


@dataclass
class MemorataMemory(AbstractCapability[Any]):
    """A capability for ``Agent(capabilities=[…])``.

    What concerns the prompt of a run goes before it into every request of that run, and not into the history
    of messages. The model may also look for more itself, by the tool `recall`, unless `tool` is false; what
    it returns is not gated, unless `min_confidence` is given.
    """

    engine: Engine
    namespace: str | None = None
    budget: int = BUDGET
    tool: bool = True
    min_confidence: float | None = None
    _block: str | None = field(default=None, init=False, repr=False)

    async def for_run(self, ctx: RunContext[Any]) -> MemorataMemory:
        """Return one for a run, which recalls once."""
        return replace(self)

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tool by which a model recalls."""
        if not self.tool:
            return None

        def recall(query: str) -> str:
            """Find what is remembered from earlier conversations. Ask a plain question."""
            return recalled_text(
                self.engine, query, namespace=self.namespace, min_confidence=self.min_confidence
            )

        return FunctionToolset([recall])

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put what is remembered before the prompt."""
        prompt = _text(ctx.prompt)
        if self._block is None:
            conversation = self._conversation(ctx)
            self._block = (
                await asyncio.to_thread(conversation.recalled, prompt, budget=self.budget) if prompt else ""
            )
        if not self._block:
            return request_context
        return replace(request_context, messages=_with_block(request_context.messages, self._block))

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Remember the prompt and the answer, as they were said."""
        answer = result.output if isinstance(result.output, str) else to_json(result.output).decode()
        conversation = self._conversation(ctx)
        for role, text in (("user", _text(ctx.prompt)), ("assistant", answer)):
            await asyncio.to_thread(conversation.remember, role, text, ctx.run_id)
        return result

    def _conversation(self, ctx: RunContext[Any]) -> Conversation:
        return Conversation(self.engine, self.namespace, ctx.conversation_id or "")


def _text(prompt: str | Sequence[Any] | None) -> str:
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return "\n".join(part for part in prompt if isinstance(part, str))


def _with_block(messages: Sequence[ModelMessage], block: str) -> list[ModelMessage]:
    """Return messages with a block before the last prompt."""
    changed = list(messages)
    for place in reversed(range(len(changed))):
        message = changed[place]
        if isinstance(message, ModelRequest) and any(isinstance(p, UserPromptPart) for p in message.parts):
            changed[place] = replace(message, parts=[UserPromptPart(block), *message.parts])
            break
    return changed
