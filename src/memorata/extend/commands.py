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
from memorata.cli.output import Output, counted, one_line, short_id, speaker_line, visible

__all__ = [
    "FALSE",
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
    "visible",
]
