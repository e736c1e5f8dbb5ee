"""The tables of a file (`schema.sql`).

Times are microseconds since 1970; lists and metadata are JSON. `VERSION` is the database's
``user_version``; ``application_id`` tells our files from other people's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

APPLICATION_ID: Final = 0x4D4D5241  # "MMRA"
COPY_ID: Final = 0x4D4D5243  # "MMRC"
"""The mark of a copy that was never opened to be written: no log beside it can be its own."""
VERSION: Final = 1
"""To be raised with every change of the tables."""

STATE: Final = {
    "version": 3, "access_count": 5, "last_accessed_at": 7, "valid_to": 11, "superseded_at": 13,
    "forgotten_at": 17, "end_given": 19,
}  # fmt: skip
"""The columns of a memory's state, each with its factor in the checksum of them, which is their sum."""


def state_checksum(row: str = "") -> str:
    """Return the checksum of a memory's state, as SQL."""
    return " + ".join(f"{factor} * coalesce({row}{column}, 0)" for column, factor in STATE.items())


SCHEMA: Final = (
    Path(__file__)
    .with_name("schema.sql")
    .read_text(encoding="utf-8")
    .replace("{new}", state_checksum("NEW."))
    .replace("{columns}", ", ".join(STATE))
)
