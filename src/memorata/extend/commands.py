"""The parts of a command: its session, common options and output."""

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.options import (
    FALSE,
    TRUE,
    Changes,
    one_of,
    parameter_values,
    recipe_names,
    recipe_of,
    text_of,
)
from memorata.cli.output import Output, counted, one_line, short_id, speaker_line
from memorata.service.errors import NOT_FOUND

__all__ = [
    "FALSE",
    "NOT_FOUND",
    "TRUE",
    "Changes",
    "Output",
    "Session",
    "counted",
    "one_line",
    "one_of",
    "options",
    "parameter_values",
    "recipe_names",
    "recipe_of",
    "short_id",
    "speaker_line",
    "text_of",
]
