"""What `remember` can do about what was said before; how it does so is :mod:`memorata.engine.hearing`'s."""

from __future__ import annotations

from enum import StrEnum


class Duplicates(StrEnum):
    """What is done about duplicates when something is remembered.

    Examples
    --------
    >>> [mode.value for mode in Duplicates]
    ['near', 'exact', 'off']
    """

    NEAR = "near"
    """The same words, and nearly the same words, are said once; contradictions are noted."""
    EXACT = "exact"
    """The same words are said once."""
    OFF = "off"
    """Everything is written as it comes."""
