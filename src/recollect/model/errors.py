"""Every error Recollect raises on purpose.

::

    RecollectError
    └── InvalidArgument      a value that cannot be used (also a ValueError)

Catch ``RecollectError`` to catch them all. A message says what was wrong, shows the value, and says what
to do about it.
"""

from __future__ import annotations

_SHOWN = 80
"""Longest piece of a bad value that a message repeats; the whole of it may be a megabyte of text."""


def shown(value: object) -> str:
    """Return `value` as an error message shows it: its ``repr``, cut to a readable length.

    Examples
    --------
    >>> shown(float("nan"))
    'nan'
    >>> len(shown("x" * 10_000))
    81
    """
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class RecollectError(Exception):
    """The root of all errors raised by Recollect."""


class InvalidArgument(RecollectError, ValueError):  # noqa: N818 - it reads as what it is: an invalid argument
    """An argument whose value cannot be used.

    Parameters
    ----------
    argument
        The name of the argument, with an index where one element is at fault: ``scores[3]``.
    value
        The value that was given.
    expected
        What would have been accepted, as the end of the sentence "… must be".

    Examples
    --------
    >>> raise InvalidArgument("alpha", 1.5, "a number from 0 to 1")
    Traceback (most recent call last):
    ...
    recollect.model.errors.InvalidArgument: alpha must be a number from 0 to 1, got 1.5
    """

    def __init__(self, argument: str, value: object, expected: str) -> None:
        self.argument = argument
        self.value = value
        self.expected = expected
        super().__init__(f"{argument} must be {expected}, got {shown(value)}")

    def __reduce__(self) -> tuple[type[InvalidArgument], tuple[str, object, str]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.argument, self.value, self.expected)
