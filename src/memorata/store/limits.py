"""How many namespaces, memories and embedders a database has room for, whichever keeps them."""

from __future__ import annotations

from typing import Final

from memorata.model.errors import StoreError

SLOTS: Final = 2**31
NAMESPACES: Final = 2**25
EMBEDDERS: Final = 2**7
"""How many of each there is room for; numbers stay below these."""
NO_MEMORY: Final = SLOTS - 1
"""The slot of a change that is about no memory; no memory ever gets it."""
LARGEST: Final = 2**63 - 1
"""The largest whole number that a database knows; who asks for more asks for all."""


def checked_limit(what: str, number: int, room: int) -> None:
    """Raise if there is no room for a number.

    Examples
    --------
    >>> checked_limit("namespaces", 33_554_432, NAMESPACES)
    Traceback (most recent call last):
    ...
    memorata.model.errors.StoreError: the database has no room for more namespaces; start another one
    """
    if number >= room:
        raise StoreError(f"the database has no room for more {what}; start another one")
