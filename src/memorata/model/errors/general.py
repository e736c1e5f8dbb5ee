"""Errors that belong to no part alone: the root of all, bad values, missing packages, too little data."""

from __future__ import annotations

from datetime import datetime
from os import PathLike, fspath

_SHOWN = 80
"""Longest piece of a bad value that a message repeats; the whole of it may be a megabyte of text."""


def shown(value: object) -> str:
    """Return `value` as an error message shows it: its ``repr``, cut to a readable length; times in ISO 8601.

    Examples
    --------
    >>> shown(float("nan"))
    'nan'
    >>> len(shown("x" * 10_000))
    81
    >>> from datetime import datetime
    >>> shown(datetime(2026, 5, 7, 18, 30))
    '2026-05-07T18:30:00'
    """
    try:
        text = value.isoformat() if isinstance(value, datetime) else repr(value)
    except Exception as error:
        # An int of 5000 digits has no repr, and an error on the way to an error would hide the first one.
        text = f"a value of type {type(value).__name__} that cannot be shown ({type(error).__name__})"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class MemorataError(Exception):
    """The root of all errors raised by Memorata."""


class InvalidArgument(MemorataError, ValueError):
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
    memorata.model.errors.InvalidArgument: alpha must be a number from 0 to 1, got 1.5
    """

    def __init__(self, argument: str, value: object, expected: str) -> None:
        self.argument = argument
        self.value = value
        self.expected = expected
        super().__init__(f"{argument} must be {expected}, got {shown(value)}")

    def __reduce__(self) -> tuple[type[InvalidArgument], tuple[str, object, str]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.argument, self.value, self.expected)


class NotGiven(InvalidArgument):
    """An argument that is needed here and was left out.

    Parameters
    ----------
    argument
        Its name.
    when
        Where it is needed, or what it may be, as the end of the sentence "… must be given".

    Examples
    --------
    >>> raise NotGiven("--yes", "where there is no terminal to ask at")
    Traceback (most recent call last):
    ...
    memorata.model.errors.NotGiven: --yes must be given where there is no terminal to ask at
    """

    def __init__(self, argument: str, when: str) -> None:
        super().__init__(argument, None, f"given {when}")
        self.args = (f"{argument} must be given {when}",)
        self.when = when

    def __reduce__(self) -> tuple[type[NotGiven], tuple[str, str]]:  # type: ignore[override]
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.argument, self.when)


class AlreadySuperseded(InvalidArgument):
    """A memory that was to be superseded, and whose place another has taken before.

    Parameters
    ----------
    memory_id
        The memory.
    by
        The one that has taken its place.

    Examples
    --------
    >>> raise AlreadySuperseded("m1", "m2")
    Traceback (most recent call last):
    ...
    memorata.model.errors.AlreadySuperseded: 'm1' cannot be superseded once more: 'm2' has taken its place;
    correct or supersede 'm2' instead
    """

    def __init__(self, memory_id: str, by: str) -> None:
        super().__init__("supersedes", memory_id, "a memory whose place no other has taken")
        self.memory_id = memory_id
        self.by = by
        old, new = shown(memory_id), shown(by)
        self.args = (
            f"{old} cannot be superseded once more: {new} has taken its place; "
            f"correct or supersede {new} instead",
        )

    def __reduce__(self) -> tuple[type[AlreadySuperseded], tuple[str, str]]:  # type: ignore[override]
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.memory_id, self.by)


class MissingExtra(MemorataError, ImportError):
    """A package that this feature needs is not installed.

    Parameters
    ----------
    feature
        What the person wanted to use.
    requirement
        What ``pip install`` has to be given.

    Examples
    --------
    >>> raise MissingExtra("The ONNX embedder", "onnxruntime tokenizers")
    Traceback (most recent call last):
    ...
    memorata.model.errors.MissingExtra: The ONNX embedder needs a package that is not installed:
    pip install onnxruntime tokenizers
    """

    def __init__(self, feature: str, requirement: str) -> None:
        self.feature = feature
        self.requirement = requirement
        super().__init__(f"{feature} needs a package that is not installed: pip install {requirement}")

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        """Pickle by the constructor's arguments, so that the error survives a process boundary."""
        return type(self), (self.feature, self.requirement)


class DatasetError(MemorataError):
    """A file of an evaluation that cannot be read as what it should be.

    Parameters
    ----------
    path
        The file at fault.
    line
        Its line, counted from 1; None where the fault is not in one line.
    reason
        What is wrong there, as the end of the sentence "FILE, line N: …".

    Examples
    --------
    >>> raise DatasetError("run.jsonl", 7, "no 'ranking'")
    Traceback (most recent call last):
    ...
    memorata.model.errors.DatasetError: run.jsonl, line 7: no 'ranking'
    """

    def __init__(self, path: str | PathLike[str], line: int | None, reason: str) -> None:
        self.path = fspath(path)
        self.line = line
        self.reason = reason
        place = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {reason}")

    def __reduce__(self) -> tuple[type[DatasetError], tuple[str, int | None, str]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.path, self.line, self.reason)


class NotEnoughData(MemorataError):
    """Too little was observed to learn from; more of the same helps.

    Parameters
    ----------
    what
        What is counted, as the plural that follows a number.
    found, needed
        How many there are, and how many it takes.

    Examples
    --------
    >>> raise NotEnoughData("labelled pairs", found=5, needed=20)
    Traceback (most recent call last):
    ...
    memorata.model.errors.NotEnoughData: 5 labelled pairs are too few to learn from: at least 20 are needed,
    15 more than there are
    """

    def __init__(self, what: str, found: int, needed: int) -> None:
        self.what = what
        self.found = found
        self.needed = needed
        super().__init__(
            f"{found} {what} are too few to learn from: at least {needed} are needed, "
            f"{needed - found} more than there are"
        )

    def __reduce__(self) -> tuple[type[NotEnoughData], tuple[str, int, int]]:
        """Pickle by the constructor's arguments."""
        return type(self), (self.what, self.found, self.needed)


class AccessDenied(MemorataError):
    """Whoever asks may not do that; the message is the same whether or not what they asked about exists."""


class NotAdmitted(AccessDenied):
    """No key was shown where one is needed, or one that is unknown, revoked or expired."""
