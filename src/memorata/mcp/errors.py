"""What went wrong, in words a model can act on: what is the matter, and what to do next."""

from __future__ import annotations

import logging
from typing import Final

from memorata.mcp.answers import Answer, Row, within_budget
from memorata.mcp.arguments import InvalidToolArguments
from memorata.service.data_rows import row

_LOG: Final = logging.getLogger(__name__)
_BUDGET: Final = 500


class Busy(Exception):  # noqa: N818 - named after what went wrong
    """More calls are waiting than will be taken."""


def error_answer(error: Exception, tool: str) -> Answer:
    """Return what to tell the model about an error; an unforeseen one is logged, and described in general."""
    if isinstance(error, InvalidToolArguments | Busy):
        return Answer(str(error))
    from memorata.model.errors import (
        EntityNotFound,
        InvalidArgument,
        MemorataError,
        MemoryNotFound,
        RecallNotFound,
        StoreReadOnly,
        StoreUnavailable,
    )

    if isinstance(error, EntityNotFound):
        rows = [Row(row({"name": name})) for name in error.nearest]
        hint = " These names are like it:" if rows else " Call explore without `entity` to see who is known."
        return within_budget(f"Nobody and nothing has the name {error.name!r} here.{hint}", rows, _BUDGET)
    if isinstance(error, MemoryNotFound):
        return Answer(
            f"There is no memory with the id {error.memory_id!r}. Copy ids exactly as recall shows them, "
            "or call recall to find the one you mean."
        )
    if isinstance(error, RecallNotFound):
        return Answer(f"{error}. Call recall again, and copy the recall_id that it answers with.")
    if isinstance(error, InvalidArgument):
        return Answer(f"{error}. Change that and call {tool} again.")
    if isinstance(error, StoreReadOnly):
        _LOG.warning("%s: %s", tool, error)
        return Answer(f"This memory can only be read: {error.reason}. Nothing was changed. Tell the person.")
    if isinstance(error, StoreUnavailable):
        _LOG.warning("%s: %s", tool, error)
        return Answer(f"The memory cannot be used right now: {error}. Nothing was changed. Tell the person.")
    if isinstance(error, MemorataError):
        _LOG.warning("%s: %s", tool, error)
        return Answer(f"{tool} could not be done: {error}. Tell the person.")
    _LOG.error("%s failed", tool, exc_info=error)
    return Answer(
        f"{tool} failed inside Memorata ({type(error).__name__}); the server's log says more. "
        "Calling it again in the same way will not help. Tell the person."
    )
