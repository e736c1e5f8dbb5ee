"""What a store says of a row that cannot be read as a memory: the same in a file as on a server."""

from __future__ import annotations

from typing import Final

from memorata.model.errors import InvalidArgument, StoreCorrupt

NOT_AS_WRITTEN: Final = (KeyError, TypeError, ValueError, OverflowError, InvalidArgument)
"""What comes of reading a row that holds something else than was written."""


def unreadable(id_: object, error: Exception) -> StoreCorrupt:
    """Return the error of a memory whose row cannot be read, given its id and why.

    Examples
    --------
    >>> str(unreadable("m1", KeyError("tier")))
    "the row of memory m1 cannot be read ('tier'); restore it from a backup"
    """
    return StoreCorrupt(f"the row of memory {id_} cannot be read ({error}); restore it from a backup")
