"""A token budget: as many whole memories as fit, never half of one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from memorata.model import checks

_BYTES_PER_TOKEN: Final = 4


def tokens(text: str) -> int:
    """Return about how many tokens a language model makes of a text: a quarter of its bytes, rounded up.

    The rule of thumb for English; other scripts take more bytes and more tokens alike.

    Examples
    --------
    >>> tokens("I prefer green tea.")
    5
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def within_budget(texts: Sequence[str], budget: int) -> int:
    """Return how many of the first texts fit in the budget together.

    Examples
    --------
    >>> within_budget(["tea " * 4, "milk", "sugar"], budget=5)
    2
    """
    left = checks.whole("budget", budget)
    for count, text in enumerate(texts):
        left -= tokens(text)
        if left < 0:
            return count
    return len(texts)
