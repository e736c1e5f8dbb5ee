"""Namespaces: the paths that keep one person's memories apart from another's.

A namespace is a path such as ``acme/alice``. Every search, statistic and duplicate check stays inside one,
unless the caller asks for a prefix; so its spelling is checked strictly and in one place.
"""

from __future__ import annotations

import re

from memorata.model import checks
from memorata.model.errors import InvalidArgument

DEFAULT_NAMESPACE = "default"

_SEGMENT = re.compile(r"[\w@+~-][\w.@+~-]*")
_LONGEST = 512
_REMEMBERED = 4_096
_WELL_FORMED: set[str] = set()
"""Paths that were found well-formed: every memory of an import asks about the same one."""


def namespace(argument: str, value: object) -> str:
    """Return `value` if it is a well-formed namespace, else raise.

    Segments are separated by ``/``; each holds letters and digits of any script, ``_ - . @ + ~``, and does
    not begin with a dot, so that ``..`` can never climb out of a namespace.

    Examples
    --------
    >>> namespace("namespace", "acme/alice@example.org")
    'acme/alice@example.org'
    >>> namespace("namespace", "acme/../bob")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: namespace must be a path such as 'acme/alice' (letters, digits and
    _-.@+~ between slashes, no segment starting with a dot), got 'acme/../bob'
    """
    path = checks.text(argument, value)
    if path in _WELL_FORMED:
        return path
    if len(path) > _LONGEST:
        raise InvalidArgument(argument, value, f"at most {_LONGEST} characters long")
    if not all(_SEGMENT.fullmatch(segment) for segment in path.split("/")):
        expected = (
            "a path such as 'acme/alice' (letters, digits and _-.@+~ between slashes, "
            "no segment starting with a dot)"
        )
        raise InvalidArgument(argument, value, expected)
    if len(_WELL_FORMED) >= _REMEMBERED:
        _WELL_FORMED.clear()
    _WELL_FORMED.add(path)
    return path


def contains(prefix: str, path: str) -> bool:
    """Return whether `path` is `prefix` itself or lies below it, by whole segments.

    Examples
    --------
    >>> contains("acme", "acme/alice"), contains("acme", "acme"), contains("acme", "acmecorp")
    (True, True, False)
    """
    return path == prefix or path.startswith(prefix + "/")
