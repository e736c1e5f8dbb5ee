"""The types of the edges that the graph of a namespace has of itself, beside the relations it was told."""

from __future__ import annotations

from typing import Final

MENTIONS: Final = "mentions"
"""From a memory to an entity that it names."""
NEXT: Final = "next"
"""From a memory to the one that was said after it."""
SUPERSEDES: Final = "supersedes"
"""From a memory to the one whose place it took."""
