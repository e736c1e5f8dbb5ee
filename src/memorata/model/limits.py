"""How large a memory may be: what is stored can be listed, exported, imported again and checked.

These hold however a memory comes in; the interfaces have narrower ones of their own. What is in a store is
read whatever its size. The table in ``docs/limits.md`` is compared with the code by a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memorata.model.errors import InvalidArgument

MAX_CONTENT: Final = 10_000_000
"""Characters of a content."""
MAX_NAME: Final = 10_000
"""Characters of a category, a tag, a name, a speaker, a session or a link."""
MAX_NAMES: Final = 10_000
"""Tags, and names that a memory mentions."""
MAX_METADATA: Final = 1_000_000
"""Characters of metadata, written as JSON."""
MAX_METADATA_DEPTH: Final = 64
"""How deep lists and objects in metadata may be nested."""


def check_length(argument: str, value: str, most: int) -> None:
    """Raise if a text is too long.

    Examples
    --------
    >>> check_length("category", "fact", MAX_NAME)
    """
    if len(value) > most:
        raise InvalidArgument(argument, value, f"at most {most:,} characters, not {len(value):,}")


def check_names(argument: str, values: tuple[str, ...]) -> None:
    """Raise if there are too many names, or one of them is too long."""
    if len(values) > MAX_NAMES:
        raise InvalidArgument(argument, values, f"at most {MAX_NAMES:,} of them, not {len(values):,}")
    for index, value in enumerate(values):
        if len(value) > MAX_NAME:
            check_length(f"{argument}[{index}]", value, MAX_NAME)


def depth(value: object, most: int = MAX_METADATA_DEPTH) -> int:
    """Return how deep lists and mappings are nested, without recursion; at most one more than `most`.

    Examples
    --------
    >>> depth(7), depth({}), depth({"a": [1, [2]]})
    (0, 1, 3)
    """
    level = 0
    current: list[Any] = [value]
    while level <= most:
        current = [each for each in current if isinstance(each, Mapping | list | tuple)]
        if not current:
            break
        level += 1
        current = [
            inner for each in current for inner in (each.values() if isinstance(each, Mapping) else each)
        ]
    return level
