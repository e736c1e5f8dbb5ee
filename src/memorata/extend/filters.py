"""Conditions of the filter language."""

from memorata.store.filters import Field, unexpired

__all__ = [
    "Field",
    "unexpired",
]
