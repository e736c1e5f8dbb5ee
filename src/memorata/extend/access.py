"""Who may do what."""

from memorata.engine.access import LOCAL

__all__ = [
    "LOCAL",
]
