"""What a tool is: a name, words for the model that chooses it, bounds for its arguments, hints, a verb."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from pydantic import ValidationError

from memorata._frozen import frozen
from memorata.mcp.arguments import Arguments

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.mcp.answers import Answer

_SHOWN: Final = 5
"""How many faults of one call are told."""
_LONGEST_NAME: Final = 100


class BadArguments(Exception):  # noqa: N818 - named after what went wrong
    """Arguments that do not fit a tool's schema; the message says which, and what would."""


@frozen
class Tool:
    """A tool that a client's model may call.

    Attributes
    ----------
    name, title, description
        What the model and the person read.
    arguments
        What it may be given.
    run
        Does it; on a thread, for as long as it takes.
    reads
        Whether it changes nothing.
    destroys
        Whether it may take something away or replace it, rather than only add.
    repeats
        Whether the same call again changes nothing more.
    output
        The JSON Schema of its data, if it answers with data.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Engine, Any], Answer]
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    output: Mapping[str, Any] | None = None

    def listed(self) -> types.Tool:
        """Return the tool as clients list it. No tool reaches beyond this memory, so its world is closed."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.arguments.schema_for_clients(),
            output_schema=None if self.output is None else dict(self.output),
            annotations=types.ToolAnnotations(
                title=self.title,
                read_only_hint=self.reads,
                destructive_hint=self.destroys,
                idempotent_hint=self.repeats,
                open_world_hint=False,
            ),
        )

    def checked(self, given: Mapping[str, Any]) -> Arguments:
        """Return arguments that fit, or raise :class:`BadArguments`."""
        try:
            # Through JSON, since that is where a time may be text although types are strict.
            return self.arguments.model_validate_json(json.dumps(given))
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False)
            names = list(self.arguments.model_fields)
            said = "; ".join(_fault(fault, names) for fault in faults[:_SHOWN])
            known = ", ".join(names) or "none"
            raise BadArguments(
                f"{self.name} was not called, for its arguments do not fit: {said}. "
                f"Its arguments are: {known}. Change them and call again."
            ) from error


def _fault(fault: Mapping[str, Any], names: Sequence[str]) -> str:
    path = ".".join(map(str, fault["loc"]))
    said = str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        from memorata.model.checks import nearest

        # Inside an argument other names are known, and not these.
        said = f"there is no such argument{nearest(path[:_LONGEST_NAME], names)}"
    return f"{path}: {said}" if path else said
