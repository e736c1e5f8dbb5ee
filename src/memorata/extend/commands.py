"""The parts of a command: its session, common options and output."""

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.options import (
    FALSE,
    TRUE,
    Changes,
    memory_of,
    one_of,
    parameter_values,
    place_of,
    recipe_names,
    recipe_of,
    text_of,
)
from memorata.cli.output import (
    Output,
    counted,
    dumps,
    memories,
    memory_table,
    one_line,
    plain_line,
    progress,
    short_id,
    speaker_line,
    visible,
)
from memorata.cli.transfer import open_target

__all__ = [
    "FALSE",
    "TRUE",
    "Changes",
    "Output",
    "Session",
    "counted",
    "dumps",
    "memories",
    "memory_of",
    "memory_table",
    "one_line",
    "one_of",
    "open_target",
    "options",
    "parameter_values",
    "place_of",
    "plain_line",
    "progress",
    "recipe_names",
    "recipe_of",
    "short_id",
    "speaker_line",
    "text_of",
    "visible",
]
